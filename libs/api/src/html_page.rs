//! Pages for people: without scripts, and with nothing from elsewhere.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

/// What pages may do that have a form and nothing else.
pub(crate) const FORM_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page; `body` is HTML, title and style are the service's own words.
pub(crate) fn html(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{style}</style></head><body><main>{body}</main></body></html>"
    )
}

/// A kind of page whose address holds a secret, so that nobody keeps it or is told of it.
pub(crate) struct SecretPage {
    pub title: &'static str,
    pub style: &'static str,
    /// The Content-Security-Policy.
    pub policy: &'static str,
    /// The Referrer-Policy: what the address is told to.
    pub referrer: &'static str,
}

impl SecretPage {
    /// Answers with such a page.
    pub(crate) fn answer(&self, status: StatusCode, body: &str) -> Response {
        let fixed = HeaderValue::from_static;
        let headers = [
            (header::CONTENT_TYPE, fixed("text/html; charset=utf-8")),
            (header::CONTENT_SECURITY_POLICY, fixed(self.policy)),
            (header::REFERRER_POLICY, fixed(self.referrer)),
            (header::CACHE_CONTROL, fixed("private, no-store")),
        ];
        (status, headers, html(self.title, self.style, body)).into_response()
    }
}
