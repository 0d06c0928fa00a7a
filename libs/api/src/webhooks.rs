//! Webhooks.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, NewWebhook, WebhookChange};
use trapline_model::{Delivery, DeliveryId, InboxId, Subscription, Webhook, WebhookId};

use crate::{
    auth::{Reader, Writer},
    error::{PlanBody, Result},
    extract::{Body, Params, PathParams, given},
    reply::{Created, NoContent},
};

const DEFAULT_LIMIT: u16 = 50;

/// What a new webhook is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WebhookInput)]
pub(crate) struct NewWebhookInput {
    /// Where events are sent: http or https, without credentials or a fragment.
    #[schema(max_length = 2048, example = "https://app.example.com/hooks/mail")]
    url: String,
    /// The only inbox it is told of; every inbox of the team when left out or null.
    #[schema(example = json!(null))]
    inbox_id: Option<InboxId>,
    /// The only events it is told of; all when left out or empty.
    #[schema(nullable = false, max_items = 10)]
    events: Option<Vec<Subscription>>,
    /// Whether anything is delivered; true when left out.
    #[schema(nullable = false, example = true)]
    enabled: Option<bool>,
}

impl From<NewWebhookInput> for NewWebhook {
    fn from(input: NewWebhookInput) -> Self {
        Self {
            url: input.url,
            inbox: input.inbox_id,
            events: distinct(input.events.unwrap_or_default()),
            enabled: input.enabled.unwrap_or(true),
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WebhookChange)]
pub(crate) struct WebhookChangeInput {
    /// Where events are sent: http or https, without credentials or a fragment.
    #[schema(nullable = false, max_length = 2048)]
    url: Option<String>,
    /// The only inbox it is told of; null for every inbox of the team.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<InboxId>, example = json!(null))]
    inbox_id: Option<Option<InboxId>>,
    /// The only events it is told of; all when empty.
    #[schema(nullable = false, max_items = 10)]
    events: Option<Vec<Subscription>>,
    /// Whether anything is delivered.
    #[schema(nullable = false, example = true)]
    enabled: Option<bool>,
}

impl From<WebhookChangeInput> for WebhookChange {
    fn from(input: WebhookChangeInput) -> Self {
        Self {
            url: input.url,
            inbox: input.inbox_id,
            events: input.events.map(distinct),
            enabled: input.enabled,
        }
    }
}

fn distinct(mut events: Vec<Subscription>) -> Vec<Subscription> {
    events.dedup();
    events
}

/// How much of the log to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogInput {
    /// The most deliveries to list.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// List webhooks
///
/// The team's webhooks, oldest first. Keys that may only read see no secrets.
#[utoipa::path(
    get,
    path = "/api/webhooks",
    operation_id = "listWebhooks",
    tag = "Webhooks",
    responses((status = 200, description = "The webhooks.", body = Vec<Webhook>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<Vec<Webhook>>> {
    Ok(Json(app.webhooks().list(&by).await?))
}

/// Create a webhook
///
/// The answer holds the secret that its deliveries are signed with.
#[utoipa::path(
    post,
    path = "/api/webhooks",
    operation_id = "createWebhook",
    tag = "Webhooks",
    request_body = NewWebhookInput,
    responses(
        (status = 201, description = "The new webhook.", body = Webhook),
        (status = 402, description = "The team's plan does not allow it (`feature_unavailable`).", body = PlanBody)
    )
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<NewWebhookInput>,
) -> Result<Created<Webhook>> {
    Ok(Created(app.webhooks().create(&by, input.into()).await?))
}

/// Get a webhook
///
/// Keys that may only read see no secret.
#[utoipa::path(
    get,
    path = "/api/webhooks/{id}",
    operation_id = "getWebhook",
    tag = "Webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 200, description = "The webhook.", body = Webhook))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<WebhookId>,
) -> Result<Json<Webhook>> {
    Ok(Json(app.webhooks().get(&by, id).await?))
}

/// Change a webhook
///
/// What waits for it goes to its new address; while it is not enabled, what is due ends as failed.
#[utoipa::path(
    patch,
    path = "/api/webhooks/{id}",
    operation_id = "updateWebhook",
    tag = "Webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    request_body = WebhookChangeInput,
    responses((status = 200, description = "The changed webhook.", body = Webhook))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<WebhookId>,
    Body(input): Body<WebhookChangeInput>,
) -> Result<Json<Webhook>> {
    Ok(Json(app.webhooks().update(&by, id, input.into()).await?))
}

/// Delete a webhook
///
/// What waits for it is not sent.
#[utoipa::path(
    delete,
    path = "/api/webhooks/{id}",
    operation_id = "deleteWebhook",
    tag = "Webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 204, description = "The webhook is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<WebhookId>,
) -> Result<NoContent> {
    app.webhooks().delete(&by, id).await?;
    Ok(NoContent)
}

/// Send a test event
///
/// Calls the webhook once, now, with a signed `webhook.test`; at most once in 2 seconds.
#[utoipa::path(
    post,
    path = "/api/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses(
        (status = 200, description = "How it went.", body = Delivery),
        (status = 402, description = "The team's plan does not allow it (`feature_unavailable`).", body = PlanBody)
    )
)]
pub(crate) async fn test(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<WebhookId>,
) -> Result<Json<Delivery>> {
    Ok(Json(app.webhooks().test(&by, id).await?))
}

/// List deliveries
///
/// The webhook's deliveries of the last 30 days, newest first.
#[utoipa::path(
    get,
    path = "/api/webhooks/{id}/deliveries",
    operation_id = "listDeliveries",
    tag = "Webhooks",
    params(("id" = WebhookId, Path, description = "The webhook."), LogInput),
    responses((status = 200, description = "The deliveries.", body = Vec<Delivery>))
)]
pub(crate) async fn deliveries(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<WebhookId>,
    Params(input): Params<LogInput>,
) -> Result<Json<Vec<Delivery>>> {
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT).into();
    Ok(Json(app.webhooks().deliveries(&by, id, limit).await?))
}

/// Redeliver
///
/// Sends an earlier delivery's payload again, with a new signature and all attempts anew, as a delivery
/// of its own.
#[utoipa::path(
    post,
    path = "/api/webhooks/{id}/deliveries/{deliveryId}",
    operation_id = "redeliver",
    tag = "Webhooks",
    params(
        ("id" = WebhookId, Path, description = "The webhook."),
        ("deliveryId" = DeliveryId, Path, description = "The earlier delivery.")
    ),
    responses(
        (status = 200, description = "The new delivery.", body = Delivery),
        (status = 402, description = "The team's plan does not allow it (`feature_unavailable`).", body = PlanBody)
    )
)]
pub(crate) async fn redeliver(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, delivery)): PathParams<(WebhookId, DeliveryId)>,
) -> Result<Json<Delivery>> {
    Ok(Json(app.webhooks().redeliver(&by, id, delivery).await?))
}
