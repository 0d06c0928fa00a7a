//! Sign-ins at mock identity providers: requests that wait for somebody, codes, and what they led to.

use serde::{Deserialize, Serialize};
use trapline_model::{IdpId, IdpUserId, Time};

use super::{single, text};
use crate::{Key, Record, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[IDP_LOGIN, IDP_CODE, IDP_GRANT];

const IDP_LOGIN: &Table = &Table {
    name: "idp_login",
    partition: &[text("sha256")],
    about: "A request at a mock identity provider that waits for somebody to choose a user; also its newest SAML response, for a replay.",
    ..Table::PLAIN
};

const IDP_CODE: &Table = &Table {
    name: "idp_code",
    partition: &[text("sha256")],
    about: "What an authorization code is bound to; only the code's SHA-256 is kept.",
    ..Table::PLAIN
};

const IDP_GRANT: &Table = &Table {
    name: "idp_grant",
    partition: &[text("grant_id")],
    writes: Writes::Guarded,
    about: "What a code was redeemed for. That it is there means that the code was used.",
    ..Table::PLAIN
};

/// A request that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpLogin {
    /// SHA-256 in hex of what names it.
    pub sha256: String,
    /// The provider.
    pub idp: IdpId,
    /// The request's parameters as they came, form-encoded.
    pub request: String,
}

impl IdpLogin {
    /// The row of a request.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(IDP_LOGIN, Value::Text(sha256.to_owned()))
    }
}

impl Record for IdpLogin {
    const TABLE: &'static Table = IDP_LOGIN;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}

/// What a sign-in is for: what its tokens say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpSignIn {
    /// The user.
    pub user: IdpUserId,
    /// When the user was chosen.
    pub auth_time: Time,
    /// The session at the provider.
    pub sid: String,
    /// The scopes, all of which were granted.
    pub scope: Vec<String>,
    /// Whom access tokens are for; empty is the client.
    pub resource: Vec<String>,
    /// The first authentication context that was asked for.
    pub acr: Option<String>,
    /// Claims that the request wants in the ID token, and from userinfo.
    pub id_token_claims: Vec<String>,
    /// See `id_token_claims`.
    pub userinfo_claims: Vec<String>,
    /// Joins the entries of the log.
    pub flow: String,
    /// What goes wrong with its tokens, as somebody asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What a code is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpCode {
    /// SHA-256 in hex of the provider and the code, which also names the grant.
    pub sha256: String,
    /// The provider.
    pub idp: IdpId,
    /// What it is for.
    pub sign_in: IdpSignIn,
    /// Where the browser was sent with it.
    pub redirect_uri: String,
    /// The code challenge (RFC 7636); `None` is a request without one.
    pub challenge: Option<String>,
    /// The nonce of the request, for the ID token.
    pub nonce: Option<String>,
    /// When it was made.
    pub issued_at: Time,
}

impl IdpCode {
    /// The row of a code.
    #[must_use]
    pub fn row(sha256: &str) -> Key {
        single(IDP_CODE, Value::Text(sha256.to_owned()))
    }
}

impl Record for IdpCode {
    const TABLE: &'static Table = IDP_CODE;
    fn key(&self) -> Key {
        Self::row(&self.sha256)
    }
}

/// What a code was redeemed for, or an access token that was revoked without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdpGrant {
    /// See [`IdpCode::sha256`].
    pub id: String,
    /// The provider.
    pub idp: IdpId,
    /// What it is for; `None` where there was no sign-in.
    pub sign_in: Option<IdpSignIn>,
    /// Tells this redemption from another one of the same code.
    pub redemption: String,
    /// When the code was redeemed.
    pub redeemed_at: Time,
    /// Whether it has refresh tokens.
    pub is_refreshable: bool,
    /// How often it was refreshed.
    pub generation: u32,
    /// When it was last refreshed.
    pub rotated_at: Option<Time>,
    /// From when on its tokens are worth nothing.
    pub ended_at: Option<Time>,
}

impl IdpGrant {
    /// The row of a grant.
    #[must_use]
    pub fn row(id: &str) -> Key {
        single(IDP_GRANT, Value::Text(id.to_owned()))
    }
}

impl Record for IdpGrant {
    const TABLE: &'static Table = IDP_GRANT;
    fn key(&self) -> Key {
        Self::row(&self.id)
    }
}
