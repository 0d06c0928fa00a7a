//! What a browser has to do with the service: the cookie of a session, and which pages may act in the
//! name of whoever is signed in.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
};
use trapline_app::{Error as AppError, Forbidden};

use crate::layers::{Next, ResponseFuture, immediate};

/// How long a browser keeps the cookie: as long as a session may last.
const MAX_AGE: u64 = 60 * 24 * 60 * 60;
/// How long a browser keeps what it needs when it comes back from an identity provider.
const SSO_MAX_AGE: u64 = 10 * 60;
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The service as browsers know it, by its base URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Site {
    cookie: String,
    /// Of a sign-in at an identity provider that is under way.
    sso_cookie: String,
    is_secure: bool,
    /// Scheme, host and port, as the `Origin` of a request has them (RFC 6454, section 6.2).
    origin: String,
    host: String,
}

impl Site {
    pub(crate) fn of(base_url: &str) -> Self {
        let url = base_url.to_ascii_lowercase();
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
        let authority = rest.split('/').next().unwrap_or_default();
        let is_secure = scheme == "https";
        let usual = if is_secure { "443" } else { "80" };
        let (host, port) = match authority.rsplit_once(':') {
            // The last colon of an IPv6 address is inside of its brackets.
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (authority, usual),
        };
        let end = if port == usual { String::new() } else { format!(":{port}") };
        Self {
            // All ports of a host share their cookies, and applications under test have some too.
            cookie: if is_secure {
                "__Host-session".to_owned()
            } else {
                format!("trapline-{port}")
            },
            sso_cookie: if is_secure {
                "__Host-sso".to_owned()
            } else {
                format!("trapline-{port}-sso")
            },
            is_secure,
            origin: format!("{scheme}://{host}{end}"),
            host: host.to_owned(),
        }
    }

    /// Whether browsers may be told to come by https alone. That holds for every port of a host, so it is not
    /// for a machine's own name.
    pub(crate) fn is_https_only(&self) -> bool {
        self.is_secure && self.host != "localhost"
    }

    /// The token of the session that a request has (RFC 6265, section 5.4).
    pub(crate) fn token<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        Self::value(headers, &self.cookie)
    }

    /// What the browser kept of a sign-in at an identity provider.
    pub(crate) fn sso_token<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        Self::value(headers, &self.sso_cookie)
    }

    fn value<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<&'a str> {
        let fields = headers.get_all(header::COOKIE).iter();
        let pairs = fields.filter_map(|field| field.to_str().ok()).flat_map(|text| text.split(';'));
        let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
        named.find(|(name, _)| *name == cookie).map(|(_, token)| token)
    }

    /// The cookie of a new session.
    pub(crate) fn cookie(&self, token: &str) -> HeaderValue {
        self.set(&self.cookie, token, MAX_AGE)
    }

    /// Takes the cookie away.
    pub(crate) fn no_cookie(&self) -> HeaderValue {
        self.set(&self.cookie, "", 0)
    }

    /// The cookie of a sign-in at an identity provider. Browsers send it when they come back from there
    /// too, since that is a link that somebody followed (`SameSite=Lax`).
    pub(crate) fn sso_cookie(&self, sealed: &str) -> HeaderValue {
        self.set(&self.sso_cookie, sealed, SSO_MAX_AGE)
    }

    /// Takes that cookie away.
    pub(crate) fn no_sso_cookie(&self) -> HeaderValue {
        self.set(&self.sso_cookie, "", 0)
    }

    fn set(&self, name: &str, token: &str, max_age: u64) -> HeaderValue {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let cookie =
            format!("{name}={token}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""))
    }

    /// Whether a request may act for whoever is signed in: one that changes nothing, one of our own
    /// pages, or one of no browser.
    pub(crate) fn permits(&self, method: &Method, headers: &HeaderMap) -> bool {
        if [Method::GET, Method::HEAD, Method::OPTIONS].contains(method) {
            return true;
        }
        if let Some(site) = headers.get(FETCH_SITE) {
            return ["same-origin", "none"].iter().any(|own| site == own);
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let is_hosts = |host: &str| {
            origin.split_once("://").is_some_and(|(_, of)| of.eq_ignore_ascii_case(host))
        };
        origin == self.origin || host.is_some_and(is_hosts)
    }
}

impl Site {
    /// Whether the request's `Host` (RFC 9110, section 7.2) is one that no stranger can have lead here:
    /// `localhost`, an IP address, or the name of the base URL. A page of another name whose address was
    /// changed to this server's (DNS rebinding) would be of the same origin as the server.
    pub(crate) fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let Some(authority) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
            return false;
        };
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let named = ["localhost", &self.host];
        bare.parse::<IpAddr>().is_ok() || named.iter().any(|own| host.eq_ignore_ascii_case(own))
    }
}

