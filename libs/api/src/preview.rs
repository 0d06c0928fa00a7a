//! Parts of messages that browsers show: HTML and attachments, with a key or by signed URL.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, Download, RenderedHtml, Signature};
use trapline_model::{MessageId, Time};

use crate::{
    auth::{Reader, Viewer},
    disposition,
    error::Result,
    extract::{Flag, Params, PathParams},
    layers::CORP,
};

/// The types that are served as themselves: images that no browser runs anything in.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Scripts in an SVG image run where it is a document, not where a page shows it as an image.
const SVG: &str = "image/svg+xml";
const OPAQUE: &str = "application/octet-stream";
const SANDBOX_POLICY: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'");
/// An image may be styled and hold other images, but loads nothing.
const IMAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:",
);
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Browsers look up the hosts of links before anybody clicks.
const DNS_PREFETCH: HeaderName = HeaderName::from_static("x-dns-prefetch-control");

/// How the HTML is wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HtmlInput {
    /// Let remote images load.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    images: Flag,
    /// Of a signed URL: seconds since 1970 until which it works.
    #[param(minimum = 0)]
    exp: Option<i64>,
    /// Of a signed URL: its signature.
    #[param(max_length = 200)]
    sig: Option<String>,
}

/// What a signed URL carries.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AttachmentInput {
    /// Of a signed URL: seconds since 1970 until which it works.
    #[param(minimum = 0)]
    exp: Option<i64>,
    /// Of a signed URL: its signature.
    #[param(max_length = 200)]
    sig: Option<String>,
}

/// A URL at which the message can be seen without a key.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreviewUrl)]
pub(crate) struct PreviewUrlBody {
    /// The signed URL.
    #[schema(
        format = "uri",
        example = "http://127.0.0.1:8025/api/messages/0/html?exp=1800000000&sig=0a"
    )]
    url: String,
    /// Until when it works.
    expires_at: Time,
}

/// What is left out of a signed URL makes a signature that does not hold.
fn signature(exp: Option<i64>, sig: Option<String>) -> Signature {
    Signature { expires: exp.unwrap_or_default(), signature: sig.unwrap_or_default() }
}

/// Show the message
///
/// The HTML as a page that runs nothing and loads nothing from elsewhere; the text when there is no
/// HTML. Inline images have URLs relative to the page, which need no key for 15 minutes. Works with a
/// key, or with the parameters of a signed URL.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/html",
    operation_id = "getMessageHtml",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message."), HtmlInput),
    security(("apiKey" = []), ("session" = []), ()),
    responses(
        (
            status = 200,
            description = "The page.",
            body = String,
            content_type = "text/html",
            headers(("Content-Security-Policy" = String, description = "What the page may do."))
        ),
        (
            status = 403,
            description = "The signature does not hold, or no longer (`bad_signature`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn html(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<HtmlInput>,
) -> Result<Response> {
    let images = input.images.on();
    let page = match viewer {
        Viewer::Principal(by) => app.messages().html(&by, id, images).await?,
        Viewer::Signed => {
            app.messages().signed_html(id, &signature(input.exp, input.sig), images).await?
        }
    };
    show(page)
}

fn show(page: RenderedHtml) -> Result<Response> {
    let policy = HeaderValue::try_from(page.policy).map_err(|error| {
        tracing::error!(%error, "a content security policy is not a header");
        trapline_app::Error::Unavailable
    })?;
    let fixed = HeaderValue::from_static;
    let headers = [
        (header::CONTENT_TYPE, fixed("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, fixed("no-referrer")),
        (COOP, fixed("same-origin")),
        (DNS_PREFETCH, fixed("off")),
        (header::CACHE_CONTROL, fixed("private, no-store")),
    ];
    Ok((headers, page.html).into_response())
}

/// Get a signed preview URL
///
/// It shows the message without a key for 15 minutes.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/preview-url",
    operation_id = "getPreviewUrl",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message.")),
    responses((status = 200, description = "The URL.", body = PreviewUrlBody))
)]
pub(crate) async fn preview_url(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
) -> Result<Json<PreviewUrlBody>> {
    let preview = app.messages().preview_url(&by, id).await?;
    Ok(Json(PreviewUrlBody { url: preview.url, expires_at: preview.expires_at }))
}

/// Download an attachment
///
/// Only PNG, JPEG, GIF and WebP images keep their type, and SVG images by the signed URLs within a
/// preview; all else is served as bytes. Works with a key, or with the parameters of a signed URL.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/attachments/{attachmentId}",
    operation_id = "getAttachment",
    tag = "Messages",
    params(
        ("id" = MessageId, Path, description = "The message."),
        ("attachmentId" = String, Path, description = "The attachment.", example = "1"),
        AttachmentInput
    ),
    security(("apiKey" = []), ("session" = []), ()),
    responses(
        (
            status = 200,
            description = "The decoded bytes.",
            content(
                (crate::openapi::Binary = "application/octet-stream"),
                (crate::openapi::Binary = "image/png"),
                (crate::openapi::Binary = "image/jpeg"),
                (crate::openapi::Binary = "image/gif"),
                (crate::openapi::Binary = "image/webp"),
                (crate::openapi::Binary = "image/svg+xml")
            ),
            headers(("Content-Disposition" = String, description = "Names the file."))
        ),
        (
            status = 403,
            description = "The signature does not hold, or no longer (`bad_signature`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn attachment(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    PathParams((id, part)): PathParams<(MessageId, String)>,
    Params(input): Params<AttachmentInput>,
) -> Result<Response> {
    match viewer {
        Viewer::Principal(by) => Ok(file(app.messages().attachment(&by, id, &part).await?, false)),
        Viewer::Signed => {
            let signature = signature(input.exp, input.sig);
            Ok(file(app.messages().signed_attachment(id, &part, &signature).await?, true))
        }
    }
}

/// A signed image is part of a sandboxed page, whose origin is nobody's. An SVG image is painted
/// there, but saved where it is opened by itself.
fn file(download: Download, signed: bool) -> Response {
    let Download { meta, bytes } = download;
    let image = IMAGES.into_iter().find(|kind| *kind == meta.content_type);
    let svg = (signed && meta.content_type == SVG).then_some(SVG);
    let fallback = format!("attachment-{}", meta.id);
    let disposition = if signed && image.is_some() {
        disposition::inline(&meta.filename, &fallback)
    } else {
        disposition::attachment(&meta.filename, &fallback)
    };
    let policy = if svg.is_some() { IMAGE_POLICY } else { SANDBOX_POLICY };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(image.or(svg).unwrap_or(OPAQUE))),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
    ];
    let mut response = (headers, bytes).into_response();
    if signed && image.or(svg).is_some() {
        response.headers_mut().insert(CORP, ANY_ORIGIN);
    }
    response
}

#[cfg(test)]
mod tests;
