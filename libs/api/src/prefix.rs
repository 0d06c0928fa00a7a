//! A path that proxies put before ours: that of the base URL.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{Uri, uri::PathAndQuery},
};
use tower::util::MapRequestLayer;

/// The path of a base URL, without a slash at its end: `/trapline` of `https://host/trapline`.
pub(crate) fn of(base_url: &str) -> &str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..]).trim_end_matches('/')
}

/// Serves under the base URL's path too, for proxies that leave it on their requests.
pub(crate) fn strip(inner: Router, base_url: &str) -> Router {
    let prefix: Arc<str> = of(base_url).into();
    if prefix.is_empty() {
        return inner;
    }
    // The router inside sees what is left; one that routed first would not.
    let strip_request = move |request| strip_request(&prefix, request);
    Router::new().fallback_service(inner).layer(MapRequestLayer::new(strip_request))
}

fn strip_request(prefix: &str, mut request: Request) -> Request {
    if let Some(uri) = stripped(request.uri(), prefix) {
        *request.uri_mut() = uri;
    }
    request
}

fn stripped(uri: &Uri, prefix: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix(prefix)?;
    let rest = match rest.chars().next() {
        Some('/') => rest.to_owned(),
        None | Some('?') => format!("/{rest}"),
        Some(_) => return None,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(rest).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_base_url_may_have_a_path() {
        let cases = [
            ("https://host", ""),
            ("https://host/", ""),
            ("http://127.0.0.1:8025", ""),
            ("https://host/trapline", "/trapline"),
            ("https://host:1/a/b/", "/a/b"),
        ];
        for (base_url, wanted) in cases {
            assert_eq!(of(base_url), wanted, "{base_url}");
        }
    }

    #[test]
    fn the_path_is_taken_off_once() {
        let cases = [
            ("/t/api/inboxes?a=1", Some("/api/inboxes?a=1")),
            ("/t", Some("/")),
            ("/t?a=1", Some("/?a=1")),
            ("/t/", Some("/")),
            ("/t/t/x", Some("/t/x")),
            ("http://host/t/x", Some("http://host/x")),
            ("/tt/x", None),
            ("/api/t", None),
            ("/", None),
        ];
        for (uri, wanted) in cases {
            let found = stripped(&uri.parse().unwrap(), "/t").map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), wanted, "{uri}");
        }
    }
}
