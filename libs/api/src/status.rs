//! How the service is doing, for everybody: as JSON, and as a page for people.

mod page;

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use trapline_app::App;
use trapline_model::ServiceStatus;

use crate::{answer_cache::AnswerCache, state::Api};

/// How long caches may keep an answer, as long as this process does.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=5");
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; \
     frame-ancestors 'none'",
);

/// Both forms of an answer, which are made together and given out for a while.
#[derive(Clone)]
pub(crate) struct StatusAnswers {
    json: Bytes,
    page: Bytes,
}

impl StatusAnswers {
    async fn make(app: &App) -> Self {
        let report = app.status().report().await;
        let json = serde_json::to_vec(&report).unwrap_or_default();
        Self { json: json.into(), page: page::render(&report).into() }
    }
}

/// The page is for people, so it is no part of the document of the API.
pub(crate) fn routes() -> Router<Api> {
    Router::new().route("/status", get(show))
}

/// Show how the service is doing
///
/// The state of each part, what probes found in the last 90 days, what went wrong, and the jobs that
/// wait. Probes are taken about once a minute; an answer is at most 5 seconds old. `/status` is the
/// same as a page.
#[utoipa::path(
    get,
    path = "/api/status",
    operation_id = "getStatus",
    tag = "Service",
    security(()),
    responses((status = 200, description = "The status.", body = ServiceStatus))
)]
pub(crate) async fn status(
    State(app): State<Arc<App>>,
    State(cache): State<Arc<AnswerCache>>,
) -> Response {
    let documents = cache.status.get(&app, StatusAnswers::make).await;
    answer("application/json", documents.json)
}

async fn show(State(app): State<Arc<App>>, State(cache): State<Arc<AnswerCache>>) -> Response {
    let documents = cache.status.get(&app, StatusAnswers::make).await;
    let policy: [(HeaderName, HeaderValue); 1] = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (policy, answer("text/html; charset=utf-8", documents.page)).into_response()
}

fn answer(kind: &'static str, body: Bytes) -> Response {
    let kind = HeaderValue::from_static(kind);
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, CACHE)], body).into_response()
}
