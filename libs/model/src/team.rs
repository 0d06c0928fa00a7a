//! Teams, as the people in them see them.

use serde::Serialize;

use crate::{InvitationId, ListedApiKey, PersonId, Role, TeamId, Time};

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Team)]
pub struct TeamProfile {
    /// The team's id.
    pub id: TeamId,
    /// For people.
    #[schema(example = "Checkout")]
    pub name: String,
    /// What whoever asks is to it.
    pub role: Role,
    /// The time of creation.
    pub created_at: Time,
}

/// Somebody in a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The person's id.
    pub id: PersonId,
    /// The person's address; empty while the first owner has given none.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// The person's name.
    #[schema(example = "Ada")]
    pub name: String,
    /// What the person may decide about.
    pub role: Role,
    /// Since when.
    pub joined_at: Time,
}

/// Somebody who was asked to join a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub struct OpenInvitation {
    /// Its id.
    pub id: InvitationId,
    /// Who is invited.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// What they will be to the team.
    pub role: Role,
    /// The time at which it was made, or made anew.
    pub created_at: Time,
    /// From when on its link does not work any more.
    pub expires_at: Time,
    /// Whether the link was sent by mail.
    pub mail_sent: bool,
    /// The link, only in the answer that makes it and only where no mail was sent: hand it on.
    #[schema(required, example = json!(null))]
    pub link: Option<String>,
}

/// What is left of somebody who was removed from a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedMember {
    /// The API keys that the person made, which still work: revoke those that only they had.
    pub keys: Vec<ListedApiKey>,
}
