//! The activity log of a mock identity provider.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::{App, EventQuery};
use trapline_model::{IdpEvent, IdpEventId, IdpId};

use crate::{
    auth::{Reader, Writer},
    error::Result,
    extract::{Params, PathParams},
    reply::NoContent,
};

const DEFAULT_LIMIT: u16 = 50;

/// Which entries to list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct IdpEventsInput {
    /// Only what is newer: an entry's id, or an ISO 8601 time.
    #[param(max_length = 64)]
    after: Option<String>,
    /// Only what is older than the entry with this id.
    before: Option<IdpEventId>,
    /// The most entries to list.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u16>,
}

/// Read the activity log
///
/// What happened at the provider in the last 7 days, and why something was refused: the newest 2,000
/// entries, newest first.
#[utoipa::path(
    get,
    path = "/api/idps/{id}/events",
    operation_id = "listIdpEvents",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider."), IdpEventsInput),
    responses((status = 200, description = "The entries.", body = Vec<IdpEvent>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<IdpId>,
    Params(input): Params<IdpEventsInput>,
) -> Result<Json<Vec<IdpEvent>>> {
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT).into();
    let query = EventQuery { after: input.after, before: input.before, limit };
    Ok(Json(app.idps().events(&by, id, &query).await?))
}

/// Clear the activity log
///
/// What is still on its way when the log is cleared is not listed later.
#[utoipa::path(
    delete,
    path = "/api/idps/{id}/events",
    operation_id = "clearIdpEvents",
    tag = "Identity providers",
    params(("id" = IdpId, Path, description = "The identity provider.")),
    responses((status = 204, description = "The log is empty."))
)]
pub(crate) async fn clear(
    State(app): State<Arc<App>>,
    Writer(by): Writer,
    PathParams(id): PathParams<IdpId>,
) -> Result<NoContent> {
    app.idps().clear_events(&by, id).await?;
    Ok(NoContent)
}
