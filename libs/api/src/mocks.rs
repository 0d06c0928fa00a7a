//! Mocks of other providers' APIs.

pub(crate) mod happen;
pub(crate) mod log;

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use trapline_app::{App, MockChange, NewMock};
use trapline_model::{ApiMock, MockId, MockProvider, ProjectId};
use utoipa::openapi::{
    ObjectBuilder, RefOr, Schema,
    schema::{AdditionalProperties, Type},
};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, Params, PathParams, given},
    reply::{Created, NoContent},
};

/// What a new mock is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MockInput)]
pub(crate) struct NewMockInput {
    /// What people call it.
    #[schema(min_length = 1, max_length = 200, example = "Checkout tests")]
    name: String,
    /// An id of `GET /api/mocks/providers`.
    #[schema(min_length = 1, max_length = 40, example = "stripe")]
    provider: String,
    /// Where it sends what happens: http or https, without credentials or a fragment. Nowhere when left out or
    /// null.
    #[schema(max_length = 2048, example = json!(null))]
    webhook_url: Option<String>,
    /// The project that it is grouped under; none when left out or null.
    #[schema(example = json!(null))]
    project_id: Option<ProjectId>,
    /// Minutes after which it goes with all that it holds; never when left out.
    #[schema(minimum = 1, maximum = 10080, nullable = false, example = 60)]
    expires_in_minutes: Option<u32>,
}

impl From<NewMockInput> for NewMock {
    fn from(input: NewMockInput) -> Self {
        Self {
            name: input.name,
            provider: input.provider,
            webhook_url: input.webhook_url,
            project: input.project_id,
            expires_in_minutes: input.expires_in_minutes,
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MockChange)]
pub(crate) struct MockChangeInput {
    /// What people call it.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Where it sends what happens; null for nowhere.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 2048, example = json!(null))]
    webhook_url: Option<Option<String>>,
    /// The project; null for none.
    #[expect(clippy::option_option, reason = "null is not the same as left out")]
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<ProjectId>, example = json!(null))]
    project_id: Option<Option<ProjectId>>,
    /// A JSON merge patch (RFC 7396): a setting that is null has its default again, what is left out stays.
    #[schema(nullable = false)]
    settings: Option<SettingsPatch>,
}

impl From<MockChangeInput> for MockChange {
    fn from(input: MockChangeInput) -> Self {
        Self {
            name: input.name,
            webhook_url: input.webhook_url,
            project: input.project_id,
            settings: input.settings.map(|SettingsPatch(patch)| patch),
        }
    }
}

/// Settings to change, by their names; the provider says which there are.
#[derive(Debug, Deserialize)]
pub(crate) struct SettingsPatch(Value);

impl utoipa::PartialSchema for SettingsPatch {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .description(Some("Settings to change, by their names."))
            .examples([json!({ "decline": "insufficient_funds" })])
            .into()
    }
}

impl utoipa::ToSchema for SettingsPatch {
    fn name() -> std::borrow::Cow<'static, str> {
        "MockSettingsPatch".into()
    }
}

/// Which mocks to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MocksInput {
    /// Only those of providers of a category: `payments`, `banking`, `identity`, `messaging`, `esign`, `erp`, `crm`,
    /// `data` or `analytics`; `business` is `esign`, `erp`, `data` and `analytics`.
    #[param(min_length = 1, max_length = 40, example = "payments")]
    category: Option<String>,
    /// Only those of one provider.
    #[param(min_length = 1, max_length = 40, example = "stripe")]
    provider: Option<String>,
}

/// Which credential to replace.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MockRotation)]
pub(crate) struct MockRotateInput {
    /// A name of the mock's `credentials`, `secretKey` for the main one, or `all`.
    #[schema(min_length = 1, max_length = 40, example = "secretKey")]
    credential: String,
}

/// List providers
///
/// The providers that a mock can be made of, with their decline codes, events and settings.
#[utoipa::path(
    get,
    path = "/api/mocks/providers",
    operation_id = "listMockProviders",
    tag = "Mocks",
    responses((status = 200, description = "The providers.", body = Vec<MockProvider>))
)]
pub(crate) async fn providers(
    State(app): State<Arc<App>>,
    Reader(_by): Reader,
) -> Json<Vec<MockProvider>> {
    Json(app.mocks().providers())
}

/// List mocks
///
/// The team's mocks, oldest first, without credentials and snippets.
#[utoipa::path(
    get,
    path = "/api/mocks",
    operation_id = "listMocks",
    tag = "Mocks",
    params(MocksInput),
    responses((status = 200, description = "The mocks.", body = Vec<ApiMock>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    Params(input): Params<MocksInput>,
) -> Result<Json<Vec<ApiMock>>> {
    let (category, provider) = (input.category.as_deref(), input.provider.as_deref());
    Ok(Json(app.mocks().list(&by, category, provider).await?))
}

/// Create a mock
///
/// The answer has its address, its credentials, and snippets that point an SDK at it.
#[utoipa::path(
    post,
    path = "/api/mocks",
    operation_id = "createMock",
    tag = "Mocks",
    request_body = NewMockInput,
    responses((status = 201, description = "The new mock.", body = ApiMock))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<NewMockInput>,
) -> Result<Created<ApiMock>> {
    Ok(Created(app.mocks().create(&by, input.into()).await?))
}

/// Get a mock
///
/// With its credentials and snippets, for whoever may read: they open nothing but the mock.
#[utoipa::path(
    get,
    path = "/api/mocks/{id}",
    operation_id = "getMock",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    responses((status = 200, description = "The mock.", body = ApiMock))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MockId>,
) -> Result<Json<ApiMock>> {
    Ok(Json(app.mocks().get(&by, id).await?))
}

/// Change a mock
///
/// The next call meets the change.
#[utoipa::path(
    patch,
    path = "/api/mocks/{id}",
    operation_id = "updateMock",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    request_body = MockChangeInput,
    responses((status = 200, description = "The changed mock.", body = ApiMock))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MockId>,
    Body(input): Body<MockChangeInput>,
) -> Result<Json<ApiMock>> {
    Ok(Json(app.mocks().update(&by, id, input.into()).await?))
}

/// Delete a mock
///
/// Its address is gone, with all that it holds.
#[utoipa::path(
    delete,
    path = "/api/mocks/{id}",
    operation_id = "deleteMock",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    responses((status = 204, description = "The mock is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MockId>,
) -> Result<NoContent> {
    app.mocks().delete(&by, id).await?;
    Ok(NoContent)
}

/// Rotate credentials
///
/// Replaces one credential or all. The old value holds for no call that comes after the answer.
#[utoipa::path(
    post,
    path = "/api/mocks/{id}/rotate",
    operation_id = "rotateMock",
    tag = "Mocks",
    params(("id" = MockId, Path, description = "The mock.")),
    request_body = MockRotateInput,
    responses((status = 200, description = "The mock.", body = ApiMock))
)]
pub(crate) async fn rotate(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<MockId>,
    Body(input): Body<MockRotateInput>,
) -> Result<Json<ApiMock>> {
    Ok(Json(app.mocks().rotate(&by, id, &input.credential).await?))
}
