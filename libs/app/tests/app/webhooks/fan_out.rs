//! From mail to deliveries.

use serde_json::{Value, json};
use trapline_app::{Lane, NewInbox, WebhookChange};
use trapline_model::{DeliveryStatus, EventName, Principal, Subscription};

use super::{LOOK, answer};
use crate::support::Bench;

#[tokio::test]
async fn each_matching_webhook_is_told_of_each_mail() {
    let bench = Bench::new().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let all = bench.hook().await;
    let only = bench.hook_with(|new| new.inbox = Some(inbox.id)).await;
    let named = bench.hook_with(|new| new.events = vec![Subscription::MessageReceived]).await;
    let elsewhere = bench.hook_with(|new| new.inbox = Some(other.id)).await;
    let disabled = bench.hook_with(|new| new.enabled = false).await;
    let id = bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    let calls = bench.call_due(|_| answer(204)).await;
    assert_eq!(calls.len(), 3);
    for hook in [&all, &only, &named] {
        let delivery = bench.delivery(hook).await;
        assert_eq!((delivery.event, delivery.message_id), (EventName::MessageReceived, Some(id)));
        assert_eq!((delivery.status, delivery.attempts), (DeliveryStatus::Succeeded, 1));
        assert_eq!((delivery.http_status, delivery.duration_ms), (Some(204), Some(7)));
        assert_eq!((delivery.error, delivery.next_attempt_at), (None, None));
        assert_eq!(delivery.created_at, id.received_at());
        assert!(delivery.completed_at.is_some());
        assert_eq!(bench.status(hook).await, (Some(DeliveryStatus::Succeeded), None));
    }
    for hook in [&elsewhere, &disabled] {
        assert!(bench.log(hook).await.is_empty());
        assert_eq!(bench.status(hook).await, (None, None));
    }
}

#[tokio::test]
async fn what_is_sent_is_what_the_contract_says() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    let id = bench.deliver(&inbox, "Grüße").await;
    bench.fan_out().await;
    let call = bench.call_due(|_| answer(200)).await.remove(0);
    let secret = hook.secret.unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 49, "{secret}");
    assert!(call.is_signed_with(&secret));
    assert!(!call.is_signed_with(secret.trim_start_matches("whsec_")));
    assert_eq!(call.url, "https://receiver.example/hook");
    let names: Vec<_> = call.headers.iter().map(|(name, _)| *name).collect();
    let wanted = ["content-type", "user-agent", "x-webhook-event", "x-webhook-delivery"];
    assert_eq!(names[..4], wanted);
    assert_eq!(call.header("content-type"), "application/json");
    assert_eq!(call.header("user-agent"), "service-webhooks/1");
    assert_eq!(call.header("x-webhook-event"), "message.received");
    assert_eq!(call.header("x-webhook-timestamp"), "1800000000");
    let body: Value = serde_json::from_str(&call.body).unwrap();
    let url = format!("http://127.0.0.1:8025/inboxes/{}?message={id}", inbox.id);
    let wanted = json!({
        "event": "message.received",
        "inbox": { "id": inbox.id, "name": "bench" },
        "message": {
            "id": id,
            "subject": "Grüße",
            "from": { "address": "", "name": "" },
            "to": [{ "address": "ada@example.com", "name": "" }],
            "envelopeTo": ["ada@example.com"],
            "receivedAt": id.received_at(),
            "url": url,
        },
    });
    assert_eq!(body, wanted);
}

#[tokio::test]
async fn a_repeated_job_makes_each_delivery_once() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(100, None).await;
    let hook = bench.hook().await;
    let sending = (0..5).map(|number| format!("m{number}"));
    let sending: Vec<_> = sending.collect();
    futures_util::future::join_all(sending.iter().map(|it| bench.deliver(&inbox, it))).await;
    let leases = bench.app.jobs().take(Lane::Received, 100, LOOK).await.unwrap();
    for lease in &leases {
        bench.app.arrivals().start(&lease.job).await.unwrap();
        bench.app.arrivals().start(&lease.job).await.unwrap();
    }
    let first = bench.log(&hook).await;
    assert_eq!(first.len(), 5);
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 5);
    for lease in &leases {
        bench.app.arrivals().start(&lease.job).await.unwrap();
    }
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    let log = bench.log(&hook).await;
    assert!(log.iter().map(|it| it.id).eq(first.iter().map(|it| it.id)));
    assert!(log.iter().all(|it| it.status == DeliveryStatus::Succeeded));
}

#[tokio::test]
async fn mail_that_nobody_wants_to_know_of_makes_no_job() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    bench.deliver(&inbox, "before any webhook").await;
    let hook = bench.hook_with(|new| new.enabled = false).await;
    bench.deliver(&inbox, "disabled").await;
    assert!(bench.app.jobs().take(Lane::Received, 9, LOOK).await.unwrap().is_empty());
    let change = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
    bench.app.webhooks().update(&bench.by, hook.id, change).await.unwrap();
    bench.deliver(&inbox, "enabled").await;
    bench.fan_out().await;
    assert_eq!(bench.call_due(|_| answer(200)).await.len(), 1);
    bench.app.webhooks().delete(&bench.by, hook.id).await.unwrap();
    bench.deliver(&inbox, "deleted").await;
    assert!(bench.app.jobs().take(Lane::Received, 9, LOOK).await.unwrap().is_empty());
}

#[tokio::test]
async fn another_teams_mail_is_nobodys_business() {
    let bench = Bench::new().await;
    let foreign = Principal::system(bench.app.access().create_team("Other").await.unwrap());
    let theirs = bench.app.inboxes().create(&foreign, NewInbox::named("theirs")).await.unwrap();
    let hook = bench.hook().await;
    bench.deliver(&theirs, "not yours").await;
    bench.fan_out().await;
    assert!(bench.call_due(|_| answer(200)).await.is_empty());
    assert!(bench.log(&hook).await.is_empty());
}

#[tokio::test]
async fn what_is_gone_before_it_is_told_of_is_left_out() {
    let bench = Bench::new().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    let hook = bench.hook().await;
    let id = bench.deliver(&inbox, "deleted").await;
    bench.app.messages().delete(&bench.by, id).await.unwrap();
    bench.deliver(&other, "its inbox is deleted").await;
    bench.app.inboxes().delete(&bench.by, other.id).await.unwrap();
    bench.deliver(&inbox, "there").await;
    bench.fan_out().await;
    assert_eq!(bench.log(&hook).await.len(), 1);
}
