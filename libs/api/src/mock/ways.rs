//! The ways to a mock beside its path: a host name of its own, and its credential.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, Uri, header, request::Parts, uri::PathAndQuery},
};
use tower::util::MapRequestLayer;
use trapline_app::{MockAddress, MockCall, slug_of_credential};

use super::{PREFIX, texts};
use crate::{prefix, state::OverTls};

/// Paths that are the service's own, whatever credential comes with them.
const OWN: [&str; 3] = ["/api/", "/idp/", "/mock/"];
/// Bytes of a host and its port.
const MAX_HOST: usize = 300;

/// The way in which a request found its mock, where it was not by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CameBy {
    Host,
    Credential,
}

/// Leads requests to `<slug>.<domain>` to the mock with that slug.
pub(crate) fn by_host(inner: Router, domain: Option<&str>) -> Router {
    let Some(domain) = domain else { return inner };
    let end: Arc<str> = format!(".{}", domain.to_ascii_lowercase()).into();
    let lead = move |request: Request| {
        let slug = host(request.uri(), request.headers()).and_then(|host| slug_of(&host, &end));
        match slug {
            Some(slug) => led(request, &slug, CameBy::Host),
            None => request,
        }
    };
    // The router inside sees the new path; one that routed first would not.
    Router::new().fallback_service(inner).layer(MapRequestLayer::new(lead))
}

/// The request of somebody whom only a credential tells apart, on its way to the mock that has it.
///
/// # Errors
///
/// The request as it was, where no mock can have its credential.
pub(crate) fn by_credential(request: Request) -> Result<Request, Box<Request>> {
    if OWN.iter().any(|own| request.uri().path().starts_with(own)) {
        return Err(Box::new(request));
    }
    let call = MockCall { headers: texts(request.headers()), ..MockCall::default() };
    match slug_of_credential(&call) {
        Some(slug) => Ok(led(request, &slug, CameBy::Credential)),
        None => Err(Box::new(request)),
    }
}

/// The request with the mock in its path; as it was, where that makes no path.
fn led(mut request: Request, slug: &str, way: CameBy) -> Request {
    let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
    let path = PathAndQuery::try_from(format!("{PREFIX}{slug}{path}"));
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = path.ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
        request.extensions_mut().insert(way);
    }
    request
}

/// The slug in front of a domain.
fn slug_of(host: &str, end: &str) -> Option<String> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    name.strip_suffix(end).filter(|slug| !slug.contains('.')).map(str::to_owned)
}

/// Host and port that a request is for, where it names one as it should.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let named = uri.authority().map(axum::http::uri::Authority::as_str);
    let host = named.or_else(|| headers.get(header::HOST)?.to_str().ok())?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_host = (1..=MAX_HOST).contains(&host.len()) && host.bytes().all(fits);
    is_host.then(|| host.to_owned())
}

