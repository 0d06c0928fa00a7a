//! Test users of mock identity providers.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Map, Value};
use trapline_app::{App, IdpUserChange, NewIdpUser};
use trapline_model::{IdpId, IdpUser, IdpUserId};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, PathParams},
    openapi::AnyObject,
    reply::{Created, NoContent},
};

/// What a new test user is to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdpUserInput)]
pub(crate) struct NewIdpUserInput {
    /// The mail address, which may be that of an inbox.
    #[schema(max_length = 254, example = "ada@example.com")]
    email: String,
    /// The full name.
    #[schema(min_length = 1, max_length = 200, example = "Ada Lovelace")]
    name: String,
    /// The names of the user's groups, each of at most 256 characters.
    #[schema(nullable = false, max_items = 200)]
    groups: Option<Vec<String>>,
    /// More claims, of at most 16 KiB as JSON; they override others but for those of the protocol.
    #[schema(nullable = false, value_type = Option<AnyObject>)]
    claims: Option<Map<String, Value>>,
    /// What tokens call the user; the user's id when left out.
    #[schema(nullable = false, min_length = 1, max_length = 255)]
    subject: Option<String>,
}

impl From<NewIdpUserInput> for NewIdpUser {
    fn from(input: NewIdpUserInput) -> Self {
        Self {
            email: input.email,
            name: input.name,
            groups: input.groups.unwrap_or_default(),
            claims: input.claims.unwrap_or_default(),
            subject: input.subject,
        }
    }
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdpUserChange)]
pub(crate) struct IdpUserChangeInput {
    /// The mail address.
    #[schema(nullable = false, max_length = 254, example = "ada@example.com")]
    email: Option<String>,
    /// The full name.
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    name: Option<String>,
    /// The names of all of the user's groups.
    #[schema(nullable = false, max_items = 200)]
    groups: Option<Vec<String>>,
    /// All of the user's claims.
    #[schema(nullable = false, value_type = Option<AnyObject>)]
    claims: Option<Map<String, Value>>,
    /// What tokens call the user.
    #[schema(nullable = false, min_length = 1, max_length = 255)]
    subject: Option<String>,
}

impl From<IdpUserChangeInput> for IdpUserChange {
    fn from(input: IdpUserChangeInput) -> Self {
        let IdpUserChangeInput { email, name, groups, claims, subject } = input;
        Self { email, name, groups, claims, subject }
    }
}

/// List test users
///
/// The provider's users, oldest first.
#[utoipa::path(
    get,
    path = "/api/idps/{id}/users",
    operation_id = "listIdpUsers",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 200, description = "The test users.", body = Vec<IdpUser>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<IdpId>,
) -> Result<Json<Vec<IdpUser>>> {
    Ok(Json(app.idps().users(&by, id).await?))
}

/// Add a test user
///
/// Test users have no password: whoever signs in chooses one.
#[utoipa::path(
    post,
    path = "/api/idps/{id}/users",
    operation_id = "createIdpUser",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    request_body = NewIdpUserInput,
    responses((status = 201, description = "The new test user.", body = IdpUser))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
    Body(input): Body<NewIdpUserInput>,
) -> Result<Created<IdpUser>> {
    Ok(Created(app.idps().add_user(&by, id, input.into()).await?))
}

/// Change a test user
///
/// Groups and claims are replaced whole.
#[utoipa::path(
    patch,
    path = "/api/idps/{id}/users/{userId}",
    operation_id = "updateIdpUser",
    tag = "Identity providers",
    params(
        ("id" = IdpId, Path, description = "The identity provider."),
        ("userId" = IdpUserId, Path, description = "The test user.")
    ),
    request_body = IdpUserChangeInput,
    responses((status = 200, description = "The changed test user.", body = IdpUser))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, user)): PathParams<(IdpId, IdpUserId)>,
    Body(input): Body<IdpUserChangeInput>,
) -> Result<Json<IdpUser>> {
    Ok(Json(app.idps().update_user(&by, id, user, input.into()).await?))
}

/// Delete a test user
///
/// What the user was given is worth nothing any more.
#[utoipa::path(
    delete,
    path = "/api/idps/{id}/users/{userId}",
    operation_id = "deleteIdpUser",
    tag = "Identity providers",
    params(
        ("id" = IdpId, Path, description = "The identity provider."),
        ("userId" = IdpUserId, Path, description = "The test user.")
    ),
    responses((status = 204, description = "The test user is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams((id, user)): PathParams<(IdpId, IdpUserId)>,
) -> Result<NoContent> {
    app.idps().delete_user(&by, id, user).await?;
    Ok(NoContent)
}
