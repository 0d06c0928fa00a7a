//! What handlers share.

use std::{net::IpAddr, sync::Arc};

use axum::{extract::FromRef, http::request::Parts, response::Response};
use trapline_app::{App, ClientShare};
use utoipa::openapi::OpenApi;

use crate::{answer_cache::AnswerCache, auth::Site, prefix, service::Documents};

/// What the process around the API gives to it.
#[derive(Clone)]
pub struct Options {
    /// Renders every metric of the process in the Prometheus text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// The bearer token of `GET /api/metrics`; without one nobody may read it.
    pub metrics_token: Option<String>,
    /// The certificate authority of the listeners with TLS, in PEM, when it is one of our own.
    pub ca_certificate: Option<String>,
    /// The web console, where there is one.
    pub console: Option<Console>,
}

/// Answers what is asked of the web console, and has no answer to all else. It is told the path of the
/// base URL, which was taken off the request's own.
pub type Console = Arc<dyn Fn(&Parts, &str) -> Option<Response> + Send + Sync>;

impl Options {
    /// What the web console answers.
    pub(crate) fn console(&self, request: &Parts, base_url: &str) -> Option<Response> {
        self.console.as_ref().and_then(|console| console(request, prefix::of(base_url)))
    }
}

/// Who is at the other end of a connection: the listener puts it into the extensions of each request, and asks with
/// [`crate::deferred_response`] for answers that are only to come.
#[derive(Debug, Clone)]
pub struct Client {
    /// The address; of IPv6 the network, as one client can have many addresses in it.
    pub address: IpAddr,
    /// Its part of the memory for large bodies.
    pub share: ClientShare,
}

/// In the extensions of requests that came over TLS of the process's own, and not by a proxy's.
#[derive(Debug, Clone, Copy)]
pub struct OverTls;

/// The state of every route.
#[derive(Clone, FromRef)]
pub(crate) struct Api {
    pub app: Arc<App>,
    pub options: Arc<Options>,
    pub site: Arc<Site>,
    pub cache: Arc<AnswerCache>,
    pub documents: Arc<Documents>,
}

impl Api {
    pub(crate) fn new(app: Arc<App>, options: Options, document: OpenApi) -> Self {
        let site = Arc::new(Site::of(&app.settings().base_url));
        let documents = Documents::new(document, &app.settings().base_url);
        Self {
            app,
            options: Arc::new(options),
            site,
            cache: Arc::default(),
            documents: Arc::new(documents),
        }
    }
}
