//! A person's own sessions.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::{Me, OwnSession, TeamId};

use crate::{
    auth::{Person, Site},
    error::{ErrorBody, Result},
    extract::{Body, PathParams},
    reply::NoContent,
};

/// Which team requests are to act for.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TeamChoice)]
pub(crate) struct TeamChoiceInput {
    /// One of the person's teams.
    team_id: TeamId,
}

/// List one's sessions
///
/// Newest first: where and when one signed in, and was last seen, to the minute.
#[utoipa::path(
    get,
    path = "/api/auth/sessions",
    operation_id = "listSessions",
    tag = "People",
    security(("session" = [])),
    responses((status = 200, description = "The sessions.", body = Vec<OwnSession>))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
    Person(who): Person,
) -> Result<Json<Vec<OwnSession>>> {
    let token = site.token(&headers).unwrap_or_default();
    Ok(Json(app.people().sessions(&who, token).await?))
}

/// End one's other sessions
///
/// All but the one that asks: at once here, within 5 seconds everywhere.
#[utoipa::path(
    delete,
    path = "/api/auth/sessions",
    operation_id = "endOtherSessions",
    tag = "People",
    security(("session" = [])),
    responses((status = 204, description = "They have ended."))
)]
pub(crate) async fn end_others(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
    Person(who): Person,
) -> Result<NoContent> {
    app.people().end_other_sessions(&who, site.token(&headers).unwrap_or_default()).await?;
    Ok(NoContent)
}

/// End one of one's sessions
///
/// At once here, within 5 seconds everywhere.
#[utoipa::path(
    delete,
    path = "/api/auth/sessions/{id}",
    operation_id = "endSession",
    tag = "People",
    params((
        "id" = String,
        Path,
        description = "The session.",
        min_length = 1,
        max_length = 64
    )),
    security(("session" = [])),
    responses((status = 204, description = "It has ended."))
)]
pub(crate) async fn end(
    State(app): State<Arc<App>>,
    Person(who): Person,
    PathParams(id): PathParams<String>,
) -> Result<NoContent> {
    app.people().end_session(&who, &id).await?;
    Ok(NoContent)
}

/// Switch to another of one's teams
///
/// From then on requests of this session act for that team: at once here, within 5 seconds everywhere.
#[utoipa::path(
    post,
    path = "/api/auth/team",
    operation_id = "switchTeam",
    tag = "People",
    security(("session" = [])),
    request_body = TeamChoiceInput,
    responses(
        (status = 200, description = "Who is signed in.", body = Me),
        (status = 404, description = "The person is not in such a team.", body = ErrorBody)
    )
)]
pub(crate) async fn switch_team(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
    Person(who): Person,
    Body(input): Body<TeamChoiceInput>,
) -> Result<Json<Me>> {
    let token = site.token(&headers).unwrap_or_default();
    let who = app.people().switch_team(&who, token, input.team_id).await?;
    Ok(Json(app.people().me(&who).await?))
}
