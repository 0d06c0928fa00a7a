//! What a mock was asked, what it keeps, and what it sent.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, CallQuery, DeliveryQuery};
use trapline_model::{
    MockCallDetails, MockCallId, MockCallPage, MockDelivery, MockDeliveryDetails, MockDeliveryId,
    MockId, MockObject,
};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Params, PathParams},
    reply::NoContent,
};

const DEFAULT_LIMIT: u16 = 50;

/// Which calls to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallsInput {
    /// Only calls that read or wrote the object with this id of the provider's.
    #[param(min_length = 1, max_length = 500)]
    object_id: Option<String>,
    /// Which page, from 1.
    #[param(minimum = 1, maximum = 10000, default = 1)]
    page: Option<u32>,
    /// The most calls of a page.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// Which deliveries to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveriesInput {
    /// Only those that tell of the object with this id of the provider's.
    #[param(min_length = 1, max_length = 500)]
    object_id: Option<String>,
    /// Only those of one event of the provider's.
    #[param(min_length = 1, max_length = 100, example = "payment_intent.succeeded")]
    event: Option<String>,
    /// The most deliveries to list.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// Which objects to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ObjectsInput {
    /// Only those of one kind of the provider's.
    #[param(min_length = 1, max_length = 40, example = "payments")]
    kind: Option<String>,
    /// The most objects to list.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// List calls
///
/// What the app under test asked of the mock in the last 7 days: the newest 10,000 calls, newest first.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}/calls",
    operation_id = "listMockCalls",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock."), CallsInput),
    responses((status = 200, description = "The calls.", body = MockCallPage))
)]
pub(crate) async fn calls(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MockId>,
    Params(input): Params<CallsInput>,
) -> Result<Json<MockCallPage>> {
    let query = CallQuery {
        object_id: input.object_id,
        page: input.page.unwrap_or(1),
        limit: input.limit.unwrap_or(DEFAULT_LIMIT),
    };
    Ok(Json(app.mocks().calls(&by, id, query).await?))
}

/// Clear a mock
///
/// Removes its calls, webhooks and objects, and what is left of `next`; settings and credentials stay.
#[utoipa::path(
    delete,
    path = "/api/mocks/{id}/calls",
    operation_id = "clearMock",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    responses((status = 204, description = "The mock is as new."))
)]
pub(crate) async fn clear(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MockId>,
) -> Result<NoContent> {
    app.mocks().clear(&by, id).await?;
    Ok(NoContent)
}

/// Get a call
///
/// With headers and bodies as far as they are kept: secrets and card numbers are hidden.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}/calls/{callId}",
    operation_id = "getMockCall",
    tag = "Mocks",
    params(
        ("id" = MockId, Path, description = "The mock."),
        ("callId" = MockCallId, Path, description = "The call.")
    ),
    responses((status = 200, description = "The call.", body = MockCallDetails))
)]
pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams((id, call)): PathParams<(MockId, MockCallId)>,
) -> Result<Json<MockCallDetails>> {
    Ok(Json(app.mocks().call(&by, id, call).await?))
}

/// List webhooks of a mock
///
/// What the mock sent to the app in the last 30 days, newest first.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}/webhooks",
    operation_id = "listMockWebhooks",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock."), DeliveriesInput),
    responses((status = 200, description = "The deliveries.", body = Vec<MockDelivery>))
)]
pub(crate) async fn webhooks(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MockId>,
    Params(input): Params<DeliveriesInput>,
) -> Result<Json<Vec<MockDelivery>>> {
    let query = DeliveryQuery {
        object_id: input.object_id,
        event: input.event,
        limit: input.limit.unwrap_or(DEFAULT_LIMIT),
    };
    Ok(Json(app.mocks().deliveries(&by, id, query).await?))
}

/// Get a webhook of a mock
///
/// With the body, and the headers of the last attempt.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}/webhooks/{deliveryId}",
    operation_id = "getMockWebhook",
    tag = "Mocks",
    params(
        ("id" = MockId, Path, description = "The mock."),
        ("deliveryId" = MockDeliveryId, Path, description = "The delivery.")
    ),
    responses((status = 200, description = "The delivery.", body = MockDeliveryDetails))
)]
pub(crate) async fn webhook(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams((id, delivery)): PathParams<(MockId, MockDeliveryId)>,
) -> Result<Json<MockDeliveryDetails>> {
    Ok(Json(app.mocks().delivery(&by, id, delivery).await?))
}

/// Replay a webhook of a mock
///
/// Sends the same bytes again, freshly signed, as a delivery of its own.
#[utoipa::path(
    post,
    path = "/api/mocks/{id}/webhooks/{deliveryId}/replay",
    operation_id = "replayMockWebhook",
    tag = "Mocks",
    params(
        ("id" = MockId, Path, description = "The mock."),
        ("deliveryId" = MockDeliveryId, Path, description = "The earlier delivery.")
    ),
    responses((status = 200, description = "The new delivery.", body = MockDelivery))
)]
pub(crate) async fn replay(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, delivery)): PathParams<(MockId, MockDeliveryId)>,
) -> Result<Json<MockDelivery>> {
    Ok(Json(app.mocks().replay(&by, id, delivery).await?))
}

/// List objects
///
/// What the mock keeps, newest first, each with the provider's own JSON.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}/objects",
    operation_id = "listMockObjects",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock."), ObjectsInput),
    responses((status = 200, description = "The objects.", body = Vec<MockObject>))
)]
pub(crate) async fn objects(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MockId>,
    Params(input): Params<ObjectsInput>,
) -> Result<Json<Vec<MockObject>>> {
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    Ok(Json(app.mocks().objects(&by, id, input.kind.as_deref(), limit).await?))
}
