//! The pages of mocks on which a person decides, as a payer does at a payment provider's. They work without scripts,
//! show other people's words as text, and lead back to the app.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use trapline_app::{App, HostedPage, MockAddress, MockPageAddress, escape_html};
use url::Url;

use crate::{
    error::Error,
    html_page::{FORM_STYLE, html},
};

/// Bytes of the form of a button.
const MAX_FORM: usize = 4 << 10;
/// The hash of [`FORM_STYLE`], by which browsers know the only style of these pages.
const STYLE_HASH: &str = "bRjXWpAw5PcLxQyVcwJgyem6NzRpDhXxzO3XtUOngX0=";
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The page that a path below a mock names, if it names one.
pub(super) fn at(slug: &str, path: &str, query: Option<&str>) -> Option<MockPageAddress> {
    let (kind, id) = path.strip_prefix("_/")?.split_once('/')?;
    let mut query = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let proof = query.find(|(name, _)| name == "k").map(|(_, value)| value);
    Some(MockPageAddress {
        slug: slug.to_owned(),
        kind: kind.to_owned(),
        id: id.to_owned(),
        proof: proof.unwrap_or_default().into_owned(),
    })
}

/// Shows a page, or does what a button of it asks for.
pub(super) async fn answered(
    app: &App,
    at: MockPageAddress,
    address: MockAddress,
    request: Request,
) -> Result<Response, Error> {
    let own = address.pages_url.clone();
    if request.method() != Method::POST {
        let page = app.mocks().page(&at, address).await.map_err(unknown)?;
        return Ok(shown(&page, &own, ""));
    }
    let form = axum::body::to_bytes(request.into_body(), MAX_FORM).await;
    let form = form.map_err(|_too_long| Error::NoSuchMock)?;
    let to = form_urlencoded::parse(&form).find(|(name, _)| name == "to").map(|(_, to)| to);
    let to = to.unwrap_or_default();
    let decided = app.mocks().decide(&at, address, &to).await.map_err(unknown)?;
    let back = decided.back.as_deref().and_then(web_address);
    let location = back.and_then(|back| HeaderValue::try_from(back.as_str()).ok());
    let Some(location) = location else {
        let is_open = !decided.page.buttons.is_empty();
        let problem = if is_open { "It did not work. Try again." } else { "" };
        return Ok(shown(&decided.page, &own, problem));
    };
    let headers = [(header::LOCATION, location), (header::CACHE_CONTROL, NO_STORE)];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

fn unknown(error: trapline_app::Error) -> Error {
    match error {
        trapline_app::Error::NotFound => Error::NoSuchMock,
        error => error.into(),
    }
}

/// An address of the web. Others lead nowhere: a script is one too.
fn web_address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn shown(page: &HostedPage, own: &str, problem: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy(page, own)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, NO_STORE),
    ];
    (headers, Body::from(html("Test page", FORM_STYLE, &body(page, problem)))).into_response()
}

/// Browsers apply `form-action` to where a form's answer redirects, and a page in a sandbox has no origin that
/// `'self'` could mean, so both are written out.
fn policy(page: &HostedPage, own: &str) -> HeaderValue {
    let origin = |text: &str| web_address(text).map(|url| url.origin().ascii_serialization());
    let mut origins: Vec<_> = origin(own).into_iter().collect();
    origins.extend(page.back.as_deref().and_then(origin));
    let policy = format!(
        "sandbox allow-forms; default-src 'none'; style-src 'sha256-{STYLE_HASH}'; form-action {}; \
         base-uri 'none'; frame-ancestors 'self'",
        origins.join(" ")
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static(super::POLICY))
}

fn body(page: &HostedPage, problem: &str) -> String {
    let line =
        |(name, text): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>", escape_html(text));
    let button = |(to, label): &(&str, &str)| {
        format!("<p><button name=\"to\" value=\"{to}\">{label}</button></p>")
    };
    let lines: Vec<_> = page.lines.iter().map(line).collect();
    let buttons: Vec<_> = page.buttons.iter().map(button).collect();
    let problem = Some(problem).filter(|problem| !problem.is_empty());
    let cancel = page.cancel.as_deref().and_then(web_address);
    let parts = [
        Some(format!("<h1>{}</h1>", escape_html(&page.title))),
        problem.map(|problem| format!("<p role=\"alert\">{problem}</p>")),
        Some(format!("<dl>{}</dl>", lines.concat())),
        (!buttons.is_empty()).then(|| format!("<form method=\"post\">{}</form>", buttons.concat())),
        cancel.map(|to| format!("<p><a href=\"{}\">Back</a></p>", escape_html(to.as_str()))),
        Some("<p>This page is part of a test: no money moves, and nobody is asked.</p>".to_owned()),
    ];
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use data_encoding::BASE64;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_hash_is_that_of_the_style() {
        assert_eq!(STYLE_HASH, BASE64.encode(&Sha256::digest(FORM_STYLE)));
    }

    #[test]
    fn other_peoples_words_are_text() {
        let hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
        let page = HostedPage {
            title: hostile.to_owned(),
            lines: vec![("What", hostile.to_owned())],
            buttons: vec![("complete", "Pay")],
            cancel: Some("javascript:alert(1)".to_owned()),
            back: Some("https://app.test/\r\nx; script-src *".to_owned()),
        };
        let text = body(&page, "");
        assert!(!text.contains("<script") && !text.contains("<img") && !text.contains("<a "));
        let policy = policy(&page, "http://127.0.0.1:8025/mock/0");
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("form-action http://127.0.0.1:8025 https://app.test;"), "{policy}");
        assert!(!policy.contains("script"), "{policy}");
    }

    #[test]
    fn a_page_is_named_by_its_path() {
        let page = at("0123", "_/sessions/cs_1", Some("k=ab&x=1")).unwrap();
        let named = (page.kind.as_str(), page.id.as_str(), page.proof.as_str());
        assert_eq!(named, ("sessions", "cs_1", "ab"));
        assert!(at("0123", "v1/customers", None).is_none());
        assert_eq!(at("0123", "_/a/b", None).unwrap().proof, "");
    }
}
