//! Pages for people: no script but to send a form on, and nothing from elsewhere.

use std::sync::LazyLock;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};
use trapline_app::escape_html;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:2em auto;padding:0 1em;\
    overflow-wrap:anywhere}h1{font-size:1.3em}pre{white-space:pre-wrap;border:1px solid;padding:.6em}\
    button{font:inherit;padding:.6em 1em;margin:.3em 0;width:100%;text-align:left}\
    .warning{font-weight:bold}small{display:block}input{font:inherit;padding:.4em}";
/// Sends the only form of a page.
const SEND: &str = "document.forms[0].submit()";

fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)))
}

/// No `form-action`: browsers hold it against the whole chain of redirects of a form, and where an
/// application sends people on is its own business.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let style = hash(STYLE);
    format!("default-src 'none'; style-src {style}; base-uri 'none'; frame-ancestors 'none'")
});
/// May be shown in a frame, as a silent sign-in is (`prompt=none`).
static SENDING_POLICY: LazyLock<String> = LazyLock::new(|| {
    let (style, script) = (hash(STYLE), hash(SEND));
    format!("default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'")
});

/// A page; `title` and `body` are HTML.
pub(crate) fn page(status: StatusCode, title: &str, body: &str) -> Response {
    answer(status, &POLICY, title, body)
}

/// A page that sends these fields on by POST, at once or by a button.
pub(crate) fn sending(to: &str, fields: &[(String, String)]) -> Response {
    let body = format!("{}<script>{SEND}</script>", form(to, fields));
    answer(StatusCode::OK, &SENDING_POLICY, "Signing in", &body)
}

/// A page that sends these fields on by a button alone; `words` are HTML.
pub(crate) fn offering(words: &str, to: &str, fields: &[(String, String)]) -> Response {
    page(StatusCode::OK, "Continue?", &format!("{words}{}", form(to, fields)))
}

fn form(to: &str, fields: &[(String, String)]) -> String {
    let fields = fields.iter().map(|(name, value)| {
        let (name, value) = (escape_html(name), escape_html(value));
        format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">")
    });
    format!(
        "<form method=\"post\" action=\"{}\">{}<button>Continue</button></form>",
        escape_html(to),
        fields.collect::<String>()
    )
}

/// What is wrong, for whoever looks at the browser.
pub(crate) fn problem(status: StatusCode, title: &str, body: &str) -> Response {
    let body = format!("<div role=\"alert\">{body}</div>");
    page(status, title, &body)
}

fn answer(status: StatusCode, policy: &str, title: &str, body: &str) -> Response {
    let html = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>"
    );
    let mut answer = (status, html).into_response();
    let fixed = HeaderValue::from_static;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, fixed("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, fixed("no-store"));
    headers.insert(header::REFERRER_POLICY, fixed("no-referrer"));
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}
