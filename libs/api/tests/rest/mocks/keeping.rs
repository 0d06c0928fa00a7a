//! What is kept of mocks, and in which form.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_model::MockId;
use trapline_store::records::MockEpoch;

use super::FORM;
use crate::{Answer, Service};

const ENDPOINTS: &str = "/v1/webhook_endpoints";

fn id_of(mock: &Value) -> MockId {
    serde_json::from_value(mock["id"].clone()).unwrap()
}

impl Service {
    /// Registers an address for webhooks by a call with a key that may come again.
    async fn register(&self, mock: &Value) -> Answer {
        let key = mock["credentials"]["secretKey"].as_str().unwrap();
        let request = Request::post(format!("/mock/{}{ENDPOINTS}", mock["slug"].as_str().unwrap()))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", FORM)
            .header("idempotency-key", "once");
        let form = "url=https://app.example/registered&enabled_events[]=*";
        self.ask(request.body(Body::from(form)).unwrap()).await
    }

    /// Everything that a mock keeps, as it is stored.
    async fn stored(&self, mock: &Value) -> String {
        let of = MockEpoch { mock: id_of(mock), epoch: 1 };
        let rows = self.store.scan(of.all_items(1_000)).await.unwrap();
        rows.into_iter().map(|row| row.doc).collect()
    }
}

#[tokio::test]
async fn secrets_of_registered_addresses_are_stored_sealed_and_shown_once() {
    let service = Service::start().await;
    service.webhook_with_delivery().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let (first, again) = (service.register(&mock).await, service.register(&mock).await);
    let secret = first.json()["secret"].as_str().unwrap().to_owned();
    assert_eq!((first.status, &first.body), (200, &again.body));
    assert!(!service.stored(&mock).await.contains(&secret));
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let calls = service.get(&format!("{path}/calls")).await.json();
    for call in calls["calls"].as_array().unwrap() {
        let call = format!("{path}/calls/{}", call["id"].as_str().unwrap());
        let call = service.get(&call).await.json();
        let answer = call["response"]["body"].as_str().unwrap();
        assert!(answer.contains("‹secret 1›") && !answer.contains(&secret), "{answer}");
    }
    let objects = service.get(&format!("{path}/objects?kind=endpoints")).await.json();
    assert_eq!(objects[0]["id"], first.json()["id"]);
    // What is sent there is signed, so the secret opens again.
    assert_eq!(service.call(&mock, "POST", "/v1/customers", "").await.status, 200);
    service.send_of_mocks().await;
    let sent = service.get(&format!("{path}/webhooks")).await.json();
    let sent: Vec<_> =
        sent.as_array().unwrap().iter().map(|it| (&it["url"], &it["status"])).collect();
    assert_eq!(sent, [(&json!("https://app.example/registered"), &json!("succeeded"))]);
}
