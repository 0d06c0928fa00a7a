//! What is kept of mocks: in which form, for how long, and how many of them.

use std::time::Duration;

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::Lane;
use trapline_model::{MockCallId, MockId, Time};
use trapline_store::{
    Op, When,
    records::{Mock, MockBySlug, MockCallRow, MockEpoch},
};
use uuid::Uuid;

use super::{FORM, INTENTS, PAID};
use crate::{Answer, Service};

/// The most mocks of a team.
const MOST: u64 = 10_000;
const MOST_CALLS: usize = 10_000;
const MOST_OBJECTS: usize = 1_000;
const ENDPOINTS: &str = "/v1/webhook_endpoints";

/// Ids of so many milliseconds, one after the other.
fn ids_from(first: Time, many: u64) -> impl Iterator<Item = Uuid> {
    let first = u64::try_from(first.millis()).unwrap();
    (0..many).map(move |number| {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&number.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(first + number, &random).into_uuid()
    })
}

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

    /// Stores so many calls from an hour ago.
    async fn older_calls(&self, of: MockEpoch, many: u64) {
        let row = self.store.scan(of.calls(1)).await.unwrap().remove(0);
        let like: MockCallRow = serde_json::from_str(&row.doc).unwrap();
        let hour_ago = self.clock.now().before(Duration::from_hours(1));
        let mut ops = Vec::new();
        for id in ids_from(hour_ago, many) {
            let mut row = like.clone();
            row.call.id = MockCallId(id);
            ops.push(Op::put(&row, None, When::Always).unwrap());
        }
        for batch in ops.chunks(500) {
            self.store.write(batch.to_vec()).await.unwrap();
        }
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
    let mut ops = Vec::new();
    for id in ids_from(service.clock.now().before(Duration::from_hours(1)), MOST - 2) {
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

/// The newest 10,000 calls and 1,000 objects of a kind stay. What is older is listed no more, and removed once the
/// mock has written another thousand rows.
#[tokio::test]
async fn a_mock_keeps_the_newest_of_everything() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let of = MockEpoch { mock: id_of(&mock), epoch: 1 };
    let oldest = service.call(&mock, "POST", "/v1/customers", "").await.json();
    service.older_calls(of, 9_500).await;
    for _ in 0..MOST_OBJECTS {
        service.clock.advance(Duration::from_millis(1));
        assert_eq!(service.call(&mock, "POST", "/v1/customers", "").await.status, 200);
    }
    let before = service.store.scan(of.calls(20_000)).await.unwrap().len();
    assert!(before > MOST_CALLS, "{before}");
    service.housekeep().await;
    let calls = service.store.scan(of.calls(20_000)).await.unwrap();
    assert_eq!(calls.len(), MOST_CALLS);
    let customers = service.store.scan(of.items("customers", 20_000)).await.unwrap();
    assert_eq!(customers.len(), MOST_OBJECTS);
    let path = format!("/v1/customers/{}", oldest["id"].as_str().unwrap());
    assert_eq!(service.call(&mock, "GET", &path, "").await.status, 404);
    let newest = service.call(&mock, "GET", "/v1/customers?limit=1", "").await.json();
    assert_eq!(newest["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn calls_are_kept_for_7_days_and_objects_for_30() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    service.call(&mock, "POST", "/v1/customers", "").await;
    for (days, calls, objects) in [(7, 1, 1), (1, 0, 1), (22, 0, 1), (1, 0, 0)] {
        service.clock.advance(Duration::from_hours(24 * days - 1));
        let kept = service.get(&format!("{path}/calls")).await.json()["total"].clone();
        let made = service.get(&format!("{path}/objects?kind=customers")).await.json();
        assert_eq!((kept, made.as_array().unwrap().len()), (json!(calls), objects), "{days}");
    }
}
