//! A team's first steps.

use std::sync::Arc;

use axum::{Json, extract::State};
use trapline_app::App;
use trapline_model::Onboarding;

use crate::{auth::Reader, error::Result};

/// Show first steps
///
/// What a team does first, and which of it has really happened. A step that was made once stays made.
#[utoipa::path(
    get,
    path = "/api/onboarding",
    operation_id = "getOnboarding",
    tag = "Team",
    responses((status = 200, description = "The steps.", body = Onboarding))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
) -> Result<Json<Onboarding>> {
    Ok(Json(app.first_steps().of(&by).await?))
}
