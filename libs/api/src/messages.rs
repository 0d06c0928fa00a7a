//! Messages.

pub(crate) mod many;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, ListQuery, Original};
use trapline_model::{Inbox, InboxId, Message, MessageId, Summary, Time};

use crate::{
    auth::{Reader, Writer},
    disposition,
    error::Result,
    extract::{Body, Flag, Params, PathParams},
    reply::{self, NoContent},
};

/// Which messages to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ListInput {
    /// Only messages whose subject, sender or recipients contain this, in any case.
    #[param(max_length = 200, example = "verify")]
    q: Option<String>,
    /// Only messages of which a recipient of the header or the envelope contains this, in any case.
    #[param(min_length = 1, max_length = 200, example = "ada@example.com")]
    to: Option<String>,
    /// Only messages whose sender contains this, in any case.
    #[param(min_length = 1, max_length = 200)]
    from: Option<String>,
    /// Only messages whose subject contains this, in any case.
    #[param(min_length = 1, max_length = 200, example = "Verify")]
    subject: Option<String>,
    /// Only messages received then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Only messages received then or earlier.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Only messages with attachments.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    has_attachment: Flag,
    /// Only messages that nobody marked read.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    unread: Flag,
    /// From 1.
    #[param(minimum = 1, maximum = 10_000, default = 1)]
    page: Option<u16>,
    /// Messages on a page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// A page of messages, newest first.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MessagePage)]
pub(crate) struct MessagePage {
    /// Matching messages on all pages.
    total: u64,
    /// This page's number, from 1.
    #[schema(minimum = 1, example = 1)]
    page: u16,
    /// The most messages on a page.
    #[schema(minimum = 1, maximum = 200, example = 50)]
    limit: u16,
    /// The messages, without their bodies. Very long subjects and lists of people are cut here.
    messages: Vec<Summary>,
    /// Only where `q`, `to`, `from` or `subject` may have missed some: how many messages have headings so
    /// long that they were searched in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    partly_searched: Option<u64>,
}

/// What is to change.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MessageChange)]
pub(crate) struct MessageChangeInput {
    /// Whether the message counts as read.
    is_read: bool,
}

/// How the original is wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RawInput {
    /// Offer it as an .eml file.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    download: Flag,
}

/// List messages
///
/// Newest first, in pages. Every given filter must hold.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/messages",
    operation_id = "listMessages",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox."), ListInput),
    responses((status = 200, description = "One page.", body = MessagePage))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
    Params(input): Params<ListInput>,
) -> Result<Json<MessagePage>> {
    let (page, limit) = (input.page.unwrap_or(1), input.limit.unwrap_or(50));
    let ListInput { q, to, from, subject, since, until, has_attachment, unread, .. } = input;
    let query = ListQuery {
        q: q.filter(|q| !q.is_empty()),
        to,
        from,
        subject,
        since,
        until,
        has_attachment: has_attachment.on(),
        unread: unread.on(),
        page: page.into(),
        limit: limit.into(),
    };
    let found = app.messages().list(&by, id, &query).await?;
    let partly_searched = Some(found.partly_searched).filter(|count| *count > 0);
    let (total, messages) = (found.total, found.messages);
    Ok(Json(MessagePage { total, page, limit, messages, partly_searched }))
}

/// Mark every message read
///
/// Those that arrive later are unread again.
#[utoipa::path(
    patch,
    path = "/api/inboxes/{id}/messages",
    operation_id = "markAllRead",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 200, description = "The inbox with its new counts.", body = Inbox))
)]
pub(crate) async fn mark_all_read(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<Json<Inbox>> {
    app.messages().mark_all_read(&by, id).await?;
    Ok(Json(app.inboxes().get(&by, id).await?))
}

/// Empty the inbox
///
/// Deletes every message in it.
#[utoipa::path(
    delete,
    path = "/api/inboxes/{id}/messages",
    operation_id = "emptyInbox",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 204, description = "The inbox is empty."))
)]
pub(crate) async fn empty(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
) -> Result<NoContent> {
    app.messages().empty(&by, id).await?;
    Ok(NoContent)
}

/// Get a message
///
/// Complete: text, HTML, header fields, attachments, links and codes.
#[utoipa::path(
    get,
    path = "/api/messages/{id}",
    operation_id = "getMessage",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message.")),
    responses((status = 200, description = "The full message.", body = Message))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
) -> Result<Response> {
    let message = app.messages().get(&by, id).await?;
    reply::whole(&app, message.size, message).await
}

/// Mark a message read or unread
///
/// Nothing else marks messages: reading one over the API does not.
#[utoipa::path(
    patch,
    path = "/api/messages/{id}",
    operation_id = "updateMessage",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message.")),
    request_body = MessageChangeInput,
    responses((status = 200, description = "The changed message.", body = Message))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MessageId>,
    Body(input): Body<MessageChangeInput>,
) -> Result<Json<Message>> {
    Ok(Json(app.messages().set_read(&by, id, input.is_read).await?))
}

/// Delete a message
///
/// Its attachments go with it.
#[utoipa::path(
    delete,
    path = "/api/messages/{id}",
    operation_id = "deleteMessage",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message.")),
    responses((status = 204, description = "The message is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MessageId>,
) -> Result<NoContent> {
    app.messages().delete(&by, id).await?;
    Ok(NoContent)
}

/// Get the original message
///
/// Byte for byte as it was sent. One of more than 1 MiB is sent while it is read: where its stored bytes
/// are damaged, the answer is cut off before its end.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/raw",
    operation_id = "getRawMessage",
    tag = "Messages",
    params(("id" = MessageId, Path, description = "The message."), RawInput),
    responses((
        status = 200,
        description = "The original (RFC 5322).",
        body = inline(crate::openapi::Binary),
        content_type = "message/rfc822",
        headers(("Content-Disposition" = String, description = "Names the .eml file."))
    ))
)]
pub(crate) async fn raw(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<RawInput>,
) -> Result<Response> {
    let (len, body) = match app.messages().original(&by, id).await? {
        Original::Whole(bytes) => (bytes.len() as u64, bytes.into()),
        Original::Pieces(pieces) => {
            (pieces.len(), axum::body::Body::from_stream(pieces.into_stream()))
        }
    };
    Ok(original(len, body, &format!("{id}.eml"), input.download.on()))
}

fn original(len: u64, body: axum::body::Body, name: &str, download: bool) -> Response {
    let disposition = if download {
        disposition::attachment(name, name)
    } else {
        disposition::inline(name, name)
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("message/rfc822")),
        (header::CONTENT_LENGTH, len.into()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
    ];
    (headers, body).into_response()
}
