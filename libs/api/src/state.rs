//! What handlers share.

use std::sync::Arc;

use axum::extract::FromRef;
use trapline_app::App;

/// What the process around the API gives to it.
#[derive(Clone)]
pub struct Options {
    /// Renders every metric of the process in the Prometheus text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// The bearer token of `GET /api/metrics`; without one nobody may read it.
    pub metrics_token: Option<String>,
    /// The certificate authority of the SMTP server, in PEM, when it is one of our own.
    pub ca_certificate: Option<String>,
}

/// The state of every route.
#[derive(Clone, FromRef)]
pub(crate) struct Api {
    pub app: Arc<App>,
    pub options: Arc<Options>,
}
