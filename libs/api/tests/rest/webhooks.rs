//! Webhooks over REST.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use trapline_app::{WebhookOutcome, WebhookReply, WebhookRequest, WebhookSender};
use trapline_model::Access;

use crate::{Answer, Service, minutes};

/// A receiver that is always there, at every address but one.
struct Receiver;

#[async_trait]
impl WebhookSender for Receiver {
    fn check(&self, url: &url::Url) -> Result<(), String> {
        let private = url.host_str() == Some("10.0.0.1");
        if private { Err("must not lead to a private network".to_owned()) } else { Ok(()) }
    }

    async fn send(&self, _: &WebhookRequest) -> WebhookOutcome {
        let reply = WebhookReply { status: 202, retry_after: None };
        WebhookOutcome { took: Duration::from_millis(12), result: Ok(reply) }
    }

    async fn call_probe_receiver(&self, _: &WebhookRequest) -> Result<(), String> {
        Ok(())
    }
}

impl Service {
    async fn webhook(&self, body: Value) -> Value {
        let answer = self.post("/api/webhooks", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    /// A webhook and a delivery of its log.
    pub(crate) async fn webhook_with_delivery(&self) -> (Value, Value) {
        self.app.webhooks().set_sender(Arc::new(Receiver));
        let webhook = self.webhook(json!({ "url": "https://receiver.example/" })).await;
        let path = format!("/api/webhooks/{}/test", webhook["id"].as_str().unwrap());
        let delivery = self.post(&path, Value::Null).await;
        assert_eq!(delivery.status, 200, "{delivery:?}");
        self.clock.advance(Duration::from_secs(2));
        (webhook, delivery.json())
    }
}

fn issues(answer: &Answer) -> Vec<(String, String)> {
    let body = answer.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let issues = body["issues"].as_array().unwrap();
    issues.iter().map(|issue| (text(&issue["path"]), text(&issue["code"]))).collect()
}

#[tokio::test]
async fn a_webhook_lives_and_goes() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let made = service.webhook(json!({ "url": "https://a.example/hook" })).await;
    let id = made["id"].as_str().unwrap();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let wanted = json!({
        "id": id,
        "url": "https://a.example/hook",
        "inboxId": null,
        "events": [],
        "enabled": true,
        "secret": secret,
        "lastStatus": null,
        "lastError": null,
        "createdAt": "2027-01-15T08:00:00.000Z",
    });
    assert_eq!(made, wanted);
    let path = format!("/api/webhooks/{id}");
    let change = json!({ "inboxId": inbox, "events": ["message.received"], "enabled": false });
    let changed = service.with_key(&service.key, "PATCH", &path, &change).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let changed = changed.json();
    assert_eq!(changed["inboxId"], inbox.as_str());
    assert_eq!(changed["events"], json!(["message.received"]));
    assert_eq!((&changed["enabled"], &changed["url"]), (&json!(false), &made["url"]));
    assert_eq!(service.get("/api/webhooks").await.json(), json!([changed]));
    assert_eq!(service.get(&path).await.json(), changed);
    let back = json!({ "inboxId": null, "events": [] });
    let back = service.with_key(&service.key, "PATCH", &path, &back).await.json();
    assert_eq!((&back["inboxId"], &back["events"]), (&Value::Null, &json!([])));
    assert_eq!(service.with_key(&service.key, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(service.get(&path).await.status, 404);
    assert_eq!(service.get("/api/webhooks").await.json(), json!([]));
}

#[tokio::test]
async fn secrets_are_for_those_who_administrate() {
    let service = Service::start().await;
    let (webhook, _) = service.webhook_with_delivery().await;
    let key = service.new_key(service.team, Access::Read, None).await;
    let path = format!("/api/webhooks/{}", webhook["id"].as_str().unwrap());
    let listed = service.with_key(&key, "GET", "/api/webhooks", &Value::Null).await.json();
    assert_eq!(listed[0]["id"], webhook["id"]);
    assert!(!listed[0].as_object().unwrap().contains_key("secret"), "{listed}");
    let one = service.with_key(&key, "GET", &path, &Value::Null).await.json();
    assert_eq!(one, listed[0]);
    let shown = service.get("/api/webhooks").await.json();
    assert_eq!(shown[0]["secret"], webhook["secret"]);
}

#[tokio::test]
async fn every_wrong_field_is_named() {
    let service = Service::start().await;
    service.app.webhooks().set_sender(Arc::new(Receiver));
    let url = "https://a.example/";
    let inbox = "0".repeat(26);
    let long = format!("https://a.example/{}", "x".repeat(2048));
    let cases = [
        (json!({}), vec![("url", "required")]),
        (json!({ "url": 1 }), vec![("url", "invalid_type")]),
        (json!({ "url": "" }), vec![("url", "invalid_url")]),
        (json!({ "url": "example.com" }), vec![("url", "invalid_url")]),
        (json!({ "url": "ftp://a.example/" }), vec![("url", "invalid_scheme")]),
        (json!({ "url": "https://a:b@a.example/" }), vec![("url", "credentials")]),
        (json!({ "url": "http://10.0.0.1/" }), vec![("url", "address_not_allowed")]),
        (json!({ "url": "http://0xa.1/" }), vec![("url", "address_not_allowed")]),
        (json!({ "url": long }), vec![("url", "too_long")]),
        (json!({ "url": url, "inboxId": inbox }), vec![("inboxId", "unknown")]),
        (json!({ "url": url, "inboxId": 1 }), vec![("inboxId", "invalid_type")]),
        (json!({ "url": url, "events": "message.received" }), vec![("events", "invalid_type")]),
        (json!({ "url": url, "events": ["webhook.test"] }), vec![("events[0]", "invalid_value")]),
        (json!({ "url": url, "events": [1] }), vec![("events[0]", "invalid_type")]),
        (json!({ "url": url, "events": null }), vec![("events", "invalid_type")]),
        (json!({ "url": url, "enabled": "yes" }), vec![("enabled", "invalid_type")]),
        (json!({ "url": url, "secret": "mine" }), vec![("secret", "unknown")]),
    ];
    let known = service.webhook(json!({ "url": url })).await;
    let path = format!("/api/webhooks/{}", known["id"].as_str().unwrap());
    for (body, wanted) in cases {
        let wanted: Vec<_> =
            wanted.into_iter().map(|(path, code)| (path.to_owned(), code.to_owned())).collect();
        let answer = service.post("/api/webhooks", body.clone()).await;
        assert_eq!((answer.status, issues(&answer)), (400, wanted.clone()), "{body}");
        if body != json!({}) {
            let answer = service.with_key(&service.key, "PATCH", &path, &body).await;
            assert_eq!((answer.status, issues(&answer)), (400, wanted), "{body}");
        }
    }
    assert_eq!(service.get("/api/webhooks").await.json(), json!([known]));
}

#[tokio::test]
async fn a_test_answers_with_its_result() {
    let service = Service::start().await;
    let (webhook, delivery) = service.webhook_with_delivery().await;
    let wanted = json!({
        "id": delivery["id"],
        "webhookId": webhook["id"],
        "event": "webhook.test",
        "messageId": null,
        "status": "succeeded",
        "httpStatus": 202,
        "error": null,
        "attempts": 1,
        "durationMs": 12,
        "createdAt": "2027-01-15T08:00:00.000Z",
        "nextAttemptAt": null,
        "completedAt": "2027-01-15T08:00:00.000Z",
        "redeliveryOf": null,
    });
    assert_eq!(delivery, wanted);
    let path = format!("/api/webhooks/{}/test", webhook["id"].as_str().unwrap());
    assert_eq!(service.post(&path, Value::Null).await.status, 200);
    let limited = service.post(&path, Value::Null).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, "2"));
    let listed = service.get("/api/webhooks").await.json();
    assert_eq!(
        (&listed[0]["lastStatus"], &listed[0]["lastError"]),
        (&json!("succeeded"), &Value::Null)
    );
}

#[tokio::test]
async fn the_log_is_listed_and_its_entries_sent_again() {
    let service = Service::start().await;
    let (webhook, delivery) = service.webhook_with_delivery().await;
    let log = format!("/api/webhooks/{}/deliveries", webhook["id"].as_str().unwrap());
    assert_eq!(service.get(&log).await.json(), json!([delivery]));
    service.clock.advance(minutes(1));
    let path = format!("{log}/{}", delivery["id"].as_str().unwrap());
    let again = service.post(&path, Value::Null).await;
    assert_eq!(again.status, 200);
    let again = again.json();
    assert_eq!((&again["status"], &again["redeliveryOf"]), (&json!("pending"), &delivery["id"]));
    assert_eq!(service.get(&log).await.json(), json!([again, delivery]));
    assert_eq!(service.get(&format!("{log}?limit=1")).await.json(), json!([again]));
    for (query, status) in
        [("limit=0", 400), ("limit=201", 400), ("page=2", 400), ("limit=200", 200)]
    {
        assert_eq!(service.get(&format!("{log}?{query}")).await.status, status, "{query}");
    }
    for unknown in [format!("{log}/{}", "0".repeat(26)), format!("{log}/x")] {
        assert_eq!(service.post(&unknown, Value::Null).await.status, 404);
    }
}
