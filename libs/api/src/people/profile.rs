//! What people change about themselves.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::Me;

use crate::{auth::Person, error::Result, extract::Body};

/// What a person is to be called.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonChange {
    /// The name that others see; that of the address where it is empty.
    #[schema(max_length = 100, example = "Ada Lovelace")]
    name: String,
}

/// Change one's name
///
/// Every team of the person sees the new name, and has the change in its audit log.
#[utoipa::path(
    patch,
    path = "/api/auth/me",
    operation_id = "updateMe",
    tag = "People",
    security(("session" = [])),
    request_body = PersonChange,
    responses((status = 200, description = "Who is signed in.", body = Me))
)]
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Person(who): Person,
    Body(input): Body<PersonChange>,
) -> Result<Json<Me>> {
    app.people().rename(&who, &input.name).await?;
    Ok(Json(app.people().me(&who).await?))
}
