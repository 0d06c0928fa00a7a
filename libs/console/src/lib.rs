//! The web console: a page, its scripts and styles, built from `web/` and part of the executable. It is
//! a client of the API like any other.

mod assets;
mod headers;
mod page;

use axum::{
    http::{Method, header, request::Parts},
    response::Response,
};

use assets::File;
use page::Page;

/// First parts of paths that are never the console's.
const RESERVED: [&str; 10] =
    ["api", "assets", "docs", "healthz", "idp", "livez", "mock", "readyz", "saml", "status"];

/// The console that this executable was built with.
#[derive(Debug, Clone)]
pub struct Console {
    files: &'static [File],
    page: Page,
}

impl Console {
    /// The console, unless it was left out of the build (`CONSOLE=skip`, or no npm).
    #[must_use]
    pub fn embedded() -> Option<Self> {
        Self::of(assets::FILES)
    }

    fn of(files: &'static [File]) -> Option<Self> {
        let index = files.iter().find(|file| file.name == "index.html")?;
        Some(Self { files, page: Page::of(index.plain)? })
    }

    /// Answers a GET for one of its files, and with the page a GET for HTML outside of what is
    /// reserved for the server. None for all else.
    ///
    /// `prefix` is the path of the base URL, which was taken off the request's path: empty, or with a
    /// slash at its start and none at its end.
    #[must_use]
    pub fn answer(&self, request: &Parts, prefix: &str) -> Option<Response> {
        if request.method != Method::GET && request.method != Method::HEAD {
            return None;
        }
        let path = request.uri.path();
        let name = path.trim_start_matches('/');
        if name != "index.html"
            && let Some(file) = self.files.iter().find(|file| file.name == name)
        {
            return Some(headers::file(file, &request.headers));
        }
        let first = name.split('/').next().unwrap_or_default();
        if RESERVED.contains(&first) || !wants_html(request) {
            return None;
        }
        Some(headers::page(self.page.at(path, prefix), &request.headers))
    }
}

/// Whether HTML is asked for by name (RFC 9110, section 12.5.1), as browsers do.
fn wants_html(request: &Parts) -> bool {
    let fields = request.headers.get_all(header::ACCEPT).iter();
    fields.filter_map(|field| field.to_str().ok()).any(|field| field.contains("text/html"))
}

#[cfg(test)]
mod tests;
