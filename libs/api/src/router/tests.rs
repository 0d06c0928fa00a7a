//! A toy endpoint, written as a new one would be: one handler with its path and one line in a group. All
//! else follows by itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::Body as Bytes,
    extract::{Path, RawQuery},
    http::{Request, Response, StatusCode},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;
use trapline_app::{MasterKey, NewKey, Rate, Settings};
use trapline_embedded::Embedded;
use trapline_model::{Access, Principal};
use trapline_store::Clock;

use super::*;
use crate::{
    auth::Writer,
    extract::{Body, PathParams},
};

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ToyInput {
    /// The toy's name.
    #[schema(max_length = 8)]
    name: String,
}

/// Wind up a toy
///
/// It answers what it was told.
#[utoipa::path(
    post,
    path = "/api/toys/{id}",
    operation_id = "windUpToy",
    tag = "Projects",
    params(("id" = u32, Path, description = "The toy.")),
    request_body = ToyInput,
    responses((status = 200, description = "What it was told.", body = String))
)]
async fn wind_up(
    Writer(_by): Writer,
    PathParams(_id): PathParams<u32>,
    Body(input): Body<ToyInput>,
) -> Json<String> {
    Json(input.name)
}

fn team_routes_with_toy() -> OpenApiRouter<Api> {
    team_routes().merge(OpenApiRouter::default().routes(routes!(wind_up)))
}

/// Look at a toy elsewhere
///
/// It takes whatever comes.
#[utoipa::path(
    get,
    path = "/toys/{id}",
    operation_id = "lookAtToy",
    tag = "Toys",
    security(()),
    params(("id" = String, Path, description = "The toy.")),
    responses(
        (status = 200, description = "What came.", body = String),
        (status = 500, description = "It broke.", body = ToyInput)
    )
)]
async fn look(Path(id): Path<String>, RawQuery(query): RawQuery) -> Json<String> {
    Json(format!("{id} {}", query.unwrap_or_default()))
}

/// The route of another package.
fn further_routes() -> OpenApiRouter {
    OpenApiRouter::default().routes(routes!(look))
}

const PATH: &str = "/api/toys/7";

/// A service with the toy, and the keys of a team: one that may write, one that may only read.
struct Service {
    router: Router,
    write: String,
    read: String,
    _folder: TempDir,
}

impl Service {
    async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let stored = trapline_embedded::Options::new(folder.path());
        let ports = Embedded::open(stored).await.unwrap().ports();
        let settings = Settings {
            base_url: "http://trapline.test".to_owned(),
            api_rate: Some(Rate { burst: 100, per: Duration::from_mins(1) }),
            ..Settings::default()
        };
        let (clock, master) = (Clock::system(), MasterKey::generate().unwrap());
        let app = App::start(ports, clock, settings, &master, CancellationToken::new());
        let app = app.await.unwrap();
        let team = Principal::system(app.access().create_team("Team").await.unwrap());
        let new = |access| NewKey { name: "Key".to_owned(), access, expires_at: None, value: None };
        let write = app.access().create_key(&team, new(Access::Write)).await.unwrap();
        let read = app.access().create_key(&team, new(Access::Read)).await.unwrap();
        let options = Options {
            metrics: Arc::new(String::new),
            metrics_token: None,
            ca_certificate: None,
            console: None,
        };
        let router = router_with(team_routes_with_toy(), app, options, further_routes());
        Self { router, write, read, _folder: folder }
    }

    async fn ask(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// The status of the answer, and its code.
    async fn post(&self, key: Option<&str>, path: &str, body: &Value) -> (u16, String) {
        let mut request = Request::post(path).header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let answer = self.ask(request.body(body.to_string().into()).unwrap()).await;
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        (status, body["code"].as_str().or(body.as_str()).unwrap_or_default().to_owned())
    }
}

