//! Mocks over REST, and as an app under test calls them.

mod edge;
mod happening;
mod keeping;

use std::time::Duration;

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::Lane;
use trapline_model::Access;

use crate::{Answer, Service};

const FORM: &str = "application/x-www-form-urlencoded";
const PAID: &str = "amount=1000&currency=usd&confirm=true&payment_method=pm_card_visa";
const INTENTS: &str = "/v1/payment_intents";

const SESSIONS: &str = "/v1/checkout/sessions";
const SESSION: &str = "success_url=https://app.example/done&cancel_url=https://app.example/cart\
    &line_items[0][price_data][currency]=usd&line_items[0][price_data][unit_amount]=1250\
    &line_items[0][price_data][product_data][name]=Tea";

/// Ids of a mock and of what is in it.
pub(crate) struct PaidMock {
    pub mock: String,
    pub call: String,
    pub delivery: String,
    pub session: String,
    pub charge: String,
}

impl Service {
    pub(crate) async fn mock(&self, body: Value) -> Value {
        let answer = self.post("/api/mocks", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    /// A call as an SDK makes it.
    async fn call(&self, mock: &Value, method: &str, path: &str, form: &str) -> Answer {
        let key = mock["credentials"]["secretKey"].as_str().unwrap();
        let path = format!("/mock/{}{path}", mock["slug"].as_str().unwrap());
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", FORM);
        self.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    /// Does the jobs of mocks until there are none that are due.
    async fn send_of_mocks(&self) {
        loop {
            let leases = self.app.jobs().take(Lane::Mock, 100, Duration::ZERO).await.unwrap();
            if leases.is_empty() {
                return;
            }
            for lease in leases {
                let next = self.app.mocks().send(&lease.job).await.unwrap();
                match next {
                    Some(next) => self.app.jobs().reschedule(lease, &next).await.unwrap(),
                    None => self.app.jobs().complete(lease).await.unwrap(),
                }
            }
        }
    }

    /// A mock that was paid, and has a page on which somebody may pay.
    pub(crate) async fn mock_with_delivery(&self) -> PaidMock {
        let mock =
            json!({ "name": "M", "provider": "stripe", "webhookUrl": "https://app.example/" });
        let mock = self.mock(mock).await;
        let session = self.call(&mock, "POST", SESSIONS, SESSION).await.json();
        let intent = self.call(&mock, "POST", INTENTS, PAID).await.json();
        self.send_of_mocks().await;
        let id = mock["id"].as_str().unwrap().to_owned();
        let calls = self.get(&format!("/api/mocks/{id}/calls")).await.json();
        let sent = self.get(&format!("/api/mocks/{id}/webhooks")).await.json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        PaidMock {
            call: text(&calls["calls"][0]["id"]),
            delivery: text(&sent[0]["id"]),
            session: text(&session["id"]),
            charge: text(&intent["latest_charge"]),
            mock: id,
        }
    }
}

fn issue(answer: &Answer) -> (u16, String, String) {
    let issue = answer.json()["issues"][0].clone();
    let text = |name: &str| issue[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("path"), text("message"))
}

#[tokio::test]
async fn a_mock_lives_and_goes() {
    let service = Service::start().await;
    let project = service.post("/api/projects", json!({ "name": "P" })).await.json();
    let new = json!({ "name": "Checkout", "provider": "stripe", "projectId": project["id"] });
    let mock = service.mock(new).await;
    assert_eq!((&mock["category"], &mock["projectId"]), (&json!("payments"), &project["id"]));
    assert_eq!(mock["slug"].as_str().unwrap().len(), 14);
    let base = mock["baseUrl"].as_str().unwrap();
    assert!(base.ends_with(&format!("/mock/{}", mock["slug"].as_str().unwrap())));
    let code = mock["snippets"][0]["code"].as_str().unwrap();
    assert!(
        code.contains(base) && code.contains(mock["credentials"]["secretKey"].as_str().unwrap())
    );
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    assert_eq!(service.get(&path).await.json(), mock);
    let listed = service.get("/api/mocks?category=payments&provider=stripe").await.json();
    assert_eq!(listed[0]["id"], mock["id"]);
    assert!(listed[0]["credentials"].is_null() && listed[0]["snippets"].is_null());
    assert_eq!(service.get("/api/mocks?category=business").await.json(), json!([]));
    let gone = format!("/api/projects/{}", project["id"].as_str().unwrap());
    assert_eq!(service.with_key(&service.key, "DELETE", &gone, &Value::Null).await.status, 204);
    assert!(service.get(&path).await.json()["projectId"].is_null());
    assert_eq!(service.with_key(&service.key, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(service.get(&path).await.status, 404);
    let call = service.call(&mock, "GET", "/v1/customers", "").await;
    assert_eq!(call.code(), (404, "mock_not_found".to_owned()));
}

#[tokio::test]
async fn what_an_app_asks_is_answered_kept_listed_and_told() {
    let service = Service::start().await;
    service.webhook_with_delivery().await;
    let new = json!({ "name": "M", "provider": "stripe", "webhookUrl": "https://app.example/h" });
    let mock = service.mock(new).await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let paid = service.call(&mock, "POST", INTENTS, PAID).await;
    assert_eq!((paid.status, &paid.json()["status"]), (200, &json!("succeeded")));
    assert!(paid.header("request-id").starts_with("req_"));
    assert_eq!(paid.header("content-security-policy"), "sandbox; default-src 'none'");
    let intent = paid.json()["id"].as_str().unwrap().to_owned();
    let calls = service.get(&format!("{path}/calls?objectId={intent}")).await.json();
    assert_eq!(
        (&calls["total"], &calls["page"], &calls["limit"]),
        (&json!(1), &json!(1), &json!(50))
    );
    let call = &calls["calls"][0];
    assert_eq!(
        (&call["operation"], &call["status"]),
        (&json!("POST /v1/payment_intents"), &json!(200))
    );
    let details = format!("{path}/calls/{}", call["id"].as_str().unwrap());
    let details = service.get(&details).await.json();
    assert_eq!(details["request"]["body"], PAID);
    let headers = details["request"]["headers"].to_string();
    assert!(headers.contains("‹secretKey›") && !headers.contains("sk_test_"));
    let objects = service.get(&format!("{path}/objects?kind=payments")).await.json();
    assert_eq!((&objects[0]["id"], &objects[0]["state"]), (&json!(intent), &json!("succeeded")));
    service.send_of_mocks().await;
    let sent = service.get(&format!("{path}/webhooks?event=payment_intent.succeeded")).await.json();
    assert_eq!((&sent[0]["status"], &sent[0]["httpStatus"]), (&json!("succeeded"), &json!(202)));
    let delivery = format!("{path}/webhooks/{}", sent[0]["id"].as_str().unwrap());
    let details = service.get(&delivery).await.json();
    assert!(details["headers"].to_string().contains("stripe-signature"));
    let replayed = service.post(&format!("{delivery}/replay"), Value::Null).await.json();
    assert_eq!((&replayed["replayOf"], &replayed["status"]), (&sent[0]["id"], &json!("pending")));
    service.send_of_mocks().await;
    let again = format!("{path}/webhooks/{}", replayed["id"].as_str().unwrap());
    let again = service.get(&again).await.json();
    assert_eq!((&again["status"], &again["body"]), (&json!("succeeded"), &details["body"]));
}

#[tokio::test]
async fn settings_are_merged_and_hold_for_the_next_call() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let set_to = async |settings: Value| {
        let body = json!({ "settings": settings });
        service.with_key(&service.key, "PATCH", &path, &body).await
    };
    let set =
        set_to(json!({ "decline": "lost_card", "next": [{ "fault": "server" }] })).await.json();
    assert_eq!(
        (&set["settings"]["decline"], &set["settings"]["errorRate"]),
        (&json!("lost_card"), &json!(0.0))
    );
    assert_eq!(service.call(&mock, "POST", INTENTS, PAID).await.status, 500);
    assert_eq!(service.call(&mock, "POST", INTENTS, PAID).await.status, 402);
    set_to(json!({ "decline": null })).await;
    assert_eq!(service.call(&mock, "POST", INTENTS, PAID).await.status, 500, "next begins anew");
    assert_eq!(service.call(&mock, "POST", INTENTS, PAID).await.status, 200);
    let wrong = set_to(json!({ "speed": "fast" })).await;
    let (status, at, message) = issue(&wrong);
    assert!(status == 400 && at == "settings.speed" && message.contains("latencyMs"), "{message}");
}

#[tokio::test]
async fn clearing_and_rotating_hold_at_once() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let intent = service.call(&mock, "POST", INTENTS, PAID).await.json();
    let calls = format!("{path}/calls");
    assert_eq!(service.with_key(&service.key, "DELETE", &calls, &Value::Null).await.status, 204);
    assert_eq!(service.get(&calls).await.json()["total"], 0);
    assert_eq!(service.get(&format!("{path}/objects")).await.json(), json!([]));
    let one = format!("{INTENTS}/{}", intent["id"].as_str().unwrap());
    assert_eq!(service.call(&mock, "GET", &one, "").await.status, 404);
    let rotated =
        service.post(&format!("{path}/rotate"), json!({ "credential": "secretKey" })).await.json();
    assert_eq!(rotated["credentials"]["webhookSecret"], mock["credentials"]["webhookSecret"]);
    assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 401);
    assert_eq!(service.call(&rotated, "GET", INTENTS, "").await.status, 200);
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_is() {
    let service = Service::start().await;
    service.webhook_with_delivery().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let path = format!("/api/mocks/{}", mock["id"].as_str().unwrap());
    let new = |field: &str, value: Value| {
        let mut new = json!({ "name": "M", "provider": "stripe" });
        new[field] = value;
        service.post("/api/mocks", new)
    };
    let rotate = format!("{path}/rotate");
    let cases = [
        (new("provider", json!("strip")).await, "provider", "stripe"),
        (new("projectId", json!(mock["id"])).await, "projectId", "no project"),
        (new("webhookUrl", json!("ftp://app.example")).await, "webhookUrl", "http://"),
        (new("webhookUrl", json!("http://10.0.0.1/")).await, "webhookUrl", "private"),
        (service.get("/api/mocks?category=money").await, "category", "payments"),
        (service.get("/api/mocks?provider=strip").await, "provider", "stripe"),
        (service.get(&format!("{path}/objects?kind=cards")).await, "kind", "customers"),
        (service.get(&format!("{path}/webhooks?event=paid")).await, "event", "charge.succeeded"),
        (service.post(&rotate, json!({ "credential": "k" })).await, "credential", "webhookSecret"),
    ];
    for (answer, at, word) in cases {
        let (status, path, message) = issue(&answer);
        assert!(status == 400 && path == at && message.contains(word), "{at}: {answer:?}");
    }
    let slug = json!({ "slug": "00000000000000" });
    assert_eq!(service.with_key(&service.key, "PATCH", &path, &slug).await.status, 400);
}

#[tokio::test]
async fn mocks_see_neither_each_other_nor_another_teams() {
    let service = Service::start().await;
    let new = || json!({ "name": "M", "provider": "stripe" });
    let (one, other) = (service.mock(new()).await, service.mock(new()).await);
    let customer = service.call(&one, "POST", "/v1/customers", "").await.json();
    let path = format!("/v1/customers/{}", customer["id"].as_str().unwrap());
    assert_eq!(service.call(&other, "GET", &path, "").await.status, 404);
    let mut stranger = other.clone();
    stranger["slug"] = one["slug"].clone();
    assert_eq!(service.call(&stranger, "GET", &path, "").await.status, 401);
    let team = service.app.access().create_team("Other").await.unwrap();
    let key = service.new_key(team, Access::Write, None).await;
    let id = format!("/api/mocks/{}", one["id"].as_str().unwrap());
    for (method, path) in
        [("GET", id.clone()), ("DELETE", id.clone()), ("GET", format!("{id}/calls"))]
    {
        let answer = service.with_key(&key, method, &path, &Value::Null).await;
        assert_eq!(answer.status, 404, "{method} {path}");
    }
}

#[tokio::test]
async fn a_disposable_mock_ends() {
    let service = Service::start().await;
    let new = json!({ "name": "M", "provider": "stripe", "expiresInMinutes": 1 });
    let mock = service.mock(new).await;
    assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 200);
    service.clock.advance(Duration::from_mins(1));
    assert_eq!(service.call(&mock, "GET", INTENTS, "").await.status, 404);
    assert_eq!(service.get("/api/mocks").await.json(), json!([]));
}

#[tokio::test]
async fn what_is_too_large_is_the_providers_error() {
    let service = Service::start().await;
    let mock = service.mock(json!({ "name": "M", "provider": "stripe" })).await;
    let answer = service.call(&mock, "POST", INTENTS, &"x".repeat((1 << 20) + 1)).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["type"]),
        (413, &json!("invalid_request_error"))
    );
}
