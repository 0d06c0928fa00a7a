//! What plans allow, and what teams use of it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_app::{
    Error, InboxChange, NewInbox, NewWebhook, PlanCatalog, PlanFeature, PlanLimit, Settings,
};
use trapline_model::{Inbox, Principal};
use trapline_store::{Limiter, PortError, Processes, Rate, RateDecision};

use crate::support::Bench;

/// A team on a plan that is small enough for tests.
async fn small() -> Bench {
    let bench = Bench::set(settings()).await;
    put_on(&bench, "small").await;
    bench
}

fn settings() -> Settings {
    let small = r#"{ "default": "small", "plans": [
        { "id": "small", "name": "Small", "features": [], "limits": { "inboxes": 2,
          "messagesPerMonth": 3, "messagesPerInbox": 20, "messageBytes": 1024, "retentionDays": 7,
          "members": 2 } },
        { "id": "large", "name": "Large", "features": ["webhooks"], "limits": { "inboxes": null,
          "messagesPerMonth": null, "messagesPerInbox": null, "messageBytes": null,
          "retentionDays": null, "members": null } } ] }"#;
    let plans = Arc::new(PlanCatalog::parse(small).unwrap());
    let upgrade_url = Some("https://example.com/plans".into());
    Settings { plans, upgrade_url, ..Settings::default() }
}

async fn put_on(bench: &Bench, id: &str) {
    let plan = bench.app.plans().catalog().find(id).unwrap().clone();
    bench.app.plans().put_team_on(bench.team, &plan).await.unwrap();
}

