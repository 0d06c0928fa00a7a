//! Settings, redelivery, the test event, and who may see them.

use std::time::Duration;

use trapline_app::{Error, NewWebhook, WebhookChange};
use trapline_model::{Access, DeliveryStatus, EventName, InboxId, Principal};
use uuid::Uuid;

use super::{answer, failure, scripted};
use crate::support::Bench;

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, &'static str) {
    match result {
        Err(Error::Invalid(mut issues)) => {
            let issue = issues.remove(0);
            (issue.path, issue.code)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn settings_are_checked_and_kept() {
    let bench = Bench::new().await;
    scripted(&bench.app, answer(200));
    let inbox = bench.inbox(10, None).await;
    let new = |url: &str, inbox| NewWebhook {
        url: url.to_owned(),
        inbox,
        events: Vec::new(),
        enabled: true,
    };
    let create = async |new| bench.app.webhooks().create(&bench.by, new).await;
    let none = Some(InboxId(Uuid::nil()));
    let private = create(new("http://10.0.0.1/", None)).await;
    assert_eq!(code(private), ("url".to_owned(), "address_not_allowed"));
    let scheme = create(new("ftp://example.com", None)).await;
    assert_eq!(code(scheme), ("url".to_owned(), "invalid_scheme"));
    let unknown = create(new("https://example.com", none)).await;
    assert_eq!(code(unknown), ("inboxId".to_owned(), "unknown"));
    let hook = create(new("https://example.com/a", Some(inbox.id))).await.unwrap();
    let change =
        |url: &str| WebhookChange { url: Some(url.to_owned()), ..WebhookChange::default() };
    let private = change("http://10.0.0.1/");
    let private = bench.app.webhooks().update(&bench.by, hook.id, private).await;
    assert_eq!(code(private), ("url".to_owned(), "address_not_allowed"));
    let everywhere = WebhookChange { inbox: Some(None), ..change("https://example.com/b") };
    let changed = bench.app.webhooks().update(&bench.by, hook.id, everywhere).await.unwrap();
    assert_eq!((changed.url.as_str(), changed.inbox_id), ("https://example.com/b", None));
    assert_eq!(changed.secret, hook.secret);
    let listed = bench.app.webhooks().list(&bench.by).await.unwrap();
    assert_eq!(listed, [changed]);
    let reader = Principal { access: Access::Read, ..bench.by };
    let hidden = bench.app.webhooks().list(&reader).await.unwrap();
    assert_eq!(hidden[0].secret, None);
}

#[tokio::test]
async fn the_secret_is_sealed_at_rest() {
    let bench = Bench::new().await;
    let hook = bench.hook().await;
    let row = trapline_store::records::Webhook::row(bench.team, hook.id);
    let row = bench.ports.store.get(&row).await.unwrap().unwrap();
    assert!(!row.doc.contains("whsec_"), "{}", row.doc);
}

#[tokio::test]
async fn a_redelivery_sends_the_same_payload_signed_anew() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    let first = bench.call_due(|_| answer(404)).await.remove(0);
    let old = bench.delivery(&hook).await;
    bench.clock.advance(Duration::from_hours(2));
    let new = bench.app.webhooks().redeliver(&bench.by, hook.id, old.id).await.unwrap();
    assert_eq!((new.status, new.attempts), (DeliveryStatus::Pending, 0));
    assert_eq!((new.redelivery_of, new.message_id), (Some(old.id), old.message_id));
    let second = bench.call_due(|_| answer(500)).await.remove(0);
    assert_eq!((second.number, &second.body), (1, &first.body));
    assert!(second.is_signed_with(hook.secret.as_ref().unwrap()));
    assert_ne!(second.header("x-webhook-signature"), first.header("x-webhook-signature"));
    // It has every attempt anew, and the old one stays as it was.
    let log = bench.log(&hook).await;
    assert_eq!((log[0].id, log[0].status), (new.id, DeliveryStatus::Retrying));
    assert_eq!(log[1], old);
}

#[tokio::test]
async fn a_test_is_one_signed_call_with_its_result() {
    let cases = [
        (answer(200), DeliveryStatus::Succeeded, None),
        (answer(500), DeliveryStatus::Failed, Some("http_5xx")),
        (failure("connect_refused", false), DeliveryStatus::Failed, Some("connect_refused")),
    ];
    for (outcome, status, error) in cases {
        let bench = Bench::new().await;
        let script = scripted(&bench.app, outcome);
        let hook = bench.hook().await;
        let result = bench.app.webhooks().test(&bench.by, hook.id).await.unwrap();
        assert_eq!((result.status, result.error.as_deref()), (status, error));
        assert_eq!((result.event, result.attempts), (EventName::WebhookTest, 1));
        assert_eq!((result.message_id, result.next_attempt_at), (None, None));
        let call = script.1.lock().unwrap().remove(0);
        assert!(call.is_signed_with(hook.secret.as_ref().unwrap()));
        assert_eq!(call.header("x-webhook-event"), "webhook.test");
        let body: serde_json::Value = serde_json::from_str(&call.body).unwrap();
        assert_eq!((&body["event"], &body["test"]), (&"webhook.test".into(), &true.into()));
        assert_eq!(body["inbox"]["name"], "Default");
        assert!(body["message"]["url"].as_str().unwrap().contains("?message="));
        assert_eq!(bench.delivery(&hook).await, result);
        assert_eq!(bench.status(&hook).await.0, Some(status));
        let again = bench.app.webhooks().test(&bench.by, hook.id).await;
        assert!(matches!(again, Err(Error::TooMany { .. })), "{again:?}");
        bench.clock.advance(Duration::from_secs(2));
        bench.app.webhooks().test(&bench.by, hook.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_disabled_webhook_is_not_tested_either() {
    let bench = Bench::new().await;
    let script = scripted(&bench.app, answer(200));
    let hook = bench.hook_with(|new| new.enabled = false).await;
    let result = bench.app.webhooks().test(&bench.by, hook.id).await.unwrap();
    assert_eq!((result.status, result.attempts), (DeliveryStatus::Failed, 0));
    assert_eq!(result.error.as_deref(), Some("webhook_disabled"));
    assert!(script.1.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_another_teams_is_not_there() {
    let bench = Bench::new().await;
    scripted(&bench.app, answer(200));
    let hook = bench.hook().await;
    let delivery = bench.app.webhooks().test(&bench.by, hook.id).await.unwrap().id;
    let (app, id) = (&bench.app, hook.id);
    let other = Principal::system(app.access().create_team("Other").await.unwrap());
    let gone = |outcome: Option<Error>| assert!(matches!(outcome, Some(Error::NotFound)));
    assert!(app.webhooks().list(&other).await.unwrap().is_empty());
    gone(app.webhooks().get(&other, id).await.err());
    gone(app.webhooks().update(&other, id, WebhookChange::default()).await.err());
    gone(app.webhooks().delete(&other, id).await.err());
    gone(app.webhooks().test(&other, id).await.err());
    gone(app.webhooks().deliveries(&other, id, 1).await.err());
    gone(app.webhooks().redeliver(&other, id, delivery).await.err());
    // Nor is one webhook's delivery another's.
    let second = bench.hook().await;
    gone(app.webhooks().redeliver(&bench.by, second.id, delivery).await.err());
}
