//! Checks of a message.

pub(crate) mod auth;
pub(crate) mod links;

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::{ChecksOverview, HtmlReport, MessageId, SpamReport, UnsubscribeReport};

use crate::{
    auth::Reader,
    error::Result,
    extract::{Params, PathParams},
};

/// Get what checks are made with
///
/// The spam engines and whether they answer; the data set of the HTML check with its date, and the mail clients
/// with their weights.
#[utoipa::path(
    get,
    path = "/api/checks",
    operation_id = "getChecks",
    tag = "Checks",
    responses((status = 200, description = "Engines, data and clients.", body = ChecksOverview))
)]
pub(crate) async fn overview(State(app): State<Arc<App>>, _: Reader) -> Json<ChecksOverview> {
    Json(app.checks().overview().await)
}

/// Who is to judge.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpamInput {
    /// The engine; the first one of the server's setting when left out.
    #[param(min_length = 1, max_length = 20, example = "builtin")]
    engine: Option<String>,
}

/// Get the spam score
///
/// Which rules of a spam filter the message matches, with their points. The built-in engine asks nobody and
/// learns nothing: the same message has the same score until the version of the rules changes.
/// Other engines are the operator's (`--spam-engine`): what one said of a message holds for a minute, and there
/// is no fallback for one that has no answer.
/// An engine that this server does not have is 400 (`engine_not_configured`).
#[utoipa::path(
    get,
    path = "/api/messages/{id}/spam",
    operation_id = "getSpamReport",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message."), SpamInput),
    responses(
        (status = 200, description = "The score and the rules behind it.", body = SpamReport),
        (
            status = 503,
            description = "The engine has no answer (`spam_engine_unavailable`), or the service is not available.",
            body = crate::error::SpamEngineBody
        )
    )
)]
pub(crate) async fn spam(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<SpamInput>,
) -> Result<Json<Arc<SpamReport>>> {
    Ok(Json(app.checks().spam(&by, id, input.engine.as_deref()).await?))
}

/// Which clients are asked for.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HtmlCheckInput {
    /// Ids of clients, or families for all clients of one, with commas between; all clients when left out.
    #[param(min_length = 1, max_length = 1_000, example = "gmail,outlook.windows")]
    clients: Option<String>,
}

/// Check the HTML against mail clients
///
/// Which features of the HTML which mail clients do not support, by the data set "Can I email", and a score
/// of that. Nothing is fetched. A message without HTML has no score. A client that nobody knows is 400
/// (`unknown_client`).
#[utoipa::path(
    get,
    path = "/api/messages/{id}/html-check",
    operation_id = "getHtmlReport",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message."), HtmlCheckInput),
    responses((status = 200, description = "The scores and what they are made of.", body = HtmlReport))
)]
pub(crate) async fn html(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
    Params(input): Params<HtmlCheckInput>,
) -> Result<Json<Arc<HtmlReport>>> {
    let clients: Vec<_> = input.clients.iter().flat_map(|list| list.split(',')).collect();
    Ok(Json(app.checks().html(&by, id, &clients).await?))
}

/// Check how one unsubscribes
///
/// What List-Unsubscribe says (RFC 2369), whether one click is enough (RFC 8058), and what is wrong with it.
/// Nobody is asked, and nothing is sent.
#[utoipa::path(
    get,
    path = "/api/messages/{id}/unsubscribe",
    operation_id = "getUnsubscribeReport",
    tag = "Checks",
    params(("id" = MessageId, Path, description = "The message.")),
    responses((
        status = 200,
        description = "The addresses to unsubscribe at, and what is wrong.",
        body = UnsubscribeReport
    ))
)]
pub(crate) async fn unsubscribe(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<MessageId>,
) -> Result<Json<Arc<UnsubscribeReport>>> {
    Ok(Json(app.checks().unsubscribe(&by, id).await?))
}