#[test]
fn the_document_says_of_a_new_endpoint_what_all_have_in_common() {
    let document = openapi::document(table_with(team_routes_with_toy()));
    let document = serde_json::to_value(document).unwrap();
    let operation = &document["paths"]["/api/toys/{id}"]["post"];
    assert_eq!(operation["summary"], "Wind up a toy");
    for status in ["200", "400", "401", "403", "404", "413", "415", "429", "500", "503"] {
        assert!(operation["responses"][status].is_object(), "{status}");
    }
    let headers = &operation["responses"]["200"]["headers"];
    for header in ["X-Request-Id", "RateLimit", "RateLimit-Policy"] {
        assert!(headers[header].is_object(), "{header}");
    }
    assert!(document["components"]["schemas"]["ToyInput"].is_object());
}

#[tokio::test]
async fn a_new_endpoint_is_guarded_checked_and_layered_by_itself() {
    let service = Service::start().await;
    let (write, read) = (Some(service.write.as_str()), Some(service.read.as_str()));
    let toy = json!({ "name": "duck" });
    let answers = [
        (write, PATH, toy.clone(), (200, "duck")),
        // Authentication.
        (None, PATH, toy.clone(), (401, "missing_api_key")),
        (read, PATH, toy.clone(), (403, "read_only_key")),
        // The contract.
        (write, "/api/toys/duck", toy.clone(), (404, "not_found")),
        (write, PATH, json!({ "name": "much too long" }), (400, "invalid_request")),
        (write, PATH, json!({ "name": "duck", "wings": 2 }), (400, "invalid_request")),
        (write, &format!("{PATH}?wings=2"), toy.clone(), (400, "invalid_request")),
    ];
    for (key, path, body, (status, code)) in answers {
        assert_eq!(
            service.post(key, path, &body).await,
            (status, code.to_owned()),
            "{path} {body}"
        );
    }
}

#[tokio::test]
async fn the_layers_of_the_group_are_around_a_new_endpoint() {
    let service = Service::start().await;
    let request = Request::post(PATH)
        .header("authorization", format!("Bearer {}", service.write))
        .header("content-type", "application/json");
    let answer = service.ask(request.body(json!({ "name": "duck" }).to_string().into()).unwrap());
    let answer = answer.await;
    assert_eq!(answer.status(), StatusCode::OK);
    for header in ["x-request-id", "ratelimit", "ratelimit-policy", "x-content-type-options"] {
        assert!(answer.headers().contains_key(header), "{header}");
    }
    let other = service.ask(Request::delete(PATH).body(Bytes::empty()).unwrap()).await;
    assert_eq!(other.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(other.headers()["allow"], "POST");
}

#[test]
fn the_document_has_what_routes_of_other_packages_say_of_themselves() {
    let (_, further) = further_routes().split_for_parts();
    let document = openapi::with_further(openapi(), further);
    let document = serde_json::to_value(document).unwrap();
    let operation = &document["paths"]["/toys/{id}"]["get"];
    assert_eq!(operation["summary"], "Look at a toy elsewhere");
    assert_eq!(operation["tags"][0], "Toys");
    // What the layers around it answer, where it does not say so itself.
    let described = &operation["responses"];
    assert_eq!(described["500"]["description"], "It broke.");
    assert_eq!(described["503"]["$ref"], "#/components/responses/Unavailable");
    assert!(described["200"]["headers"]["X-Request-Id"].is_object(), "{described}");
    let mut statuses: Vec<_> = described.as_object().unwrap().keys().collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["200", "414", "500", "503"]);
    assert!(document["components"]["schemas"]["ToyInput"].is_object());
}

#[tokio::test]
async fn routes_of_other_packages_see_to_what_they_are_asked_with() {
    let service = Service::start().await;
    let request = Request::get("/toys/7?wings=2&wings=3").body(Bytes::empty()).unwrap();
    let answer = service.ask(request).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers().contains_key("x-request-id"));
    let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await.unwrap();
    assert_eq!(body, "\"7 wings=2&wings=3\"");
}
