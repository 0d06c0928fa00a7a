//! Single sign-on of a team, as its owner sees it.

use serde::Serialize;

use crate::Time;

/// A team's identity provider. The client's secret is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SsoConnection {
    /// The provider's issuer identifier.
    #[schema(example = "https://example.okta.com")]
    pub issuer: String,
    /// What the provider calls this server.
    #[schema(example = "0oa1b2c3")]
    pub client_id: String,
    /// The mail domains whose people sign in there.
    pub domains: Vec<ClaimedDomain>,
    /// Whether people reach the team in no other way. Its owner's password still does.
    pub enforced: bool,
    /// When somebody first signed in by these settings; null is nobody yet.
    #[schema(required)]
    pub proven_at: Option<Time>,
    /// The address that the provider sends people back to, to be registered there.
    #[schema(
        example = "https://mail.example.com/api/auth/sso/0198c0de-0000-7000-8000-000000000000/callback"
    )]
    pub redirect_uri: String,
    /// The time of the last change.
    pub updated_at: Time,
}

/// A mail domain of a team's people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedDomain {
    /// The domain.
    #[schema(example = "example.com")]
    pub name: String,
    /// When the operator verified that it is the team's; null is not yet.
    #[schema(required)]
    pub verified_at: Option<Time>,
}
