//! The team: its people and invitations. Keys decide about none of it.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use trapline_app::App;
use trapline_model::{
    InvitationId, Member, OpenInvitation, PersonId, RemovedMember, Role, TeamProfile,
};

use crate::{
    auth::roles::{Admin, TeamOwner, Teammate},
    error::{ErrorBody, PlanBody, Result},
    extract::{Body, PathParams},
    projects::Name,
    reply::{Created, NoContent},
};

/// What a team is to be called.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TeamChange {
    /// For people.
    name: Name,
}

/// Whose role is to be which.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberChange {
    /// The new role. The owner's changes by handing the team over.
    role: AssignableRole,
}

/// A role that an admin gives.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AssignableRole {
    /// Uses what the team has.
    Member,
    /// Also decides about the team's people, keys and settings.
    Admin,
}

impl From<AssignableRole> for Role {
    fn from(role: AssignableRole) -> Self {
        match role {
            AssignableRole::Member => Self::Member,
            AssignableRole::Admin => Self::Admin,
        }
    }
}

/// Who is to be invited.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvitationInput {
    /// The address.
    #[schema(min_length = 1, max_length = 254, example = "ada@example.com")]
    email: String,
    /// What they will be to the team; member when left out.
    #[schema(nullable = false)]
    role: Option<AssignableRole>,
}

/// Which team is to be deleted.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TeamDeletion {
    /// The team's name, said once more.
    #[schema(min_length = 1, max_length = 100, example = "Checkout")]
    name: String,
}

/// Who is to own the team.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TransferInput {
    /// Somebody who is in the team.
    person_id: PersonId,
}

/// Get the team
///
/// The team that requests act for.
#[utoipa::path(
    get,
    path = "/api/team",
    operation_id = "getTeam",
    tag = "Team",
    security(("session" = [])),
    responses((status = 200, description = "The team.", body = TeamProfile))
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Teammate(by): Teammate,
) -> Result<Json<TeamProfile>> {
    Ok(Json(app.teams().get(&by).await?))
}

/// Rename the team
///
/// For admins.
#[utoipa::path(
    patch,
    path = "/api/team",
    operation_id = "renameTeam",
    tag = "Team",
    security(("session" = [])),
    request_body = TeamChange,
    responses((status = 200, description = "The team.", body = TeamProfile))
)]
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    Body(input): Body<TeamChange>,
) -> Result<Json<TeamProfile>> {
    Ok(Json(app.teams().rename(&by, input.name.into()).await?))
}

/// Delete the team
///
/// For the owner: with everything in it, and for good. Keys, sessions and addresses of the team are refused
/// at once here and within 5 seconds everywhere; what it had is removed within a day. People go on in
/// another of their teams. The first team of a server cannot be deleted (`first_team`).
#[utoipa::path(
    delete,
    path = "/api/team",
    operation_id = "deleteTeam",
    tag = "Team",
    security(("session" = [])),
    request_body = TeamDeletion,
    responses((status = 204, description = "The team is deleted."))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    TeamOwner(by): TeamOwner,
    Body(input): Body<TeamDeletion>,
) -> Result<NoContent> {
    app.teams().delete(&by, &input.name).await?;
    Ok(NoContent)
}

/// List members
///
/// The team's people, longest member first.
#[utoipa::path(
    get,
    path = "/api/team/members",
    operation_id = "listMembers",
    tag = "Team",
    security(("session" = [])),
    responses((status = 200, description = "The people.", body = Vec<Member>))
)]
pub(crate) async fn members(
    State(app): State<Arc<App>>,
    Teammate(by): Teammate,
) -> Result<Json<Vec<Member>>> {
    Ok(Json(app.teams().members(&by).await?))
}

/// Change a role
///
/// For admins. It holds within 5 seconds everywhere.
#[utoipa::path(
    patch,
    path = "/api/team/members/{id}",
    operation_id = "changeRole",
    tag = "Team",
    security(("session" = [])),
    params(("id" = PersonId, Path, description = "The person.")),
    request_body = MemberChange,
    responses((status = 200, description = "The person.", body = Member))
)]
pub(crate) async fn change_role(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    PathParams(id): PathParams<PersonId>,
    Body(input): Body<MemberChange>,
) -> Result<Json<Member>> {
    Ok(Json(app.teams().change_role(&by, id, input.role.into()).await?))
}

