//! Mock identity providers and their test users, as the API shows them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{IdpId, IdpUserId, InboxId, Time};

/// How the client of a provider proves that it is the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum IdpClientType {
    /// By its secret, or by none and PKCE. A secret that is sent must be right.
    Any,
    /// Always by its secret.
    Confidential,
    /// Never by a secret, always by PKCE (RFC 7636).
    Public,
}

/// How tokens are signed (RFC 7518, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum SigningAlg {
    /// RSA with PKCS #1 v1.5 and SHA-256, by a key of 2,048 bits.
    RS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
}

impl SigningAlg {
    /// The name as headers of tokens have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RS256 => "RS256",
            Self::ES256 => "ES256",
        }
    }
}

/// What of a SAML answer is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SamlSign {
    /// The assertion, and the response around it.
    Both,
    /// The assertion only.
    Assertion,
    /// The response only.
    Response,
}

/// When a sign-in gives a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefreshTokenPolicy {
    /// With the scope `offline_access` (`OpenID` Connect Core, section 11).
    OfflineAccess,
    /// With every code.
    Always,
}

/// How SAML names somebody (saml-core, section 8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum NameIdFormat {
    /// The mail address.
    #[serde(rename = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress")]
    EmailAddress,
    /// A name that stays the same at this service provider.
    #[serde(rename = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")]
    Persistent,
    /// A name of this session.
    #[serde(rename = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient")]
    Transient,
    /// The user's subject.
    #[serde(rename = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified")]
    Unspecified,
}

impl NameIdFormat {
    /// Every format.
    pub const ALL: [Self; 4] =
        [Self::EmailAddress, Self::Persistent, Self::Transient, Self::Unspecified];

    /// The format's URN.
    #[must_use]
    pub fn urn(self) -> &'static str {
        match self {
            Self::EmailAddress => "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
            Self::Persistent => "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
            Self::Transient => "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
            Self::Unspecified => "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
        }
    }

    /// The format with this URN, or with the last word of it.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        let is_named = |format: &Self| {
            let urn = format.urn();
            urn == text || urn.rsplit(':').next() == Some(text)
        };
        Self::ALL.into_iter().find(is_named)
    }
}

/// A key that signs, as far as everybody may know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpKey {
    /// The key's thumbprint (RFC 7638), which tokens name.
    pub kid: String,
    /// What it signs with.
    pub alg: SigningAlg,
    /// When it was made.
    pub created_at: Time,
    /// Its self-signed certificate in PEM; null for a key that only signs tokens.
    #[schema(required)]
    pub certificate: Option<String>,
}

/// The addresses of a provider's endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpEndpoints {
    /// Where a browser is sent to sign in (RFC 6749, section 3.1).
    pub authorization: String,
    /// Where codes become tokens (RFC 6749, section 3.2).
    pub token: String,
    /// Claims about whoever signed in (`OpenID` Connect Core, section 5.3).
    pub user_info: String,
    /// The public keys (RFC 7517).
    pub jwks: String,
    /// What a token is worth (RFC 7662).
    pub introspection: String,
    /// Where tokens end (RFC 7009).
    pub revocation: String,
    /// Where a browser is sent to sign out (`OpenID` Connect RP-Initiated Logout 1.0).
    pub end_session: String,
    /// Where a browser is sent to sign in by SAML, with the Redirect or the POST binding.
    pub saml_sso: String,
    /// Where a browser is sent to sign out by SAML, with either binding.
    pub saml_slo: String,
    /// The certificate of SAML signatures in PEM.
    pub saml_certificate: String,
}

/// A mock identity provider: real clients sign in against it, as test users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Idp {
    /// The provider's id.
    pub id: IdpId,
    /// The name that people gave it.
    pub name: String,
    /// The last part of its issuer.
    #[schema(example = "3f9c2a71b04d5e")]
    pub slug: String,
    /// Where browsers may be sent after a sign-in, byte for byte. Empty matches nothing.
    pub redirect_uris: Vec<String>,
    /// Where browsers may be sent after a sign-out.
    pub post_logout_redirect_uris: Vec<String>,
    /// Seconds that access and ID tokens are good for.
    pub token_ttl: u32,
    /// The test user who is signed in without being asked; null asks.
    #[schema(required)]
    pub auto_login_user_id: Option<IdpUserId>,
    /// Whether only people of the team may sign in, as whichever user.
    pub require_team_session: bool,
    /// Where SAML answers are sent; null is where the request says.
    #[schema(required)]
    pub saml_acs_url: Option<String>,
    /// The SAML service provider's entity id; null is any.
    #[schema(required)]
    pub saml_sp_entity_id: Option<String>,
    /// How SAML names somebody where the request does not say.
    pub saml_name_id_format: NameIdFormat,
    /// Where SAML logouts are sent; null is nowhere.
    #[schema(required)]
    pub saml_slo_url: Option<String>,
    /// What of a SAML answer is signed.
    pub saml_sign: SamlSign,
    /// The id of its one client.
    pub client_id: String,
    /// The client's secret. Left out for those who may only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub client_secret: Option<String>,
    /// How the client proves that it is the client.
    pub client_type: IdpClientType,
    /// What tokens are signed with.
    pub signing_alg: SigningAlg,
    /// The key that signs tokens now.
    pub signing_key: IdpKey,
    /// Other keys that are still published, newest first.
    pub previous_keys: Vec<IdpKey>,
    /// When a sign-in gives a refresh token.
    pub refresh_tokens: RefreshTokenPolicy,
    /// Seconds in which a refresh token that was used gives the same successor again.
    pub refresh_reuse_grace: u32,
    /// Whether the auto-login user is signed in even where the request asks for a prompt.
    pub auto_login_on_prompt: bool,
    /// The issuer identifier.
    #[schema(example = "http://127.0.0.1:8025/idp/3f9c2a71b04d5e")]
    pub issuer: String,
    /// The discovery document (`OpenID` Connect Discovery 1.0).
    pub discovery_url: String,
    /// The SAML metadata, whose address is the entity id too.
    pub saml_metadata_url: String,
    /// The addresses of its endpoints.
    pub endpoints: IdpEndpoints,
    /// When it was made.
    pub created_at: Time,
    /// When its settings were last changed.
    pub updated_at: Time,
}

/// Somebody who signs in at a mock identity provider, without a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdpUser {
    /// The user's id.
    pub id: IdpUserId,
    /// The mail address.
    pub email: String,
    /// The full name.
    pub name: String,
    /// The names of the user's groups.
    pub groups: Vec<String>,
    /// More claims, which override others.
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// What tokens call the user (`sub`).
    pub subject: String,
    /// The team's inbox that the mail address leads to; null when there is none.
    #[schema(required)]
    pub inbox_id: Option<InboxId>,
    /// When it was made.
    pub created_at: Time,
    /// When it was last changed.
    pub updated_at: Time,
}
