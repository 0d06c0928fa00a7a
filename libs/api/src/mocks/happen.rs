//! What a test makes happen in a mock, where the provider would wait for time, a person or the outside.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use trapline_app::App;
use trapline_model::{MockHappened, MockId};
use utoipa::openapi::{
    ObjectBuilder, RefOr, Schema,
    schema::{AdditionalProperties, Type},
};

use crate::{
    auth::Writer,
    error::Result,
    extract::{Body, PathParams},
};

/// Where to move an object.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MockMove)]
pub(crate) struct MockMoveInput {
    /// A state to which the object's flow leads; its usual next one when left out or null.
    #[schema(min_length = 1, max_length = 60, example = "complete")]
    to: Option<String>,
}

/// What comes from outside.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MockTrigger)]
pub(crate) struct MockTriggerInput {
    /// An event of the provider's that comes from outside.
    #[schema(min_length = 1, max_length = 100, example = "charge.dispute.created")]
    event: String,
    /// The provider's id of the object that it is about; null where it is about none.
    #[schema(min_length = 1, max_length = 500, example = "ch_1")]
    object_id: Option<String>,
    /// What is said of it, in the provider's own fields.
    #[schema(nullable = false)]
    data: Option<TriggerData>,
}

/// What is said of something that comes from outside.
#[derive(Debug, Deserialize)]
pub(crate) struct TriggerData(Value);

impl utoipa::PartialSchema for TriggerData {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .description(Some("What is said of it, in the provider's own fields."))
            .examples([json!({ "reason": "fraudulent" })])
            .into()
    }
}

impl utoipa::ToSchema for TriggerData {
    fn name() -> std::borrow::Cow<'static, str> {
        "MockTriggerData".into()
    }
}

/// Move an object
///
/// Takes an object a step along its flow, as time or a person would, and sends the webhooks of that.
#[utoipa::path(
    post,
    path = "/api/mocks/{id}/objects/{objectId}/move",
    operation_id = "moveMockObject",
    tag = "Mocks",
    params(
        ("id" = MockId, Path, description = "The mock."),
        ("objectId" = String, Path, description = "The provider's id of the object.")
    ),
    request_body = MockMoveInput,
    responses((status = 200, description = "What happened.", body = MockHappened))
)]
pub(crate) async fn move_object(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, object)): PathParams<(MockId, String)>,
    Body(input): Body<MockMoveInput>,
) -> Result<Json<MockHappened>> {
    Ok(Json(app.mocks().move_object(&by, id, &object, input.to.as_deref()).await?))
}

/// Trigger an event
///
/// Lets something come from outside, such as a message or a dispute, and sends the webhooks of that.
#[utoipa::path(
    post,
    path = "/api/mocks/{id}/trigger",
    operation_id = "triggerMockEvent",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    request_body = MockTriggerInput,
    responses((status = 200, description = "What happened.", body = MockHappened))
)]
pub(crate) async fn trigger(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MockId>,
    Body(input): Body<MockTriggerInput>,
) -> Result<Json<MockHappened>> {
    let data = input.data.map_or(Value::Null, |TriggerData(data)| data);
    let object = input.object_id.as_deref();
    Ok(Json(app.mocks().trigger(&by, id, &input.event, object, &data).await?))
}
