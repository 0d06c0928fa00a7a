//! What an orchestrator asks a process: whether to restart it, and whether to send it traffic.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::RawQuery,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trapline_store::Store;

use crate::{
    backend::Backend,
    cluster::{Cluster, Service},
};

/// What a process needs to do its work, and what it can do without for a while.
pub(crate) struct Readiness {
    source: Source,
    needs: Vec<Service>,
    draining: CancellationToken,
}

enum Source {
    Store(Arc<dyn Store>),
    Cluster(Arc<Cluster>),
}

impl Readiness {
    pub(crate) fn new(
        backend: &Backend,
        needs: Vec<Service>,
        draining: CancellationToken,
    ) -> Arc<Self> {
        let source = match backend {
            Backend::Folder(embedded) => Source::Store(embedded.ports().store),
            Backend::Cluster(cluster) => Source::Cluster(cluster.clone()),
        };
        Arc::new(Self { source, needs, draining })
    }

    /// The same whatever the services do: not ready only while draining, as there is no listener before
    /// the start.
    fn of_process(&self) -> (bool, Value) {
        let ready = !self.draining.is_cancelled();
        (ready, json!({ "ok": ready }))
    }

    async fn report(&self) -> (bool, Value) {
        let (mut ready, mut services) = (!self.draining.is_cancelled(), json!({}));
        match &self.source {
            Source::Store(store) => {
                let answers = store.ping().await.is_ok();
                ready &= answers;
                services["store"] = answers.into();
            }
            Source::Cluster(cluster) => {
                for (service, answer) in Box::pin(cluster.ping()).await {
                    services[service.name()] = answer.is_ok().into();
                    ready &= answer.is_ok() || !self.needs.contains(&service);
                }
            }
        }
        (ready, json!({ "ok": ready, "services": services }))
    }
}

/// `/livez` says that the process answers, whatever else does not; `/readyz` says whether it can work,
/// and `/readyz?services=false` whether it is to get work.
pub(crate) fn router(readiness: Arc<Readiness>) -> Router {
    Router::new().route("/livez", get(async || Json(json!({ "ok": true })))).route(
        "/readyz",
        get(async move |RawQuery(query): RawQuery| ready(&readiness, query.as_deref()).await),
    )
}

async fn ready(readiness: &Readiness, query: Option<&str>) -> Response {
    let (ready, report) = match query {
        None | Some("" | "services=true") => readiness.report().await,
        Some("services=false") => readiness.of_process(),
        Some(_) => {
            let report = json!({ "error": "the query may be services=true or services=false" });
            return (StatusCode::BAD_REQUEST, Json(report)).into_response();
        }
    };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(report)).into_response()
}
