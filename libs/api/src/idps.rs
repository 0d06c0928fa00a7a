//! Mock identity providers.

pub(crate) mod events;
pub(crate) mod faults;
mod input;
pub(crate) mod users;

use std::sync::Arc;

use axum::{Json, extract::State};
use trapline_app::App;
use trapline_model::{Idp, IdpId};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Body, PathParams},
    reply::{Created, NoContent},
};
use input::{IdpChangeInput, IdpRotateInput, NewIdpInput};

/// List identity providers
///
/// The team's providers, oldest first. Keys that may only read see no secrets.
#[utoipa::path(
    get,
    path = "/api/idps",
    operation_id = "listIdps",
    tag = "Identity providers",
    responses((status = 200, description = "The identity providers.", body = Vec<Idp>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<Vec<Idp>>> {
    Ok(Json(app.idps().list(&by).await?))
}

/// Create an identity provider
///
/// It has a key of its own, and one client, whose secret is in the answer.
#[utoipa::path(
    post,
    path = "/api/idps",
    operation_id = "createIdp",
    tag = "Identity providers",
    request_body = NewIdpInput,
    responses((status = 201, description = "The new identity provider.", body = Idp))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    Body(input): Body<NewIdpInput>,
) -> Result<Created<Idp>> {
    Ok(Created(app.idps().create(&by, input.into()).await?))
}

/// Get an identity provider
///
/// Keys that may only read see no secret.
#[utoipa::path(
    get,
    path = "/api/idps/{id}",
    operation_id = "getIdp",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 200, description = "The identity provider.", body = Idp))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<IdpId>,
) -> Result<Json<Idp>> {
    Ok(Json(app.idps().get(&by, id).await?))
}

/// Change an identity provider
///
/// What changed counts from the next request on. `null` takes away what may be null.
#[utoipa::path(
    patch,
    path = "/api/idps/{id}",
    operation_id = "updateIdp",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    request_body = IdpChangeInput,
    responses((status = 200, description = "The changed identity provider.", body = Idp))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
    Body(input): Body<IdpChangeInput>,
) -> Result<Json<Idp>> {
    Ok(Json(app.idps().update(&by, id, input.into()).await?))
}

/// Delete an identity provider
///
/// With its users and its log. Its slug stays taken for 30 days.
#[utoipa::path(
    delete,
    path = "/api/idps/{id}",
    operation_id = "deleteIdp",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 204, description = "The identity provider is gone."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
) -> Result<NoContent> {
    app.idps().delete(&by, id).await?;
    Ok(NoContent)
}

/// Rotate the secret or the keys
///
/// An old secret is worth nothing at once. Old keys stay published for as long as tokens that they signed
/// may be good, and at least an hour.
#[utoipa::path(
    post,
    path = "/api/idps/{id}/rotate",
    operation_id = "rotateIdp",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    request_body = IdpRotateInput,
    responses((status = 200, description = "The changed identity provider.", body = Idp))
)]
pub(crate) async fn rotate(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
    Body(input): Body<IdpRotateInput>,
) -> Result<Json<Idp>> {
    Ok(Json(app.idps().rotate(&by, id, input.what.into()).await?))
}
