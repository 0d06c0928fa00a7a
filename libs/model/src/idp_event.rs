//! The activity log of a mock identity provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{IdpEventId, IdpFaultId, IdpUserId, Time};

/// What an entry tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdpEventKind {
    /// An authorization request.
    Authorize,
    /// Somebody chose a user.
    Login,
    /// A token request.
    Token,
    /// A refresh of tokens.
    Refresh,
    /// A request for claims.
    Userinfo,
    /// A question what a token is worth.
    Introspect,
    /// The end of a token.
    Revoke,
    /// A sign-out.
    Logout,
    /// A SAML authentication request that was refused, or waits for somebody.
    SamlRequest,
    /// A SAML response.
    SamlResponse,
    /// A SAML logout.
    SamlLogout,
    /// A rotation of keys or of the secret.
    Rotate,
    /// A fault of a document that no sign-in is known for.
    Fault,
}

impl IdpEventKind {
    /// The kind's word, as the API and metrics have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Authorize => "authorize",
            Self::Login => "login",
            Self::Token => "token",
            Self::Refresh => "refresh",
            Self::Userinfo => "userinfo",
            Self::Introspect => "introspect",
            Self::Revoke => "revoke",
            Self::Logout => "logout",
            Self::SamlRequest => "saml_request",
            Self::SamlResponse => "saml_response",
            Self::SamlLogout => "saml_logout",
            Self::Rotate => "rotate",
            Self::Fault => "fault",
        }
    }
}

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpEventError {
    /// The error code of the protocol.
    #[schema(example = "invalid_grant")]
    pub code: String,
    /// What was expected and what came.
    pub hint: String,
}

/// An entry of the activity log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpEvent {
    /// The entry's id.
    pub id: IdpEventId,
    /// When it happened.
    pub at: Time,
    /// What it tells of.
    pub kind: IdpEventKind,
    /// Whether it went well.
    pub ok: bool,
    /// The user it is about; null when none is known.
    #[schema(required)]
    pub user_id: Option<IdpUserId>,
    /// The client that the request named; null when it named none.
    #[schema(required)]
    pub client_id: Option<String>,
    /// Joins the entries of one sign-in; null for what belongs to none.
    #[schema(required)]
    pub flow: Option<String>,
    /// The entry in one sentence.
    pub summary: String,
    /// The parameters of the request; of secrets the first characters and a hash.
    #[schema(value_type = Object)]
    pub request: Value,
    /// What was answered; tokens decoded, without their signatures.
    #[schema(value_type = Object)]
    pub response: Value,
    /// Why it was refused; null when it was not.
    #[schema(required)]
    pub error: Option<IdpEventError>,
    /// The fault that was asked for; null for none.
    #[schema(required)]
    pub fault: Option<String>,
    /// How many entries like this one were left out before it, because there were too many at once.
    pub suppressed: u64,
}

/// Something that a provider is asked to do wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpFault {
    /// The fault's id.
    pub id: IdpFaultId,
    /// The scenario's name.
    #[schema(example = "wrong_audience")]
    pub scenario: String,
    /// The scenario's value; null for a scenario without one.
    #[schema(required)]
    pub value: Option<i64>,
    /// How often it is used; null is until it is removed.
    #[schema(required)]
    pub times: Option<u32>,
    /// How often it is still to be used; null is until it is removed.
    #[schema(required)]
    pub remaining: Option<u32>,
    /// The only user it is for; null is anybody.
    #[schema(required)]
    pub user_id: Option<IdpUserId>,
    /// The only protocol it is for, `oidc` or `saml`; null is each in which the scenario exists.
    #[schema(required, example = "saml")]
    pub protocol: Option<String>,
    /// When it was asked for.
    pub created_at: Time,
    /// When it is forgotten; null is never.
    #[schema(required)]
    pub expires_at: Option<Time>,
}
