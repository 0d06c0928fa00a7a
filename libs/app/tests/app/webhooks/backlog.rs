//! What waits, and what it costs.

use std::{collections::HashMap, time::Duration};

use futures_util::future::join_all;
use trapline_app::Lane;
use trapline_model::{DeliveryStatus, Webhook};
use trapline_store::{Job, Key, Op, When, records::Delivery};

use super::{Call, LOOK, answer, deliver, failure};
use crate::{
    support::Bench,
    watched::{Watch, with_outbox},
};

const SECOND: Duration = Duration::from_secs(1);

/// Deliveries of one webhook that wait for their first attempt.
async fn waiting(bench: &Bench, count: usize) -> Webhook {
    let inbox = bench.inbox(1_000, None).await;
    let hook = bench.hook_with(|new| new.inbox = Some(inbox.id)).await;
    let subjects: Vec<_> = (0..count).map(|number| number.to_string()).collect();
    for some in subjects.chunks(64) {
        join_all(some.iter().map(|subject| bench.deliver(&inbox, subject))).await;
        bench.clock.advance(Duration::from_millis(1));
    }
    bench.fan_out().await;
    hook
}

fn dead(_: &Call) -> trapline_app::WebhookOutcome {
    failure("connect_refused", false)
}

/// The first attempts, of which some have to wait for their turn.
async fn attempt_all(
    bench: &Bench,
    count: usize,
    mut answer: impl FnMut(&Call) -> trapline_app::WebhookOutcome,
) {
    let mut attempts = 0;
    for _ in 0..8 {
        attempts += bench.call_due(&mut answer).await.len();
        bench.clock.advance(SECOND * 3);
    }
    assert_eq!(attempts, count);
}

async fn jobs(bench: &Bench) -> u64 {
    let mut jobs = 0;
    for lane in [Lane::Webhook, Lane::WebhookSlow] {
        let stats = bench.ports.queue.stats(lane).await.unwrap();
        jobs += stats.ready + stats.leased + stats.delayed;
    }
    jobs
}

#[tokio::test]
async fn a_dead_endpoint_costs_one_job_and_next_to_nothing_while_its_deliveries_wait() {
    const DELIVERIES: usize = 300;
    let (bench, watch) = with_outbox().await;
    let hook = waiting(&bench, DELIVERIES).await;
    attempt_all(&bench, DELIVERIES, dead).await;
    for attempt in 1..=3 {
        assert_eq!(jobs(&bench).await, 1, "attempt {attempt}");
        assert_eq!(watch.queued("webhook_backlog").len(), DELIVERIES);
        assert_eq!(watch.queued("outbox_by_minute").len(), 1);
        let log = bench.app.webhooks().deliveries(&bench.by, hook.id, 1_000).await.unwrap();
        let first = log.iter().filter_map(|it| it.next_attempt_at).min().unwrap();
        // Nothing is due.
        watch.writes();
        bench.clock.advance(first.since(bench.clock.now()).saturating_sub(SECOND));
        assert!(bench.call_due(dead).await.is_empty());
        assert_eq!(watch.writes(), 0, "attempt {attempt}");
        // All come due one after the other, within a fifth of their pause.
        let mut attempts = 0;
        while attempts < DELIVERIES {
            let mut writes = 0;
            for _ in 0..30 {
                bench.clock.advance(SECOND * 2);
                watch.writes_to(&["outbox_by_minute", "lease"]);
                attempts += bench.call_due(dead).await.len();
                writes += watch.writes_to(&["outbox_by_minute", "lease"]);
            }
            assert!(writes <= 60, "attempt {attempt}: {writes} writes in a minute");
        }
        assert_eq!(attempts, DELIVERIES);
    }
}

/// Each answer takes ten seconds.
#[tokio::test]
async fn a_silent_endpoint_costs_one_job_or_two_though_all_its_deliveries_are_due() {
    let (bench, watch) = with_outbox().await;
    waiting(&bench, 300).await;
    let clock = bench.clock.clone();
    let mut silent = |_: &Call| {
        clock.advance(SECOND * 10);
        failure("timeout", false)
    };
    assert!(work_once(&bench, &mut silent).await > 0);
    for round in 0..20 {
        // Calls that took long in the first jobs may have let another one come. The two become one where
        // they run at the same time; here one runs after the other.
        assert!((1..=2).contains(&jobs(&bench).await), "{round}");
        bench.clock.advance(SECOND * 3);
        let before = bench.clock.now();
        watch.writes_to(&["outbox_by_minute", "lease"]);
        let calls = work_once(&bench, &mut silent).await;
        let writes = watch.writes_to(&["outbox_by_minute", "lease"]);
        // Four at a time in truth, one after the other here.
        assert!(calls > 0 && bench.clock.now().since(before) >= SECOND * 10);
        assert!(writes <= 8, "{writes} writes for {calls} calls");
    }
}