/// Remove a member
///
/// For admins. The person's sessions act for another of their teams then, or for none. The answer lists the keys that the person
/// made, which still work.
#[utoipa::path(
    delete,
    path = "/api/team/members/{id}",
    operation_id = "removeMember",
    tag = "Team",
    security(("session" = [])),
    params(("id" = PersonId, Path, description = "The person.")),
    responses((status = 200, description = "What is left to review.", body = RemovedMember))
)]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    PathParams(id): PathParams<PersonId>,
) -> Result<Json<RemovedMember>> {
    Ok(Json(app.teams().remove(&by, id).await?))
}

/// Leave the team
///
/// The owner hands the team over first.
#[utoipa::path(
    post,
    path = "/api/team/leave",
    operation_id = "leaveTeam",
    tag = "Team",
    security(("session" = [])),
    responses((status = 204, description = "The person is no longer in it."))
)]
pub(crate) async fn leave(
    State(app): State<Arc<App>>,
    Teammate(by): Teammate,
) -> Result<NoContent> {
    app.teams().leave(&by).await?;
    Ok(NoContent)
}

/// Hand the team over
///
/// For the owner, who is an admin from then on.
#[utoipa::path(
    post,
    path = "/api/team/transfer",
    operation_id = "transferTeam",
    tag = "Team",
    security(("session" = [])),
    request_body = TransferInput,
    responses(
        (status = 200, description = "The people.", body = Vec<Member>),
        (status = 404, description = "The person is not in the team.", body = ErrorBody)
    )
)]
pub(crate) async fn transfer(
    State(app): State<Arc<App>>,
    TeamOwner(by): TeamOwner,
    Body(input): Body<TransferInput>,
) -> Result<Json<Vec<Member>>> {
    Ok(Json(app.teams().transfer(&by, input.person_id).await?))
}

/// List invitations
///
/// For admins: those that are open, oldest first.
#[utoipa::path(
    get,
    path = "/api/team/invitations",
    operation_id = "listInvitations",
    tag = "Team",
    security(("session" = [])),
    responses((status = 200, description = "The invitations.", body = Vec<OpenInvitation>))
)]
pub(crate) async fn invitations(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
) -> Result<Json<Vec<OpenInvitation>>> {
    Ok(Json(app.teams().invitations(&by).await?))
}

/// Invite somebody
///
/// For admins. The link is sent by mail, or is in this answer where the service sends none; it works once,
/// within 7 days. Inviting the same address again ends the link before.
#[utoipa::path(
    post,
    path = "/api/team/invitations",
    operation_id = "invite",
    tag = "Team",
    security(("session" = [])),
    request_body = InvitationInput,
    responses(
        (status = 201, description = "The invitation.", body = OpenInvitation),
        (status = 402, description = "The team's plan does not allow it (`quota_exceeded`).", body = PlanBody)
    )
)]
pub(crate) async fn invite(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    Body(input): Body<InvitationInput>,
) -> Result<Created<OpenInvitation>> {
    let role = input.role.unwrap_or(AssignableRole::Member).into();
    Ok(Created(app.teams().invite(&by, &input.email, role).await?))
}

/// Take an invitation back
///
/// For admins. Its link works no more.
#[utoipa::path(
    delete,
    path = "/api/team/invitations/{id}",
    operation_id = "revokeInvitation",
    tag = "Team",
    security(("session" = [])),
    params(("id" = InvitationId, Path, description = "The invitation.")),
    responses((status = 204, description = "The invitation is over."))
)]
pub(crate) async fn revoke_invitation(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    PathParams(id): PathParams<InvitationId>,
) -> Result<NoContent> {
    app.teams().revoke_invitation(&by, id).await?;
    Ok(NoContent)
}
