//! How an SDK is pointed at a mock, and how it verifies what a mock sends.

use std::collections::BTreeMap;

/// A piece of code, with `{{name}}` for values of the mock.
#[derive(Debug)]
pub struct Snippet {
    /// `curl`, `python` or `node`.
    pub language: &'static str,
    /// `connect` makes `client` and a first call; `webhook` defines `verify(headers, body, url)`.
    pub purpose: &'static str,
    /// The code.
    pub template: &'static str,
}

/// The code with the mock's own values: its credentials by name, `baseUrl`, and its `scheme`, `host`, `port`
/// and `path`.
#[must_use]
pub fn filled(template: &str, base_url: &str, credentials: &BTreeMap<String, String>) -> String {
    let mut text = template.replace("{{baseUrl}}", base_url);
    let (scheme, rest) = base_url.split_once("://").unwrap_or(("http", base_url));
    let authority = rest.split('/').next().unwrap_or_default();
    let default = if scheme == "https" { "443" } else { "80" };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            (host, port)
        }
        _ => (authority, default),
    };
    let path = rest.strip_prefix(authority).unwrap_or_default();
    for (name, value) in [("scheme", scheme), ("host", host), ("port", port), ("path", path)] {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    for (name, value) in credentials {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}