/// Does the jobs that are due once each; returns how many calls they made.
async fn work_once(
    bench: &Bench,
    answer: &mut impl FnMut(&Call) -> trapline_app::WebhookOutcome,
) -> usize {
    let mut calls = 0;
    for lane in [Lane::Webhook, Lane::WebhookSlow] {
        for lease in bench.app.jobs().take(lane, 100, LOOK).await.unwrap() {
            let next = deliver(&bench.app, &lease.job, |call| {
                calls += 1;
                Some(answer(call))
            });
            match next.await.unwrap() {
                Some(next) => bench.app.jobs().reschedule(lease, &next).await.unwrap(),
                None => bench.app.jobs().complete(lease).await.unwrap(),
            }
        }
    }
    calls
}

#[tokio::test]
async fn a_delivery_that_succeeds_at_once_is_never_in_the_backlog() {
    let (bench, watch) = with_outbox().await;
    let hook = waiting(&bench, 150).await;
    assert_eq!(bench.call_due(|_| answer(204)).await.len(), 150);
    assert_eq!(watch.queued("webhook_backlog"), []);
    assert_eq!((jobs(&bench).await, watch.queued("outbox_by_minute").len()), (0, 0));
    let log = bench.log(&hook).await;
    assert!(log.iter().all(|it| it.status == DeliveryStatus::Succeeded && it.attempts == 1));
}

#[tokio::test]
async fn deliveries_that_are_made_together_share_their_reads_and_writes() {
    let (bench, watch) = with_outbox().await;
    waiting(&bench, 256).await;
    watch.writes();
    watch.all_reads();
    let answered = |_: &Call| answer(204);
    assert_eq!(bench.call_due(answered).await.len(), 256);
    let (reads, writes) = (watch.all_reads(), watch.writes());
    // Those of a delivery that is made alone are ten. On a busy machine some go through the backlog.
    assert!(reads + writes <= 256, "{reads} reads and {writes} writes for 256 deliveries");
}

#[tokio::test]
async fn what_waits_is_sent_in_the_order_in_which_it_is_due() {
    let bench = Bench::new().await;
    let hook = waiting(&bench, 20).await;
    bench.call_due(|_| answer(500)).await;
    let mut due: Vec<_> = bench.log(&hook).await;
    due.sort_by_key(|delivery| (delivery.next_attempt_at, delivery.id.0));
    bench.clock.advance(Duration::from_secs(40));
    let calls = bench.call_due(|_| answer(200)).await;
    let called: Vec<_> =
        calls.iter().map(|it| it.header("x-webhook-delivery").to_owned()).collect();
    assert_eq!(called, due.iter().map(|it| it.id.to_string()).collect::<Vec<_>>());
    assert_eq!(jobs(&bench).await, 0);
}

#[tokio::test]
async fn retries_of_one_process_are_on_time() {
    const STEP: Duration = Duration::from_millis(100);
    let bench = Bench::new().await;
    // Three failures in a row would make it a slow endpoint, which waits longer.
    let hook = waiting(&bench, 2).await;
    bench.call_due(|_| answer(500)).await;
    let log = bench.log(&hook).await.into_iter();
    let mut due: HashMap<_, _> =
        log.map(|it| (it.id.to_string(), it.next_attempt_at.unwrap())).collect();
    let first = *due.values().min().unwrap();
    bench.clock.advance(first.since(bench.clock.now()));
    while !due.is_empty() {
        let now = bench.clock.now();
        for call in bench.call_due(|_| answer(200)).await {
            let due = due.remove(call.header("x-webhook-delivery")).unwrap();
            assert!(now.since(due) <= STEP * 5, "{due:?} at {now:?}");
        }
        assert!(now.since(first) < Duration::from_mins(1));
        bench.clock.advance(STEP);
    }
}

#[tokio::test]
async fn two_workers_at_one_backlog_make_each_call_once() {
    let (bench, watch) = with_outbox().await;
    let other = bench.another_process().await;
    waiting(&bench, 100).await;
    attempt_all(&bench, 100, |_| answer(500)).await;
    bench.clock.advance(Duration::from_secs(40));
    // The same job comes to both.
    let lease = bench.app.jobs().take(Lane::WebhookSlow, 9, LOOK).await.unwrap().remove(0);
    let (caller, mut asked) = super::Asking::new();
    let mut here = Box::pin(bench.app.webhooks().deliver(&lease.job, &caller));
    let (_, reply) = tokio::select! {
        asked = asked.recv() => asked.unwrap(),
        next = &mut here => panic!("it is due: {next:?}"),
    };
    let none = |_: &Call| panic!("a call is made twice");
    let put_off = deliver(&other, &lease.job, none).await.unwrap().unwrap();
    assert_eq!(put_off.body["work"]["deferrals"], 1);
    reply.send(answer(200)).unwrap();
    let mut calls = 1;
    let next = loop {
        tokio::select! {
            next = &mut here => break next.unwrap(),
            Some((_, reply)) = asked.recv() => {
                calls += 1;
                reply.send(answer(200)).unwrap();
            }
        }
    };
    assert_eq!((calls, next), (100, None));
    // Nothing is left for the other.
    bench.clock.advance(SECOND * 5);
    assert_eq!(deliver(&other, &put_off, none).await.unwrap(), None);
    assert_eq!(watch.queued("webhook_backlog"), []);
}

