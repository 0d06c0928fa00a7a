//! Pages for people: without scripts, and with nothing from elsewhere.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use trapline_app::Issue;

/// What pages may do that have a form and nothing else.
pub(crate) const FORM_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How pages look that have a form.
pub(crate) const FORM_STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;\
     margin:3em auto;padding:0 1em;overflow-wrap:anywhere}h1{font-size:1.3em}\
     label{display:block;margin:1em 0}input{display:block;width:100%;box-sizing:border-box;\
     font:inherit;padding:.5em}button{font:inherit;font-weight:bold;padding:.6em 1.2em;border:0;\
     border-radius:.4em;background:#1d4ed8;color:#fff}";

/// What is wrong with what a form brought, for whoever filled it in.
pub(crate) fn told(issues: &[Issue]) -> String {
    let lines = issues.iter().map(|issue| format!("{} {}", issue.path, issue.message));
    lines.collect::<Vec<_>>().join("; ")
}

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
