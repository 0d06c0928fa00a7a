//! What is kept of mocks: in which form, for how long, and how many of them.

use std::time::Duration;

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::Lane;
use trapline_model::MockId;
use trapline_store::{
    Op, When,
    records::{Mock, MockBySlug, MockEpoch},
};

use super::{FORM, INTENTS, PAID};
use crate::{Answer, Service};

/// The most mocks of a team.
const MOST: u64 = 10_000;
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

    /// Does the housekeeping that is due.
    async fn housekeep(&self) {
        let lane = Lane::Housekeeping;
        for lease in self.app.jobs().take(lane, 100, Duration::ZERO).await.unwrap() {
            match self.app.maintenance().housekeep(&lease.job).await.unwrap() {
                Some(next) => self.app.jobs().reschedule(lease, &next).await.unwrap(),
                None => self.app.jobs().complete(lease).await.unwrap(),
            }
        }
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

#[tokio::test]
async fn a_mock_whose_time_is_over_leaves_no_row() {
    let service = Service::start().await;
    let new = json!({ "name": "M", "provider": "stripe", "expiresInMinutes": 5 });
    let mock = service.mock(new).await;
    let kept = service.mock(json!({ "name": "K", "provider": "stripe" })).await;
    for mock in [&mock, &kept] {
        assert_eq!(service.call(mock, "POST", INTENTS, PAID).await.status, 200);
    }
    service.clock.advance(Duration::from_mins(4));
    service.app.maintenance().run_due().await.unwrap();
    assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 200);
    service.clock.advance(Duration::from_mins(1));
    service.app.maintenance().run_due().await.unwrap();
    for _ in 0..2 {
        service.housekeep().await;
    }
    let row = |mock: &Value| Mock::row(service.team, id_of(mock));
    let slug = |mock: &Value| MockBySlug::row(mock["slug"].as_str().unwrap());
    for key in [row(&mock), slug(&mock)] {
        assert!(service.store.get(&key).await.unwrap().is_none());
    }
    assert_eq!(service.stored(&mock).await, "");
    let of = MockEpoch { mock: id_of(&mock), epoch: 1 };
    assert!(service.store.scan(of.calls(1)).await.unwrap().is_empty());
    assert!(service.store.get(&row(&kept)).await.unwrap().is_some());
    assert_eq!(service.call(&kept, "GET", INTENTS, "").await.status, 200);
}

#[tokio::test]
async fn a_team_has_10000_mocks_at_most() {
    let service = Service::start().await;
    let new = || json!({ "name": "M", "provider": "stripe" });
    let first = service.mock(new()).await;
    let row = service.store.get(&Mock::row(service.team, id_of(&first))).await.unwrap().unwrap();
    let like: Mock = serde_json::from_str(&row.doc).unwrap();
    let before =
        u64::try_from(service.clock.now().before(Duration::from_hours(1)).millis()).unwrap();
    let mut ops = Vec::new();
    for number in 0..MOST - 2 {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        let id = uuid::Builder::from_unix_timestamp_millis(before + number, &random).into_uuid();
        let mock = Mock { id: MockId(id), ..like.clone() };
        ops.push(Op::put(&mock, None, When::Absent).unwrap());
    }
    for batch in ops.chunks(500) {
        service.store.write(batch.to_vec()).await.unwrap();
    }
    let last = service.mock(new()).await;
    for _ in 0..2 {
        let refused = service.post("/api/mocks", new()).await;
        assert_eq!(
            (refused.status, &refused.json()["issues"][0]["code"]),
            (400, &json!("too_many"))
        );
    }
    let path = format!("/api/mocks/{}", last["id"].as_str().unwrap());
    assert_eq!(service.with_key(&service.key, "DELETE", &path, &Value::Null).await.status, 204);
    service.mock(new()).await;
    assert_eq!(service.post("/api/mocks", new()).await.status, 400);
}