/// The limit that an outcome names.
fn limit<T>(outcome: Result<T, Error>) -> Option<(PlanLimit, u64)> {
    match outcome {
        Err(Error::QuotaExceeded { limit, most, upgrade_url }) => {
            assert_eq!(upgrade_url.as_deref(), Some("https://example.com/plans"));
            Some((limit, most))
        }
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

async fn create(bench: &Bench, max_messages: Option<u32>) -> Result<Inbox, Error> {
    let new = NewInbox { max_messages, ..NewInbox::named("one more") };
    bench.app.inboxes().create(&bench.by, new).await
}

async fn send(bench: &Bench, inbox: &Inbox, bytes: usize) -> Result<(), Error> {
    let target = bench.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await;
    let target = target.unwrap().unwrap();
    bench.app.receive().check_quota(&target).await?;
    bench.app.receive().check_size(&target, bytes as u64).await?;
    let mut raw = b"Subject: x\r\n\r\n".to_vec();
    raw.resize(bytes, b'x');
    let envelope =
        trapline_model::Envelope { from: String::new(), to: vec!["a@x.test".to_owned()] };
    let mail = trapline_app::Incoming { targets: vec![target], envelope, raw: raw.into() };
    bench.app.receive().deliver(mail).await.map(drop)
}

#[tokio::test]
async fn an_installation_is_on_the_plan_without_limits_and_other_teams_on_the_default() {
    let bench = Bench::new().await;
    let plans = bench.app.plans();
    assert_eq!(plans.of(bench.team).await.unwrap().id, "unlimited");
    let bench = Bench::set(settings()).await;
    let plans = bench.app.plans();
    // The file has no such plan.
    assert_eq!(plans.of(bench.team).await.unwrap().id, "small");
    let team = bench.app.access().create_team("another").await.unwrap();
    assert_eq!(plans.of(team).await.unwrap().id, "small");
    let plan = plans.catalog().find("large").unwrap().clone();
    plans.put_team_on(team, &plan).await.unwrap();
    assert_eq!(plans.of(team).await.unwrap().id, "large", "at once in this process");
    let nobody = trapline_model::TeamId(uuid::Uuid::from_u128(7));
    assert!(matches!(plans.put_team_on(nobody, &plan).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn inboxes_are_limited_to_those_that_are_there() {
    let bench = small().await;
    // One was made by the first start.
    let last = create(&bench, None).await.unwrap();
    assert_eq!(limit(create(&bench, None).await), Some((PlanLimit::Inboxes, 2)));
    bench.app.inboxes().delete(&bench.by, last.id).await.unwrap();
    let outcomes = tokio::join!(create(&bench, None), create(&bench, None), create(&bench, None));
    let made = [outcomes.0, outcomes.1, outcomes.2];
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1, "however many ask at once");
    put_on(&bench, "large").await;
    create(&bench, None).await.unwrap();
}

#[tokio::test]
async fn an_inbox_keeps_no_more_messages_than_the_plan_allows() {
    let bench = small().await;
    assert_eq!(limit(create(&bench, Some(21)).await), Some((PlanLimit::MessagesPerInbox, 20)));
    let inbox = create(&bench, None).await.unwrap();
    assert_eq!(inbox.max_messages, 20, "what nobody asked for is what the plan allows");
    let to = |max_messages| InboxChange { max_messages: Some(max_messages), ..<_>::default() };
    let change = |change| bench.app.inboxes().update(&bench.by, inbox.id, change);
    assert_eq!(limit(change(to(21)).await), Some((PlanLimit::MessagesPerInbox, 20)));
    assert_eq!(change(to(5)).await.unwrap().max_messages, 5);
    put_on(&bench, "large").await;
    assert_eq!(change(to(10_000)).await.unwrap().max_messages, 10_000);
    assert_eq!(create(&bench, None).await.unwrap().max_messages, 1_000);
}

#[tokio::test]
async fn a_message_is_no_larger_than_the_plan_allows() {
    let bench = small().await;
    let inbox = create(&bench, None).await.unwrap();
    send(&bench, &inbox, 1024).await.unwrap();
    assert_eq!(limit(send(&bench, &inbox, 1025).await), Some((PlanLimit::MessageBytes, 1024)));
    assert_eq!(bench.list(&inbox).await.total, 1);
    put_on(&bench, "large").await;
    send(&bench, &inbox, 1025).await.unwrap();
}

#[tokio::test]
async fn a_message_goes_when_the_retention_is_over_and_what_came_before_stays() {
    let bench = Bench::set(settings()).await;
    put_on(&bench, "large").await;
    let inbox = bench.inbox(10, None).await;
    bench.deliver(&inbox, "lasting").await;
    put_on(&bench, "small").await;
    let id = bench.deliver(&inbox, "for a week").await;
    bench.app.messages().set_read(&bench.by, id, true).await.unwrap();
    let days = |days: u64| Duration::from_hours(days * 24);
    bench.clock.advance(days(7).saturating_sub(Duration::from_secs(1)));
    assert_eq!(bench.subjects(&inbox).await, ["for a week", "lasting"]);
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(bench.subjects(&inbox).await, ["lasting"]);
    let gone = bench.app.messages().get(&bench.by, id).await;
    assert!(matches!(gone, Err(Error::NotFound)));
}

#[tokio::test]
async fn members_are_limited() {
    let bench = small().await;
    let check = |members| bench.app.plans().check_members(bench.team, members);
    assert_eq!(limit(check(1).await), None);
    assert_eq!(limit(check(2).await), Some((PlanLimit::Members, 2)));
}

#[tokio::test]
async fn webhooks_take_a_plan_that_has_them() {
    let bench = Bench::set(settings()).await;
    put_on(&bench, "large").await;
    let (app, by) = (&bench.app, &bench.by);
    let new = || NewWebhook {
        url: "https://receiver.example/hook".to_owned(),
        inbox: None,
        events: Vec::new(),
        enabled: true,
    };
    let hook = app.webhooks().create(by, new()).await.unwrap();
    put_on(&bench, "small").await;
    let delivery = trapline_model::DeliveryId(uuid::Uuid::from_u128(7));
    let outcomes = [
        app.webhooks().create(by, new()).await.err(),
        app.webhooks().test(by, hook.id).await.err(),
        app.webhooks().redeliver(by, hook.id, delivery).await.err(),
    ];
    for error in outcomes {
        let is_refused =
            matches!(error, Some(Error::FeatureUnavailable { feature: PlanFeature::Webhooks, .. }));
        assert!(is_refused, "{error:?}");
    }
    // What is there can still be seen and removed.
    assert_eq!(app.webhooks().list(by).await.unwrap().len(), 1);
    app.webhooks().delete(by, hook.id).await.unwrap();
}

#[tokio::test]
async fn a_full_month_takes_no_more_messages_and_the_next_one_does() {
    let bench = small().await;
    let inbox = create(&bench, None).await.unwrap();
    for _ in 0..2 {
        send(&bench, &inbox, 100).await.unwrap();
    }
    // The sample is larger than this plan's messages; what is not stored is not counted.
    let sample = bench.app.receive().test_message(&bench.by, inbox.id).await;
    assert_eq!(limit(sample), Some((PlanLimit::MessageBytes, 1024)));
    assert_eq!(bench.app.usage().report(&bench.by).await.unwrap().messages, 2);
    send(&bench, &inbox, 100).await.unwrap();
    let full = Some((PlanLimit::MessagesPerMonth, 3));
    assert_eq!(limit(send(&bench, &inbox, 100).await), full);
    // What is deleted was stored all the same.
    bench.app.messages().empty(&bench.by, inbox.id).await.unwrap();
    assert_eq!(limit(send(&bench, &inbox, 100).await), full);
    let report = bench.app.usage().report(&bench.by).await.unwrap();
    assert_eq!((report.messages, report.inboxes, report.plan.id.as_str()), (3, 2, "small"));
    assert_eq!(report.resets_at.to_string(), "2027-02-01T00:00:00.000Z");
    bench.clock.advance(report.resets_at.since(bench.clock.now()));
    send(&bench, &inbox, 100).await.unwrap();
    assert_eq!(bench.app.usage().report(&bench.by).await.unwrap().messages, 1);
}

#[tokio::test]
async fn a_mail_to_several_inboxes_counts_for_each_or_is_not_taken() {
    let bench = small().await;
    create(&bench, None).await.unwrap();
    let all = bench.app.inboxes().list(&bench.by, &<_>::default()).await.unwrap().inboxes;
    let mut targets = Vec::new();
    for Inbox { smtp, .. } in &all {
        let target = bench.app.access().login(&smtp.username, &smtp.password).await;
        targets.push(target.unwrap().unwrap());
    }
    assert_eq!(targets.len(), 2);
    let mail = || trapline_app::Incoming {
        targets: targets.clone(),
        envelope: trapline_model::Envelope { from: String::new(), to: Vec::new() },
        raw: b"Subject: both\r\n\r\n"[..].into(),
    };
    bench.app.receive().deliver(mail()).await.unwrap();
    let refused = bench.app.receive().deliver(mail()).await;
    assert_eq!(limit(refused), Some((PlanLimit::MessagesPerMonth, 3)));
    assert_eq!(bench.app.usage().report(&bench.by).await.unwrap().messages, 2);
}

/// A limiter that does not answer.
struct Silent;

#[async_trait]
impl Limiter for Silent {
    async fn take(&self, _: &str, _: Rate) -> trapline_store::Result<RateDecision> {
        Err(PortError::Timeout)
    }
}

#[tokio::test]
async fn where_the_limiter_does_not_answer_requests_go_on() {
    let rate = Some(Rate { burst: 1, per: Duration::from_mins(1) });
    let limited =
        Settings { api_rate: rate, key_rate: rate, address_rate: rate, ..Settings::default() };
    let bench = Bench::over(|ports| ports.limiter = Arc::new(Silent), limited).await;
    for _ in 0..3 {
        assert!(bench.app.access().meter(&bench.by).await.is_none());
        let stranger = bench.app.access().meter_anonymous(Some([127, 0, 0, 1].into()));
        assert!(stranger.await.is_none());
    }
    // So does what takes its allowance where nobody is refused for it.
    bench.inbox(10, None).await;
}

#[tokio::test]
async fn every_process_reports_what_all_have_stored() {
    let bench = Bench::with(|ports| ports.processes = Processes::Many).await;
    let inbox = bench.inbox(10, None).await;
    let other = bench.another_process().await;
    for subject in ["one", "two"] {
        bench.deliver(&inbox, subject).await;
    }
    bench.app.usage().flush().await;
    let by = Principal::system(bench.team);
    assert_eq!(other.usage().report(&by).await.unwrap().messages, 2);
}
