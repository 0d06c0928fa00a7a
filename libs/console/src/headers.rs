//! What browsers and caches are told of the console's page and files.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use crate::{assets::File, page::Rendered};

/// Nothing but our own scripts and styles, and no string becomes markup or code, but for the templates
/// of the framework, which are constants.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
/// Features of browsers that no page of ours uses; the clipboard is left.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), \
     usb=(), clipboard-read=(), clipboard-write=(self)";
/// Seconds for which a file stays as it is, whose name changes with its contents: a year.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// The page: a browser asks each time whether it is still the same.
pub(crate) fn page(page: Rendered, asked: &HeaderMap) -> Response {
    let mut headers = HeaderMap::new();
    let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
    set(header::CONTENT_TYPE, "text/html; charset=utf-8");
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(COOP, "same-origin");
    set(PERMISSIONS_POLICY, PERMISSIONS);
    set(header::CACHE_CONTROL, "no-cache");
    set(header::VARY, "accept");
    if let Ok(tag) = HeaderValue::try_from(&page.tag) {
        headers.insert(header::ETAG, tag);
    }
    if is_known(asked, &page.tag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, page.html).into_response()
}

/// Whether the client has what this tag stands for (RFC 9110, section 13.1.2).
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let known = asked.get_all(header::IF_NONE_MATCH).iter();
    let known = known.filter_map(|tags| tags.to_str().ok()).flat_map(|tags| tags.split(','));
    let mut known = known.map(|one| one.trim().trim_start_matches("W/"));
    known.any(|one| one == tag || one == "*")
}

/// A file, in the smallest form that the client takes.
pub(crate) fn file(file: &File, asked: &HeaderMap) -> Response {
    let forms = [("br", file.brotli), ("gzip", file.gzip)];
    let mut forms = forms.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    let form = forms.find(|(name, _)| takes(asked, name));
    let cache = if file.is_immutable() { IMMUTABLE } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.kind())),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    let body = Body::from(form.map_or(file.plain, |(_, bytes)| bytes));
    let mut response = (headers, body).into_response();
    if let Some((name, _)) = form {
        let name = HeaderValue::from_static(name);
        response.headers_mut().insert(header::CONTENT_ENCODING, name);
    }
    response
}

/// Whether an answer may be coded so (RFC 9110, section 12.5.3): named, and not with a weight of zero.
fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let fields = asked.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = fields.filter_map(|field| field.to_str().ok()).flat_map(|it| it.split(','));
    codings.any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let weight = parts.find_map(|part| part.strip_prefix(['q', 'Q'])?.strip_prefix('='));
        let weight = weight.map(str::parse::<f32>);
        named && weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0))
    })
}
