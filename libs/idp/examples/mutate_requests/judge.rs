//! What holds for every answer.

use axum::http::{StatusCode, header, response::Parts};
use serde_json::Value;

use crate::service::{ACS, BACK, ISSUER, LOOPBACK, OUT, SLO};

/// Elements of the pages, and the only script among them.
const ELEMENTS: [&str; 19] = [
    "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "main", "h1", "p", "pre", "div",
    "form", "input", "button", "small", "label", "script", "a",
];
const SCRIPT: &str = "<script>document.forms[0].submit()</script>";

/// Judges an answer; `is_clicked` says that it is one to a button of a page.
pub(crate) fn judge(head: &Parts, body: &[u8], is_clicked: bool) {
    assert!(!head.status.is_server_error(), "{} {}", head.status, String::from_utf8_lossy(body));
    let field =
        |name| head.headers.get(name).map_or("", |value| value.to_str().unwrap_or_default());
    assert_eq!(head.status.is_redirection(), head.headers.contains_key(header::LOCATION));
    if head.status == StatusCode::SEE_OTHER {
        let to =
            head.headers.get(header::LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()));
        let to = to.unwrap_or_default();
        assert!(is_registered(&to), "a browser is sent to {to}");
    }
    let kind = field(header::CONTENT_TYPE);
    if kind.starts_with("application/json") {
        assert!(serde_json::from_slice::<Value>(body).is_ok());
    }
    if kind.starts_with("text/html") {
        judge_page(&String::from_utf8_lossy(body), is_clicked);
    }
}

/// Whether somebody registered an address, or it is the provider's own.
fn is_registered(to: &str) -> bool {
    let place = to.split(['?', '#']).next().unwrap_or_default();
    let own = place.strip_prefix(ISSUER).and_then(|rest| rest.split_once('/'));
    [BACK, OUT, SLO].contains(&place)
        || own.is_some_and(|(slug, rest)| !slug.is_empty() && rest == "login")
        || is_loopback(place)
}

/// Whether it is the registered loopback address at any port.
fn is_loopback(place: &str) -> bool {
    let (host, path) = LOOPBACK;
    let port = place.strip_prefix(host).and_then(|rest| rest.strip_suffix(path));
    let digits = port.map(|port| port.strip_prefix(':').unwrap_or(port));
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A page has no markup but its own, and its forms go where somebody registered or has to click.
fn judge_page(html: &str, is_clicked: bool) {
    for part in html.split('<').skip(1) {
        let name = part.trim_start_matches('/').split(['>', ' ']).next().unwrap_or_default();
        assert!(ELEMENTS.contains(&name), "an element {name}");
    }
    let scripts = html.matches("<script").count();
    assert!(scripts == 0 || scripts == 1 && html.contains(SCRIPT), "scripts of others");
    let sent = html.contains(SCRIPT).then(|| html.split("action=\"").nth(1)).flatten();
    if let Some(to) = sent.and_then(|rest| rest.split('"').next()) {
        let is_known = is_registered(&to.replace("&amp;", "&")) || to == ACS;
        assert!(is_known || is_clicked, "sent to {to}");
    }
}