#[tokio::test]
async fn a_job_of_an_earlier_release_is_done() {
    let bench = Bench::new().await;
    let hook = waiting(&bench, 1).await;
    let lease = bench.due_job().await;
    let delivery = bench.delivery(&hook).await;
    let work = |attempt: u32, waited: bool| {
        serde_json::json!({
            "team": bench.team, "webhook": hook.id, "delivery": delivery.id, "attempt": attempt,
            "waited": waited,
        })
    };
    let job = |work: serde_json::Value| {
        let body = serde_json::json!({ "due": bench.clock.now(), "work": work });
        Job { id: delivery.id.to_string(), lane: Lane::Webhook, attempt: 1, body }
    };
    bench.app.jobs().complete(lease).await.unwrap();
    bench.ports.queue.publish(&job(work(1, false)), None).await.unwrap();
    assert_eq!(bench.call_due(|_| answer(500)).await.len(), 1);
    // A repeat of it, and one for the attempt that is in the backlog by now.
    for early in [work(1, false), work(2, true)] {
        bench.ports.queue.publish(&job(early), None).await.unwrap();
        assert!(bench.call_due(|_| answer(500)).await.is_empty());
    }
    bench.clock.advance(Duration::from_secs(33));
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 1);
    assert_eq!(bench.delivery(&hook).await.status, DeliveryStatus::Succeeded);
    assert_eq!(jobs(&bench).await, 0);
}

/// The row of a delivery as nobody can read it.
async fn damage(bench: &Bench, hook: &Webhook, id: trapline_model::DeliveryId) {
    let key: Key = Delivery::row(hook.id, id);
    let doc = "{\"id\":1}".to_owned();
    let put = Op::Put { key, doc, ttl: None, when: When::Always };
    bench.ports.store.write(vec![put]).await.unwrap();
}

#[tokio::test]
async fn a_delivery_that_cannot_be_read_is_left_out_alone() {
    let (bench, watch) = with_outbox().await;
    let hook = waiting(&bench, 10).await;
    bench.call_due(|_| answer(500)).await;
    let log = bench.log(&hook).await;
    damage(&bench, &hook, log[0].id).await;
    damage(&bench, &hook, log[4].id).await;
    for limit in [1, 4, 7, 8, 200] {
        let listed = bench.app.webhooks().deliveries(&bench.by, hook.id, limit).await.unwrap();
        assert_eq!(listed.len(), limit.min(8), "{limit}");
    }
    bench.clock.advance(Duration::from_secs(40));
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 8);
    assert_eq!((jobs(&bench).await, watch.queued("webhook_backlog")), (0, Vec::new()));
    assert!(matches!(watch.queued("outbox_by_minute").as_slice(), []), "nothing is tried for ever");
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_left_out_alone() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    let mut messages = Vec::new();
    for subject in ["one", "two", "three"] {
        messages.push(bench.deliver(&inbox, subject).await);
    }
    let key = trapline_store::records::Message::row(messages[1]);
    let put = Op::Put { key, doc: "{}".to_owned(), ttl: None, when: When::Always };
    bench.ports.store.write(vec![put]).await.unwrap();
    bench.fan_out().await;
    let calls = bench.call_due(|_| answer(200)).await;
    let told: Vec<_> = bench.log(&hook).await.into_iter().filter_map(|it| it.message_id).collect();
    assert_eq!((calls.len(), told.len()), (2, 2));
    assert!(told.contains(&messages[0]) && told.contains(&messages[2]));
}

/// Where many entries were removed, a long read fails.
#[tokio::test]
async fn a_backlog_is_read_in_short_pieces_where_a_long_read_fails() {
    let (bench, _) = with_outbox().await;
    let watch = Watch::default();
    let mut ports = bench.ports.clone();
    watch.over(&mut ports);
    let narrow = bench.process_over(ports).await;
    let hook = waiting(&bench, 5).await;
    bench.call_due(|_| answer(500)).await;
    bench.clock.advance(Duration::from_mins(3));
    watch.fails_beyond("webhook_backlog", bench.clock.now(), SECOND * 6);
    let lease = bench.app.jobs().take(Lane::WebhookSlow, 9, LOOK).await.unwrap().remove(0);
    let mut calls = 0;
    let next = deliver(&narrow, &lease.job, |_| {
        calls += 1;
        Some(answer(200))
    });
    assert_eq!((next.await.unwrap(), calls), (None, 5));
    assert!(bench.log(&hook).await.iter().all(|it| it.status == DeliveryStatus::Succeeded));
}
