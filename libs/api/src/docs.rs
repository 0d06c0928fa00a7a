//! The page that shows the document, from our own files.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderValue, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use trapline_app::{App, Error as AppError};
use utoipa_swagger_ui::{Config, SwaggerFile};

use crate::{
    Options,
    error::Result,
    layers::{self, ContentPolicy},
    prefix,
    service::{Documents, json},
    state::Api,
};

const TITLE: (&str, &str) = ("<title>Swagger UI</title>", "<title>Trapline API</title>");

/// The page that shows the document loads nothing from elsewhere, whatever its scripts try.
const POLICY: ContentPolicy = ContentPolicy::Fixed(
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// Every path beside the API's own. Addresses are relative: a proxy may have put a path before them.
pub(crate) fn routes() -> Router<Api> {
    let routes = Router::new()
        .route("/", get(home))
        .route("/docs", get(async || Redirect::temporary("docs/")))
        .route("/docs/", get(async || file("index.html")))
        .route("/docs/openapi.json", get(document))
        .route("/docs/{*file}", get(async |Path(name): Path<String>| file(&name)));
    layers::with_policy(routes, POLICY)
}

/// The web console, or this documentation. Without a slash at its end, the base URL's own path is not what
/// a relative address goes on from.
async fn home(
    State(app): State<Arc<App>>,
    State(options): State<Arc<Options>>,
    request: Parts,
) -> Response {
    let base_url = &app.settings().base_url;
    let docs = || match prefix::of(base_url) {
        "" => Redirect::temporary("docs/"),
        prefix => Redirect::temporary(&format!("{prefix}/docs/")),
    };
    options.console(&request, base_url).unwrap_or_else(|| docs().into_response())
}

/// The document for the page, which calls the server that it came from, under whatever name.
async fn document(State(documents): State<Arc<Documents>>) -> Response {
    json(documents.page.clone())
}

fn file(name: &str) -> Result<Response> {
    let config = Config::new(["openapi.json"]).validator_url("none");
    let found = utoipa_swagger_ui::serve(name, Arc::new(config)).map_err(|error| {
        tracing::error!(%error, "a file of the page is not to be had");
        AppError::Unavailable
    })?;
    let SwaggerFile { bytes, content_type, gzpipped, .. } = found.ok_or(AppError::NotFound)?;
    let bytes = match std::str::from_utf8(&bytes) {
        Ok(text) if name == "index.html" => text.replace(TITLE.0, TITLE.1).into_bytes(),
        _ => bytes.into_owned(),
    };
    let kind = HeaderValue::try_from(content_type);
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if gzpipped {
        let encoding = HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, encoding);
    }
    Ok(response)
}
