//! What an orchestrator asks a process: whether to restart it, and whether to send it traffic.

use std::sync::Arc;

use axum::{
    Json, Router,
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
    shutdown: CancellationToken,
}

enum Source {
    Store(Arc<dyn Store>),
    Cluster(Arc<Cluster>),
}

impl Readiness {
    pub(crate) fn new(
        backend: &Backend,
        needs: Vec<Service>,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        let source = match backend {
            Backend::Folder(embedded) => Source::Store(embedded.ports().store),
            Backend::Cluster(cluster) => Source::Cluster(cluster.clone()),
        };
        Arc::new(Self { source, needs, shutdown })
    }

    async fn report(&self) -> (bool, Value) {
        let (mut ready, mut services) = (!self.shutdown.is_cancelled(), json!({}));
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

/// `/livez` says that the process answers, whatever else does not; `/readyz` says whether it can work.
pub(crate) fn router(readiness: Arc<Readiness>) -> Router {
    Router::new()
        .route("/livez", get(async || Json(json!({ "ok": true }))))
        .route("/readyz", get(async move || ready(&readiness).await))
}

async fn ready(readiness: &Readiness) -> Response {
    let (ready, report) = readiness.report().await;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(report)).into_response()
}
