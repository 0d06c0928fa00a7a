//! The ladder, and what ends it.

use std::time::Duration;

use trapline_app::{Lane, WebhookChange};
use trapline_model::{Delivery, DeliveryStatus, Webhook};

use super::{Asking, LOOK, answer, deliver, failure, outcome};
use crate::support::Bench;

/// The ladder's pauses in seconds.
const PAUSES: [u64; 7] = [30, 120, 600, 1_800, 3_600, 7_200, 14_400];

async fn told(bench: &Bench) -> Webhook {
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    hook
}

fn pause(bench: &Bench, delivery: &Delivery) -> Duration {
    delivery.next_attempt_at.unwrap().since(bench.clock.now())
}

#[tokio::test]
async fn the_ladder_has_eight_attempts_in_eight_hours() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    let began = bench.clock.now();
    let mut timestamps = Vec::new();
    for number in 1..=8 {
        let calls = bench.call_due(|_| answer(500)).await;
        assert_eq!(calls.len(), 1, "attempt {number}");
        assert_eq!(calls[0].number, number);
        assert!(calls[0].is_signed_with(hook.secret.as_ref().unwrap()));
        timestamps.push(calls[0].header("x-webhook-timestamp").to_owned());
        let delivery = bench.delivery(&hook).await;
        assert_eq!((delivery.attempts, delivery.http_status), (number, Some(500)));
        assert_eq!(delivery.error.as_deref(), Some("http_5xx"));
        let Some(base) = PAUSES.get(number as usize - 1) else {
            assert_eq!(delivery.status, DeliveryStatus::Failed);
            assert_eq!(delivery.completed_at, Some(bench.clock.now()));
            break;
        };
        assert_eq!(delivery.status, DeliveryStatus::Retrying);
        assert_eq!(bench.status(&hook).await.0, Some(DeliveryStatus::Retrying));
        let (pause, base) = (pause(&bench, &delivery), Duration::from_secs(*base));
        assert!(pause >= base * 9 / 10 && pause <= base * 11 / 10, "{number}: {pause:?}");
        bench.clock.advance(pause.saturating_sub(Duration::from_millis(1)));
        assert!(bench.call_due(|_| answer(200)).await.is_empty(), "too early: {number}");
        bench.clock.advance(Duration::from_millis(1));
    }
    let took = bench.clock.now().since(began);
    let whole = Duration::from_secs(PAUSES.iter().sum());
    assert!(took >= whole * 9 / 10 && took <= whole * 11 / 10, "{took:?}");
    timestamps.dedup();
    assert_eq!(timestamps.len(), 8);
    bench.clock.advance(Duration::from_hours(48));
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    let error = Some("http_5xx".to_owned());
    assert_eq!(bench.status(&hook).await, (Some(DeliveryStatus::Failed), error));
}

#[tokio::test]
async fn a_late_success_ends_the_ladder() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    bench.call_due(|_| failure("timeout", false)).await;
    let delivery = bench.delivery(&hook).await;
    assert_eq!((delivery.http_status, delivery.duration_ms), (None, Some(10_000)));
    assert_eq!(delivery.error.as_deref(), Some("timeout"));
    bench.clock.advance(Duration::from_secs(33));
    bench.call_due(|_| answer(201)).await;
    let delivery = bench.delivery(&hook).await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Succeeded, 2));
    assert_eq!((delivery.http_status, delivery.error), (Some(201), None));
}

#[tokio::test]
async fn a_receiver_may_say_when_within_bounds() {
    let minute = Duration::from_mins(1);
    let cases = [
        (429, Some(Duration::from_secs(45)), 45..=50),
        (503, Some(Duration::from_secs(1)), 30..=33),
        (503, Some(minute * 60), 60..=66),
        (500, Some(minute), 27..=33),
        (408, Some(minute), 27..=33),
        (429, None, 27..=33),
    ];
    for (status, asked, seconds) in cases {
        let bench = Bench::new().await;
        let hook = told(&bench).await;
        bench.call_due(|_| outcome(status, asked)).await;
        let delivery = bench.delivery(&hook).await;
        assert_eq!(delivery.status, DeliveryStatus::Retrying, "{status}");
        let pause = pause(&bench, &delivery).as_secs_f64().ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small")]
        let pause = pause as u64;
        assert!(seconds.contains(&pause), "{status} {asked:?}: {pause}");
    }
}

#[tokio::test]
async fn some_answers_are_final() {
    let cases = [
        (answer(400), "http_4xx"),
        (answer(404), "http_4xx"),
        (answer(410), "http_4xx"),
        (answer(302), "redirect_not_followed"),
        (failure("address_not_allowed", true), "address_not_allowed"),
    ];
    for (outcome, code) in cases {
        let bench = Bench::new().await;
        let hook = told(&bench).await;
        assert_eq!(bench.call_due(|_| outcome).await.len(), 1);
        let delivery = bench.delivery(&hook).await;
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, 1), "{code}");
        assert_eq!((delivery.error.as_deref(), delivery.next_attempt_at), (Some(code), None));
        bench.clock.advance(Duration::from_hours(9));
        assert!(bench.call_due(|_| answer(200)).await.is_empty());
    }
}

