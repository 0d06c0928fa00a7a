//! Many messages of an inbox at once.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trapline_app::App;
use trapline_model::{InboxId, MessageId};

use crate::{
    auth::Writer,
    error::Result,
    extract::{Body, PathParams},
};

/// Which messages are to go.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MessageSelection)]
pub(crate) struct SelectionInput {
    /// The messages.
    #[schema(
        min_items = 1,
        max_items = 200,
        example = json!(["06e1uejr5hv437857tl1n31d9o0po7pr1aa7obcf2tf2n6jd7i0g"])
    )]
    ids: Vec<MessageId>,
}

/// Which messages are to be marked, and how.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MessageMarks)]
pub(crate) struct MarksInput {
    /// The messages.
    #[schema(
        min_items = 1,
        max_items = 200,
        example = json!(["06e1uejr5hv437857tl1n31d9o0po7pr1aa7obcf2tf2n6jd7i0g"])
    )]
    ids: Vec<MessageId>,
    /// Whether the messages count as read.
    is_read: bool,
}

/// What became of many messages.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = ChangedMessages)]
pub(crate) struct Changed {
    /// How many messages are otherwise than before. An id that comes twice counts once, and one that the
    /// inbox does not have counts for nothing.
    #[schema(maximum = 200, example = 1)]
    changed: u64,
}

/// Delete messages
///
/// Those of them that the inbox has, with their attachments; followers hear of all in one event. To
/// repeat it does no harm.
#[utoipa::path(
    post,
    path = "/api/inboxes/{id}/messages/delete",
    operation_id = "deleteMessages",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox.")),
    request_body = SelectionInput,
    responses((status = 200, description = "How many are gone.", body = Changed))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
    Body(input): Body<SelectionInput>,
) -> Result<Json<Changed>> {
    Ok(Json(Changed { changed: app.messages().delete_many(&by, id, &input.ids).await? }))
}

/// Mark messages read or unread
///
/// Those of them that the inbox has; followers hear of all in one `inbox.updated`, whose `marked` names
/// them. To repeat it does no harm.
#[utoipa::path(
    post,
    path = "/api/inboxes/{id}/messages/read",
    operation_id = "markMessages",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox.")),
    request_body = MarksInput,
    responses((status = 200, description = "How many are marked otherwise now.", body = Changed))
)]
pub(crate) async fn mark(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
    Body(input): Body<MarksInput>,
) -> Result<Json<Changed>> {
    let changed = app.messages().set_many_read(&by, id, &input.ids, input.is_read).await?;
    Ok(Json(Changed { changed }))
}