/// Refuses what pages of other sites send.
pub(crate) fn own_pages_only(site: Arc<Site>) -> impl Fn(Request, Next) -> ResponseFuture + Clone {
    move |request, next| {
        if site.permits(request.method(), request.headers()) {
            next.run(request)
        } else {
            immediate(crate::error::Error::from(AppError::Forbidden(Forbidden::CrossSite)))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        fields.iter().map(one).collect()
    }

    #[test]
    fn a_cookie_is_this_installations_own() {
        for (base_url, cookie, origin) in [
            ("https://trap.example", "__Host-session", "https://trap.example"),
            ("https://Trap.example:443/a", "__Host-session", "https://trap.example"),
            ("https://trap.example:8443", "__Host-session", "https://trap.example:8443"),
            ("http://127.0.0.1:8025", "trapline-8025", "http://127.0.0.1:8025"),
            ("http://[::1]:8025/x", "trapline-8025", "http://[::1]:8025"),
            ("http://[::1]", "trapline-80", "http://[::1]"),
            ("http://trap.example", "trapline-80", "http://trap.example"),
        ] {
            let site = Site::of(base_url);
            assert_eq!((site.cookie.as_str(), site.origin.as_str()), (cookie, origin));
            let set = site.cookie("t0ken");
            let set = set.to_str().unwrap();
            assert!(set.starts_with(&format!("{cookie}=t0ken; Path=/; Max-Age=5184000")), "{set}");
            assert_eq!(set.contains("; Secure"), base_url.starts_with("https"), "{set}");
            assert!(set.contains("; HttpOnly; SameSite=Lax"), "{set}");
        }
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let site = Site::of("http://127.0.0.1:8025");
        for (field, token) in [
            ("trapline-8025=abc", Some("abc")),
            ("session=x; trapline-8025=abc;b=c", Some("abc")),
            ("trapline-80=abc", None),
            ("xtrapline-8025=abc", None),
            ("trapline-8025", None),
            ("", None),
        ] {
            assert_eq!(site.token(&headers(&[("cookie", field)])), token, "{field}");
        }
        let two = headers(&[("cookie", "a=b"), ("cookie", "trapline-8025=abc")]);
        assert_eq!(site.token(&two), Some("abc"));
    }

    #[test]
    fn only_names_that_nobody_else_can_have_are_our_own() {
        for (base_url, host, is_own) in [
            ("http://127.0.0.1:8025", "127.0.0.1:8025", true),
            ("http://127.0.0.1:8025", "10.0.0.7", true),
            ("http://127.0.0.1:8025", "[::1]:8025", true),
            ("http://127.0.0.1:8025", "[fd00::7]", true),
            ("http://127.0.0.1:8025", "localhost:8025", true),
            ("http://127.0.0.1:8025", "LOCALHOST", true),
            ("http://[::1]:8025", "[::1]:9000", true),
            ("https://Trap.example", "trap.example", true),
            ("https://trap.example", "trap.example:8443", true),
            ("https://trap.example", "evil.example", false),
            ("https://trap.example", "trap.example.evil.example", false),
            ("https://trap.example", "localhost.evil.example:8025", false),
            ("https://trap.example", "127.0.0.1.evil.example", false),
            ("https://trap.example", "127.0.0.1@evil.example", false),
            ("https://trap.example", "evil.example:localhost", false),
            ("https://trap.example", "trap.example.", false),
            ("https://trap.example", "", false),
            ("https://trap.example", ":8025", false),
        ] {
            let site = Site::of(base_url);
            assert_eq!(site.is_own_host(&headers(&[("host", host)])), is_own, "{base_url} {host}");
        }
        assert!(!Site::of("https://trap.example").is_own_host(&HeaderMap::new()));
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let site = Site::of("https://trap.example");
        for (fields, permitted) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://trap.example")], false),
            (&[("origin", "https://trap.example")], true),
            (&[("origin", "https://evil.example")], false),
            (&[("origin", "https://trap.example.evil.example")], false),
            (&[("origin", "null")], false),
            (&[("origin", "")], false),
            (&[("origin", "http://10.0.0.7:8025"), ("host", "10.0.0.7:8025")], true),
            (&[("origin", "http://10.0.0.7:3000"), ("host", "10.0.0.7:8025")], false),
        ] {
            let headers = headers(fields);
            for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                assert_eq!(site.permits(&method, &headers), permitted, "{fields:?}");
            }
            assert!(site.permits(&Method::GET, &headers));
        }
    }
}