/// Where a mock is by the way in which a request came: what it answers with leads its client back the same way.
pub(super) fn address(head: &Parts, base_url: &str, slug: &str) -> MockAddress {
    let (scheme, rest) = base_url.split_once("://").unwrap_or(("http", base_url));
    let own = rest.split('/').next().unwrap_or_default();
    let named = host(&head.uri, &head.headers);
    let over_tls = named.is_some() && head.extensions.get::<OverTls>().is_some();
    let host = named.unwrap_or_else(|| own.to_owned());
    let way = head.extensions.get::<CameBy>().copied();
    // A proxy with TLS hands on the name that it is known by; whoever uses another name is behind it.
    let is_public = host.eq_ignore_ascii_case(own) || way == Some(CameBy::Host);
    let scheme = match (over_tls, is_public) {
        (true, _) => "https",
        (false, true) => scheme,
        (false, false) => "http",
    };
    let origin = format!("{scheme}://{host}");
    let base = format!("{origin}{}", prefix::of(base_url));
    let by_path = format!("{base}{PREFIX}{slug}");
    let (base_url, pages_url, via) = match way {
        None => (by_path.clone(), by_path, "path"),
        Some(CameBy::Host) => (origin.clone(), origin, "host"),
        Some(CameBy::Credential) => (base, by_path, "credential"),
    };
    MockAddress { base_url, pages_url, via }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use axum::body::Body;

    use super::*;

    const SLUG: &str = "0123456789abcd";

    fn request(host: &str, path: &str) -> Request {
        Request::get(path).header("host", host).body(Body::empty()).unwrap()
    }

    #[test]
    fn an_address_is_as_the_caller_has_it() {
        let of = |host: &str, way: Option<CameBy>| {
            let mut request = request(host, "/v1/x");
            if let Some(way) = way {
                request.extensions_mut().insert(way);
            }
            let (head, _) = request.into_parts();
            let address = address(&head, "https://trapline.example/t", SLUG);
            (address.base_url, address.pages_url)
        };
        let public = "https://trapline.example/t/mock/0123456789abcd";
        let inside = "http://trapline:8025/t/mock/0123456789abcd";
        for (host, wanted) in
            [("trapline.example", public), ("trapline:8025", inside), ("<evil>", public)]
        {
            assert_eq!(of(host, None), (wanted.to_owned(), wanted.to_owned()));
        }
        let (host, pages) = of("0123456789abcd.mocks.example", Some(CameBy::Host));
        assert_eq!((host.as_str(), &pages), ("https://0123456789abcd.mocks.example", &host));
        let (base, pages) = of("trapline:8025", Some(CameBy::Credential));
        assert_eq!((base.as_str(), pages.as_str()), ("http://trapline:8025/t", inside));
    }

    #[test]
    fn who_came_over_tls_stays_there() {
        let of = |host: Option<&str>, way: Option<CameBy>| {
            let mut request = request(host.unwrap_or("x"), "/v1/x");
            if host.is_none() {
                request.headers_mut().remove("host");
            }
            request.extensions_mut().insert(OverTls);
            if let Some(way) = way {
                request.extensions_mut().insert(way);
            }
            let (head, _) = request.into_parts();
            let address = address(&head, "http://trapline:8025/t", SLUG);
            (address.base_url, address.pages_url)
        };
        let by_path = "https://localhost:8443/t/mock/0123456789abcd".to_owned();
        assert_eq!(of(Some("localhost:8443"), None), (by_path.clone(), by_path.clone()));
        let credential = of(Some("localhost:8443"), Some(CameBy::Credential));
        assert_eq!(credential, ("https://localhost:8443/t".to_owned(), by_path));
        let host = "https://0123456789abcd.mocks.example:8443".to_owned();
        let by_host = of(Some("0123456789abcd.mocks.example:8443"), Some(CameBy::Host));
        assert_eq!(by_host, (host.clone(), host));
        // Who names no host is told the one that is known, and how that is reached.
        let own = "http://trapline:8025/t/mock/0123456789abcd".to_owned();
        assert_eq!(of(None, None), (own.clone(), own));
    }

    #[test]
    fn a_host_has_one_label_in_front_of_the_domain() {
        let end = ".mocks.example";
        assert_eq!(slug_of("0123.Mocks.Example:8025", end).as_deref(), Some("0123"));
        for other in ["mocks.example", "a.b.mocks.example", "0123.other.example"] {
            assert_eq!(slug_of(other, end), None, "{other}");
        }
    }

    #[test]
    fn a_credential_leads_to_its_mock_but_on_our_own_paths() {
        let with_key = |path: &str, key: &str| {
            let mut request = request("127.0.0.1:8025", path);
            request.headers_mut().insert("authorization", key.parse().unwrap());
            by_credential(request)
        };
        let key = format!("Bearer sk_test_{SLUG}{}", "a".repeat(24));
        let led = with_key("/v1/customers?limit=1", &key).unwrap();
        assert_eq!(led.uri(), "/mock/0123456789abcd/v1/customers?limit=1");
        assert!(with_key("/api/inboxes", &key).is_err());
        assert!(with_key("/v1/customers", "Bearer tl_key").is_err());
    }
}
