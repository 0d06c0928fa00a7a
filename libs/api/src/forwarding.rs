//! Forwarding: who caught mail goes to.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use trapline_app::{AddedAddress, App};
use trapline_model::{
    Forward, ForwardAddress, ForwardAddressId, ForwardMatch, Forwarding, ForwardingStatus,
    InboxForwarding, InboxId, MessageId,
};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, PathParams},
    reply::{Created, NoContent},
};

/// What an inbox is to do with mail that arrives.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ForwardingChange)]
pub(crate) struct ForwardingInput {
    /// Whether mail is forwarded as it arrives.
    #[schema(example = true)]
    enabled: bool,
    /// The addresses that it is forwarded to, each confirmed; at least one if it is enabled.
    #[schema(max_items = 10, example = json!(["ada@example.com"]))]
    to: Vec<String>,
    /// Only such mail is forwarded; all of it when left out or null.
    #[serde(rename = "match")]
    matching: Option<ForwardMatch>,
}

/// Who gets the message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ForwardRequest)]
pub(crate) struct ForwardInput {
    /// The recipients, each confirmed.
    #[schema(min_items = 1, max_items = 10, example = json!(["ada@example.com"]))]
    to: Vec<String>,
}

/// The address to add.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ForwardAddressInput)]
pub(crate) struct AddressInput {
    /// An address of somebody who is to agree. None of this service's own.
    #[schema(min_length = 3, max_length = 254, example = "ada@example.com")]
    email: String,
}

/// Get an inbox's forwarding
///
/// To whom mail is forwarded as it arrives, and which.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/forwarding",
    operation_id = "getForwarding",
    tag = "Forwarding",
    params(("id" = InboxId, Path, description = "The inbox.")),
    responses((status = 200, description = "What it does with mail.", body = Forwarding))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
) -> Result<Json<Forwarding>> {
    Ok(Json(app.forwarding().rule(&by, id).await?))
}

/// List the forwarding of all inboxes
///
/// Those for which it was set, enabled or not, the oldest inbox first.
#[utoipa::path(
    get,
    path = "/api/forwarding",
    operation_id = "listForwarding",
    tag = "Forwarding",
    responses((status = 200, description = "The inboxes.", body = Vec<InboxForwarding>))
)]
pub(crate) async fn all(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<Vec<InboxForwarding>>> {
    Ok(Json(app.forwarding().rules(&by).await?))
}

/// Set an inbox's forwarding
///
/// Mail that arrives from now on is forwarded, at most 20 messages of an inbox a minute. Recipients
/// must be confirmed (`not_verified`).
#[utoipa::path(
    put,
    path = "/api/inboxes/{id}/forwarding",
    operation_id = "setForwarding",
    tag = "Forwarding",
    params(("id" = InboxId, Path, description = "The inbox.")),
    request_body = ForwardingInput,
    responses(
        (status = 200, description = "What it does with mail now.", body = Forwarding),
        (
            status = 409,
            description = "The server has no relay (`outbound_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<InboxId>,
    Body(input): Body<ForwardingInput>,
) -> Result<Json<Forwarding>> {
    let ForwardingInput { enabled, to, matching } = input;
    let new = Forwarding { enabled, to, matching };
    Ok(Json(app.forwarding().set_rule(&by, id, new).await?))
}

/// Forward a message
///
/// To confirmed addresses (`not_verified`), one mail for each.
#[utoipa::path(
    post,
    path = "/api/messages/{id}/forward",
    operation_id = "forwardMessage",
    tag = "Forwarding",
    params(("id" = MessageId, Path, description = "The message.")),
    request_body = ForwardInput,
    responses(
        (status = 200, description = "One forward for each recipient.", body = Vec<Forward>),
        (
            status = 409,
            description = "The server has no relay (`outbound_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn forward(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MessageId>,
    Body(input): Body<ForwardInput>,
) -> Result<Json<Vec<Forward>>> {
    Ok(Json(app.forwarding().forward(&by, id, &input.to).await?))
}

/// List a message's forwards
///
/// Newest first: what was forwarded by hand or by the inbox in the last 30 days, and where it stands.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/forward",
    operation_id = "listForwards",
    tag = "Forwarding",
    params(("id" = MessageId, Path, description = "The message.")),
    responses((status = 200, description = "The forwards.", body = Vec<Forward>))
)]
pub(crate) async fn forwards(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
) -> Result<Json<Vec<Forward>>> {
    Ok(Json(app.forwarding().forwards(&by, id).await?))
}

/// List forwarding addresses
///
/// Oldest first. Those without `verifiedAt` wait for their owner.
#[utoipa::path(
    get,
    path = "/api/forward-addresses",
    operation_id = "listForwardAddresses",
    tag = "Forwarding",
    responses((status = 200, description = "The addresses.", body = Vec<ForwardAddress>))
)]
pub(crate) async fn addresses(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<Vec<ForwardAddress>>> {
    Ok(Json(app.forwarding().addresses(&by).await?))
}

/// Add a forwarding address
///
/// Its owner gets a mail with a link, by which he agrees. For an address that waits already, another
/// link: at most one a minute, and five a day.
#[utoipa::path(
    post,
    path = "/api/forward-addresses",
    operation_id = "addForwardAddress",
    tag = "Forwarding",
    request_body = AddressInput,
    responses(
        (status = 201, description = "The new address.", body = ForwardAddress),
        (status = 200, description = "The address was there already.", body = ForwardAddress),
        (
            status = 409,
            description = "The server has no relay (`outbound_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<AddressInput>,
) -> Result<Response> {
    Ok(match app.forwarding().add_address(&by, &input.email).await? {
        AddedAddress::New(address) => Created(address).into_response(),
        AddedAddress::Known(address) => (StatusCode::OK, Json(address)).into_response(),
    })
}

/// Delete a forwarding address
///
/// Nothing is forwarded to it any more, and every inbox's forwarding leaves it out.
#[utoipa::path(
    delete,
    path = "/api/forward-addresses/{id}",
    operation_id = "deleteForwardAddress",
    tag = "Forwarding",
    params(("id" = ForwardAddressId, Path, description = "The address.")),
    responses((status = 204, description = "The address is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<ForwardAddressId>,
) -> Result<NoContent> {
    app.forwarding().delete_address(&by, id).await?;
    Ok(NoContent)
}

/// Get the forwarding status
///
/// Whether this server can send mail, and to how many a message can be forwarded at once.
#[utoipa::path(
    get,
    path = "/api/forwarding-status",
    operation_id = "getForwardingStatus",
    tag = "Forwarding",
    responses((status = 200, description = "The status.", body = ForwardingStatus))
)]
pub(crate) async fn status(State(app): State<Arc<App>>, _: Reader) -> Json<ForwardingStatus> {
    Json(app.forwarding().status())
}
