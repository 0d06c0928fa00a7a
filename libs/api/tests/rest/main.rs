//! The router over the adapters of one process: who may do what, and how it is answered.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod accounts;
mod addresses;
mod answers;
mod audit;
mod callers;
mod checks;
mod contract;
mod forwarding;
mod lists;
mod live;
mod many;
mod mocks;
mod open;
mod people;
mod service;
mod sso;
mod webhooks;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, Response, StatusCode},
};
use serde_json::{Value, json};
use sha2::Digest as _;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use trapline_app::{App, MasterKey, NewKey, Outbound, Rate, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Access, Address, Principal, TeamId, Time};
use trapline_store::{Clock, Ports, Store};
use utoipa_axum::router::OpenApiRouter;

/// A service with one team, whose write key is `key`.
struct Service {
    router: Router,
    app: Arc<App>,
    team: TeamId,
    key: String,
    clock: Clock,
    store: Arc<dyn Store>,
    /// The cookie of somebody who is signed in, once a test wants one.
    owner: OnceCell<String>,
    _folder: TempDir,
}

/// An answer, read to its end.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    fn code(&self) -> (u16, String) {
        (self.status, self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl Service {
    async fn start() -> Self {
        Self::limited(None).await
    }

    async fn limited(api_rate: Option<Rate>) -> Self {
        Self::with(settings(api_rate)).await
    }

    async fn without_relay() -> Self {
        Self::with(Settings { outbound: None, ..settings(None) }).await
    }

    async fn with(settings: Settings) -> Self {
        Self::over(settings, |_| {}).await
    }

    /// Over ports that the test changed.
    async fn over(settings: Settings, edit: impl FnOnce(&mut Ports)) -> Self {
        let folder = TempDir::new().unwrap();
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let mut ports = Embedded::open(options).await.unwrap().ports();
        edit(&mut ports);
        let store = ports.store.clone();
        let master = MasterKey::generate().unwrap();
        let shutdown = CancellationToken::new();
        let app = App::start(ports, clock.clone(), settings, &master, shutdown).await.unwrap();
        let team = app.access().create_team("Team").await.unwrap();
        let options = trapline_api::Options {
            metrics: Arc::new(|| "up 1\n".to_owned()),
            metrics_token: Some("secret".to_owned()),
            ca_certificate: None,
            console: None,
        };
        let router = trapline_api::router(app.clone(), options, OpenApiRouter::default());
        let mut service = Self {
            router,
            app,
            team,
            key: String::new(),
            clock,
            store,
            owner: OnceCell::new(),
            _folder: folder,
        };
        service.key = service.new_key(team, Access::Write, None).await;
        service
    }

    async fn new_key(&self, team: TeamId, access: Access, expires_at: Option<Time>) -> String {
        let new = NewKey { name: "Key".to_owned(), access, expires_at, value: None };
        self.app.access().create_key(&Principal::system(team), new).await.unwrap()
    }

    async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn ask(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.send(request).await.into_parts();
        let body = axum::body::to_bytes(body, 1 << 24).await.unwrap().to_vec();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn with_key(&self, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        self.ask(request(Some(key), method, path, body)).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.with_key(&self.key, "GET", path, &Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.with_key(&self.key, "POST", path, &body).await
    }

    /// The id of a new inbox.
    async fn inbox(&self) -> String {
        let answer = self.post("/api/inboxes", json!({ "name": "Inbox" })).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// A message in that inbox, as the API shows it.
    async fn message(&self, inbox: &str) -> Value {
        let path = format!("/api/inboxes/{inbox}/test-message");
        let answer = self.post(&path, Value::Null).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        answer.json()
    }
}

fn request(key: Option<&str>, method: &str, path: &str, body: &Value) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    if body.is_null() {
        return request.body(Body::empty()).unwrap();
    }
    let request = request.header("content-type", "application/json");
    request.body(Body::from(body.to_string())).unwrap()
}

fn settings(api_rate: Option<Rate>) -> Settings {
    Settings {
        base_url: "http://trapline.test".to_owned(),
        api_rate,
        max_streams: 8,
        answer_memory: 1 << 20,
        max_streams_per_team: 6,
        outbound: Some(Outbound {
            from: Address { address: "no-reply@mail.example".to_owned(), name: String::new() },
            bounces: None,
        }),
        ..Settings::default()
    }
}

/// As tokens are kept.
fn sha256(token: &str) -> String {
    data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(token.as_bytes()))
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}
