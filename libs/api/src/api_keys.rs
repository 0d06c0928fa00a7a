//! API keys, which people manage and keys do not.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trapline_app::{App, NewKey};
use trapline_model::{Access, ApiKeyId, ListedApiKey};

use crate::{
    auth::roles::Admin,
    error::Result,
    extract::{Body, PathParams},
    projects::Name,
    reply::{Created, NoContent},
};

/// What a key is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ApiKeyInput {
    /// For people.
    name: Name,
    /// What requests with it may do; write when left out.
    #[schema(nullable = false)]
    access: Option<Access>,
    /// After how many days it is refused; never when left out.
    #[schema(nullable = false, minimum = 1, maximum = 3650, example = 90)]
    expires_in_days: Option<u16>,
}

/// A key that was just made.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ApiKeyWithValue {
    #[serde(flatten)]
    made: ListedApiKey,
    /// What requests carry; it is shown this once.
    #[schema(example = "tl_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6")]
    key: String,
}

/// List API keys
///
/// The team's keys, newest first; never their values.
#[utoipa::path(
    get,
    path = "/api/api-keys",
    operation_id = "listApiKeys",
    tag = "Team",
    security(("session" = [])),
    responses((status = 200, description = "The keys.", body = Vec<ListedApiKey>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
) -> Result<Json<Vec<ListedApiKey>>> {
    Ok(Json(app.access().list_keys(&by).await?))
}

/// Create an API key
///
/// The answer holds its value, which is kept nowhere.
#[utoipa::path(
    post,
    path = "/api/api-keys",
    operation_id = "createApiKey",
    tag = "Team",
    security(("session" = [])),
    request_body = ApiKeyInput,
    responses((status = 201, description = "The new key.", body = ApiKeyWithValue))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    Body(input): Body<ApiKeyInput>,
) -> Result<Created<ApiKeyWithValue>> {
    let lifetime = input.expires_in_days.map(|days| Duration::from_hours(24 * u64::from(days)));
    let new = NewKey {
        name: input.name.into(),
        access: input.access.unwrap_or(Access::Write),
        expires_at: lifetime.map(|lifetime| app.now().after(lifetime)),
        value: None,
    };
    let (made, key) = app.access().make_key(&by, new).await?;
    Ok(Created(ApiKeyWithValue { made, key }))
}

/// Revoke an API key
///
/// At once where the request is answered, and within 5 seconds everywhere.
#[utoipa::path(
    delete,
    path = "/api/api-keys/{id}",
    operation_id = "revokeApiKey",
    tag = "Team",
    security(("session" = [])),
    params(("id" = ApiKeyId, Path, description = "The key.")),
    responses((status = 204, description = "The key is refused from now on."))
)]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    PathParams(id): PathParams<ApiKeyId>,
) -> Result<NoContent> {
    app.access().revoke_key(&by, id).await?;
    Ok(NoContent)
}
