//! What happens to a mock without a call: by time, by a test, by a person on a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::{INTENTS, SESSION, SESSIONS, issue};
use crate::{Answer, Service};

const SECURE: &str =
    "amount=1000&currency=usd&confirm=true&payment_method=pm_card_threeDSecure2Required";

impl Service {
    async fn happens(&self, mock: &Value, what: &str, body: Value) -> Answer {
        self.post(&format!("/api/mocks/{}/{what}", mock["id"].as_str().unwrap()), body).await
    }

    async fn moved(&self, mock: &Value, object: &Value, body: Value) -> Answer {
        self.happens(mock, &format!("objects/{}/move", object["id"].as_str().unwrap()), body).await
    }

    async fn set(&self, mock: &Value, settings: Value) {
        let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
        let body = json!({ "settings": settings });
        assert_eq!(self.with_key(&self.key, "PATCH", &path, &body).await.status, 200);
    }

    async fn stripe(&self) -> Value {
        self.webhook_with_delivery().await;
        let new =
            json!({ "name": "M", "provider": "stripe", "webhookUrl": "https://app.example/h" });
        self.mock(new).await
    }

    /// The state of an object as the app sees it.
    async fn status_of(&self, mock: &Value, path: &str, object: &Value) -> Value {
        let path = format!("{path}/{}", object["id"].as_str().unwrap());
        self.call(mock, "GET", &path, "").await.json()["status"].clone()
    }
}

#[tokio::test]
async fn an_object_is_moved_and_the_app_is_told() {
    let service = Service::start().await;
    let mock = service.stripe().await;
    let session = service.call(&mock, "POST", SESSIONS, SESSION).await.json();
    let moved = service.moved(&mock, &session, json!({})).await;
    assert_eq!((moved.status, &moved.json()["object"]["state"]), (200, &json!("complete")));
    service.send_of_mocks().await;
    for id in moved.json()["deliveryIds"].as_array().unwrap() {
        let path = format!(
            "/api/mocks/{}/webhooks/{}",
            mock["id"].as_str().unwrap(),
            id.as_str().unwrap()
        );
        assert_eq!(service.get(&path).await.json()["status"], "succeeded");
    }
    assert_eq!(moved.json()["deliveryIds"].as_array().unwrap().len(), 4);
    let (status, at, message) = issue(&service.moved(&mock, &session, json!({})).await);
    assert!(status == 400 && at == "to" && message.contains("end of its flow"), "{message}");
    let open = service.call(&mock, "POST", SESSIONS, SESSION).await.json();
    let (_, _, message) = issue(&service.moved(&mock, &open, json!({ "to": "paid" })).await);
    assert!(message.contains("complete, expired"), "{message}");
    let none = json!({ "id": "cs_test_none" });
    assert_eq!(service.moved(&mock, &none, json!({})).await.status, 404);
}

#[tokio::test]
async fn something_comes_from_outside() {
    let service = Service::start().await;
    let mock = service.stripe().await;
    let paid = service.call(&mock, "POST", INTENTS, super::PAID).await.json();
    let event = json!({ "event": "charge.dispute.created", "objectId": paid["latest_charge"] });
    let dispute = service.happens(&mock, "trigger", event).await;
    assert_eq!((dispute.status, &dispute.json()["object"]["kind"]), (200, &json!("disputes")));
    assert_eq!(dispute.json()["deliveryIds"].as_array().unwrap().len(), 1);
    let cases = [
        (json!({ "event": "paid" }), "event", "charge.dispute.created"),
        (
            json!({ "event": "charge.dispute.created", "objectId": "ch_none" }),
            "objectId",
            "no such",
        ),
        (json!({ "event": "charge.dispute.created" }), "objectId", "charge"),
    ];
    for (body, path, word) in cases {
        let (status, at, message) = issue(&service.happens(&mock, "trigger", body).await);
        assert!(status == 400 && at == path && message.contains(word), "{at}: {message}");
    }
}

#[tokio::test]
async fn steps_are_taken_in_their_time_and_look_first() {
    let service = Service::start().await;
    let mock = service.stripe().await;
    service.set(&mock, json!({ "pace": "timed", "paceMs": 60_000 })).await;
    let (one, other) = (
        service.call(&mock, "POST", INTENTS, SECURE).await.json(),
        service.call(&mock, "POST", INTENTS, SECURE).await.json(),
    );
    service.send_of_mocks().await;
    assert_eq!(service.status_of(&mock, INTENTS, &one).await, "requires_action");
    // Somebody is quicker than the time of the other one.
    let failed = json!({ "to": "requires_payment_method" });
    assert_eq!(service.moved(&mock, &other, failed).await.status, 200);
    service.clock.advance(Duration::from_mins(1));
    service.send_of_mocks().await;
    assert_eq!(service.status_of(&mock, INTENTS, &one).await, "succeeded");
    assert_eq!(service.status_of(&mock, INTENTS, &other).await, "requires_payment_method");
    // What was cleared goes nowhere, and a pace that is reset is the kind's own.
    service.set(&mock, json!({ "pace": null })).await;
    let third = service.call(&mock, "POST", INTENTS, SECURE).await.json();
    service.clock.advance(Duration::from_mins(1));
    service.send_of_mocks().await;
    assert_eq!(service.status_of(&mock, INTENTS, &third).await, "requires_action");
    service.set(&mock, json!({ "pace": "instant" })).await;
    let fourth = service.call(&mock, "POST", INTENTS, SECURE).await.json();
    assert_eq!(service.status_of(&mock, INTENTS, &fourth).await, "succeeded");
}
