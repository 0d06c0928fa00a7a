//! People, as they see themselves.

use serde::Serialize;

use crate::{PersonId, Role, TeamId, Time};

/// Somebody who signs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// The person's id.
    pub id: PersonId,
    /// The address that the person signs in with; empty while the first owner has given none.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// The name that others see.
    #[schema(example = "Ada")]
    pub name: String,
    /// When the address was shown to be the person's own; null is not yet.
    #[schema(required)]
    pub verified_at: Option<Time>,
    /// When the person came.
    pub created_at: Time,
}

/// A team that a person is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnTeam {
    /// The team's id.
    pub id: TeamId,
    /// The team's name.
    #[schema(example = "My team")]
    pub name: String,
    /// What the person is to it.
    pub role: Role,
}

/// A session of whoever asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnSession {
    /// The session's id.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015")]
    pub id: String,
    /// Whether it is the one that asks.
    pub is_current: bool,
    /// When somebody signed in.
    pub created_at: Time,
    /// When it was last used, to the minute.
    pub last_seen_at: Time,
    /// Where somebody signed in from; of IPv6 the network.
    #[schema(required, example = "192.0.2.7")]
    pub address: Option<String>,
    /// The browser by its own words.
    pub user_agent: String,
}

/// Who is signed in, and what this person may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The person.
    pub person: Person,
    /// The team that requests of this session act for; null while the person is in none.
    #[schema(required)]
    pub team: Option<OwnTeam>,
    /// Every team that the person is in.
    pub teams: Vec<OwnTeam>,
    /// What the person may do in that team. Go by these words rather than by the role's name; there may
    /// be new ones.
    #[schema(example = json!(["inboxes.manage", "keys.manage"]))]
    pub can: Vec<String>,
    /// What the team has beside mail. There may be new words.
    #[schema(example = json!(["webhooks"]))]
    pub features: Vec<String>,
    /// Whether this server sends mail, such as invitations.
    pub outbound_enabled: bool,
    /// The server's version.
    #[schema(example = "0.1.0")]
    pub build: String,
}

/// The ways in.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each way is there or not, whatever the others are"
)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInOptions {
    /// Whether people must sign in at all.
    pub sign_in: bool,
    /// Whether an address and a password lead in.
    pub password: bool,
    /// Whether anybody can sign up.
    pub sign_up: bool,
    /// Whether a team can have its people sign in elsewhere.
    pub sso: bool,
    /// Whether this server sends mail. Without it, the operator makes links: `trapline link`.
    pub outbound_enabled: bool,
}
