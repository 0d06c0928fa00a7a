//! `trapline probe`: whether a server is ready, for health checks where there is no other program.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use axum::http::Uri;

use crate::{http::ask, output::print, settings::reachable};

/// How long the answer may take. What a server asks its services takes less.
const TIMEOUT: Duration = Duration::from_secs(10);
const PORT: u16 = 80;

/// Asks `/readyz` of the server that listens at `http`, or what `url` names, and prints the answer.
///
/// # Errors
///
/// When the server is not ready, does not answer in 10 seconds, or the URL is none that can be asked.
pub(crate) async fn run(url: Option<&str>, http: SocketAddr) -> Result<()> {
    let (authority, path) = match url {
        Some(url) => target(url).with_context(|| format!("--url {url}"))?,
        None => (reachable(http).to_string(), "/readyz".to_owned()),
    };
    let answer = tokio::time::timeout(TIMEOUT, ask(&authority, &path)).await;
    let answer = answer
        .with_context(|| format!("no answer from {authority} in {} seconds", TIMEOUT.as_secs()))?
        .with_context(|| format!("no answer from {authority}"))?;
    match answer.status() {
        Some(200) => Ok(print(&format!("{}\n", answer.body()))?),
        Some(status) => bail!("{authority} is not ready: {status} {}", answer.body()),
        None => bail!("{authority} does not speak HTTP"),
    }
}

/// The host with its port, and the path, that a URL names.
fn target(url: &str) -> Result<(String, String)> {
    let wanted = "wants a URL such as http://127.0.0.1:8025";
    let uri: Uri = url.parse().context(wanted)?;
    ensure!(uri.scheme_str() == Some("http"), wanted);
    let host = uri.host().context(wanted)?;
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let path = if path == "/" { "/readyz" } else { path };
    Ok((format!("{host}:{}", uri.port_u16().unwrap_or(PORT)), path.to_owned()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_url_names_a_host_and_what_is_asked() {
        let readiness = "/readyz?services=false";
        for (url, authority, path) in [
            ("http://localhost", "localhost:80", "/readyz"),
            ("http://127.0.0.1:8025/", "127.0.0.1:8025", "/readyz"),
            ("http://[::1]:8025/livez", "[::1]:8025", "/livez"),
            ("http://a.example:1/readyz?services=false", "a.example:1", readiness),
        ] {
            let found = target(url).unwrap();
            assert_eq!((found.0.as_str(), found.1.as_str()), (authority, path), "{url}");
        }
        for url in ["", "localhost", "127.0.0.1:8025", "https://a.example", "http://", "/readyz"] {
            assert!(target(url).is_err(), "{url}");
        }
    }
}
