//! Checks of a message.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::{MessageId, SpamReport};

use crate::{
    auth::Reader,
    error::Result,
    extract::{Params, PathParams},
};

/// Who is to judge.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpamInput {
    /// The engine; the built-in one when left out.
    #[param(min_length = 1, max_length = 20, example = "builtin")]
    engine: Option<String>,
}

/// Get the spam score
///
/// Which rules of a spam filter the message matches, with their points. The built-in engine asks nobody and
/// learns nothing: the same message has the same score until the version of the rules changes.
/// An engine that this server does not have is 400 (`engine_not_configured`).
#[utoipa::path(
    get,
    path = "/api/messages/{id}/spam",
    operation_id = "getSpamReport",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message."), SpamInput),
    responses((status = 200, description = "The score and the rules behind it.", body = SpamReport))
)]
pub(crate) async fn spam(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<SpamInput>,
) -> Result<Json<SpamReport>> {
    Ok(Json(app.checks().spam(&by, id, input.engine.as_deref()).await?))
}
