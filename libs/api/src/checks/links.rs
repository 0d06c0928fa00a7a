//! Checks that ask others, for whoever wants it.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::{LinkCheckReport, MessageId, OneClickReport};

use crate::{
    auth::Writer,
    error::Result,
    extract::{Body, PathParams},
};

/// Which links are asked.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LinkCheckOptions)]
pub(crate) struct LinkCheckInput {
    /// Only these, which the message must have; all when left out.
    #[schema(max_items = 100, example = json!(["https://example.com/welcome"]))]
    urls: Option<Vec<String>>,
    /// Asks also links that a visit may use up: to confirm, to sign in, to unsubscribe.
    #[serde(default)]
    #[schema(default = false, example = false)]
    actions: bool,
}

/// Check where links lead
///
/// Asks each link and image of the message, the first 100, and follows up to 5 redirects. Links that a visit may
/// use up are left alone, unless `actions` is true. Every address is checked before anything connects to it, and
/// nothing of an answer but its status is kept. It takes 25 seconds at most, and a team may do it 30 times
/// a minute. Nothing else starts it, and no answer is kept. An address that the message does not have is 400
/// (`unknown_link`).
#[utoipa::path(
    post,
    path = "/api/messages/{id}/link-check",
    operation_id = "checkLinks",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message.")),
    request_body = LinkCheckInput,
    responses(
        (status = 200, description = "Where they lead.", body = LinkCheckReport),
        (
            status = 409,
            description = "The server asks nobody about messages (`checks_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MessageId>,
    Body(input): Body<LinkCheckInput>,
) -> Result<Json<LinkCheckReport>> {
    Ok(Json(app.checks().links(&by, id, input.urls, input.actions).await?))
}

/// Unsubscribe by one click
///
/// Sends the request that a mailbox provider sends for a reader who unsubscribes (RFC 8058): a POST to the first
/// https address of List-Unsubscribe, with `List-Unsubscribe=One-Click` as its body. No cookie is sent, and no
/// redirect followed. Only for a message whose List-Unsubscribe-Post announces it: else `error` is
/// `no_one_click`. It takes 10 seconds at most.
#[utoipa::path(
    post,
    path = "/api/messages/{id}/unsubscribe",
    operation_id = "unsubscribeByOneClick",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message.")),
    responses(
        (status = 200, description = "What the address answered.", body = OneClickReport),
        (
            status = 409,
            description = "The server asks nobody about messages (`checks_disabled`).",
            body = crate::error::ErrorBody
        )
    )
)]
pub(crate) async fn one_click(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MessageId>,
) -> Result<Json<OneClickReport>> {
    Ok(Json(app.checks().one_click(&by, id).await?))
}