#[tokio::test]
async fn a_disabled_webhook_ends_what_waits_and_keeps_it_in_the_log() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    bench.call_due(|_| answer(500)).await;
    let set = async |enabled| {
        let change = WebhookChange { enabled: Some(enabled), ..WebhookChange::default() };
        bench.app.webhooks().update(&bench.by, hook.id, change).await.unwrap();
    };
    set(false).await;
    bench.clock.advance(Duration::from_secs(33));
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    let delivery = bench.delivery(&hook).await;
    assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Failed, 1));
    assert_eq!(delivery.error.as_deref(), Some("webhook_disabled"));
    set(true).await;
    bench.app.webhooks().redeliver(&bench.by, hook.id, delivery.id).await.unwrap();
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 1);
    assert_eq!(bench.log(&hook).await[0].status, DeliveryStatus::Succeeded);
}

#[tokio::test]
async fn a_deleted_webhook_is_not_called() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    bench.app.webhooks().delete(&bench.by, hook.id).await.unwrap();
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    assert!(bench.app.jobs().take(Lane::Webhook, 9, LOOK).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_waits_goes_to_the_new_address() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    let url = Some("https://new.example/".to_owned());
    let change = WebhookChange { url, ..WebhookChange::default() };
    bench.app.webhooks().update(&bench.by, hook.id, change).await.unwrap();
    assert_eq!(bench.call_due(|_| answer(200)).await[0].url, "https://new.example/");
}

#[tokio::test]
async fn a_repeated_job_makes_no_second_call() {
    let bench = Bench::new().await;
    let hook = told(&bench).await;
    let lease = bench.due_job().await;
    let (caller, mut asked) = Asking::new();
    let job = lease.job.clone();
    let mut first = std::pin::pin!(bench.app.webhooks().deliver(&job, &caller));
    let (_, reply) = tokio::select! {
        asked = asked.recv() => asked.unwrap(),
        next = &mut first => panic!("it is due: {next:?}"),
    };
    let none = |_: &super::Call| panic!("an attempt is made twice");
    // The same job while it runs waits for it,
    let again = deliver(&bench.app, &lease.job, none).await.unwrap().unwrap();
    assert_eq!((&again.id, &again.body["work"]), (&lease.job.id, &lease.job.body["work"]));
    reply.send(answer(500)).unwrap();
    assert_eq!(first.await.unwrap(), None);
    // and afterwards finds that what comes next is planned, at its own time.
    assert_eq!(deliver(&bench.app, &again, none).await.unwrap(), None);
    bench.app.jobs().complete(lease).await.unwrap();
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    bench.clock.advance(Duration::from_secs(33));
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 1);
    assert_eq!(deliver(&bench.app, &again, none).await.unwrap(), None);
    assert_eq!(bench.delivery(&hook).await.attempts, 2);
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
}

#[tokio::test]
async fn a_late_answer_does_not_hide_a_later_one() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    let (caller, mut asked) = Asking::new();
    let mut calls = Vec::new();
    for subject in ["slow", "quick"] {
        bench.deliver(&inbox, subject).await;
        bench.fan_out().await;
        let job = bench.due_job().await.job;
        let (app, caller) = (&bench.app, &caller);
        let mut call =
            Box::pin(async move { app.webhooks().deliver(&job, caller).await.map(drop) });
        let (_, reply) = tokio::select! {
            asked = asked.recv() => asked.unwrap(),
            next = &mut call => panic!("it is due: {next:?}"),
        };
        calls.push((call, reply));
        bench.clock.advance(Duration::from_secs(5));
    }
    for outcome in [answer(200), failure("timeout", false)] {
        let (call, reply) = calls.pop().unwrap();
        reply.send(outcome).unwrap();
        call.await.unwrap();
    }
    assert_eq!(bench.status(&hook).await, (Some(DeliveryStatus::Succeeded), None));
    assert_eq!(bench.log(&hook).await[1].error.as_deref(), Some("timeout"));
}

#[tokio::test]
async fn two_processes_with_one_job_count_one_attempt() {
    for (first, second, status) in [
        (500, 500, DeliveryStatus::Retrying),
        (500, 200, DeliveryStatus::Retrying),
        (200, 500, DeliveryStatus::Succeeded),
    ] {
        let bench = Bench::new().await;
        let other = bench.another_process().await;
        let hook = told(&bench).await;
        let lease = bench.due_job().await;
        let (caller, mut asked) = Asking::new();
        let mut here = Box::pin(bench.app.webhooks().deliver(&lease.job, &caller));
        let mut there = Box::pin(other.webhooks().deliver(&lease.job, &caller));
        let mut replies = Vec::new();
        while replies.len() < 2 {
            tokio::select! {
                asked = asked.recv() => replies.push(asked.unwrap()),
                next = &mut here, if replies.is_empty() => panic!("{next:?}"),
                next = &mut there, if replies.len() == 1 => panic!("{next:?}"),
            }
        }
        let (second_call, second_reply) = replies.pop().unwrap();
        let (first_call, first_reply) = replies.pop().unwrap();
        assert_eq!(first_call.number, second_call.number, "neither knows of the other");
        first_reply.send(answer(first)).unwrap();
        here.await.unwrap();
        second_reply.send(answer(second)).unwrap();
        there.await.unwrap();
        let delivery = bench.delivery(&hook).await;
        assert_eq!((delivery.attempts, delivery.status), (1, status));
        assert_eq!(delivery.http_status, Some(first));
    }
}

#[tokio::test]
async fn another_process_hears_of_a_change() {
    let bench = Bench::new().await;
    let other = bench.another_process().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook_with(|new| new.enabled = false).await;
    let change = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
    bench.deliver(&inbox, "nobody is told of this").await;
    other.webhooks().update(&bench.by, hook.id, change).await.unwrap();
    while bench.app.jobs().take(Lane::Received, 1, LOOK).await.unwrap().is_empty() {
        bench.deliver(&inbox, "told once the change is heard").await;
    }
}
