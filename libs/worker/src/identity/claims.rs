//! Accounts as ID tokens and user info show them.

use openidconnect::{
    AdditionalClaims, Client, EmptyAdditionalClaims, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IdTokenClaims, IdTokenFields, StandardErrorResponse,
    StandardTokenResponse, UserInfoClaims,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
        CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreRevocableToken,
        CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trapline_app::ExternalAccount;

use crate::outbound::Url;

/// Microsoft says in a claim of its own that an address is verified: a customer of theirs writes into
/// `email` what they like, and `xms_edov` tells whether the domain is theirs (optional claims reference of
/// the Microsoft identity platform).
const MICROSOFT: &str = "login.microsoftonline.com";

/// What an ID token may hold beside the standard's claims.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MoreClaims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    xms_edov: Option<Value>,
}

impl AdditionalClaims for MoreClaims {}

pub(super) type Claims = IdTokenClaims<MoreClaims, CoreGenderClaim>;
pub(super) type UserInfoAnswer = UserInfoClaims<EmptyAdditionalClaims, CoreGenderClaim>;

type Tokens = StandardTokenResponse<
    IdTokenFields<
        MoreClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

/// A client of an issuer that was asked what it is.
pub(super) type OidcClient = Client<
    MoreClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The account that an ID token of the issuer is for.
pub(super) fn account_of(issuer: &str, claims: &Claims) -> ExternalAccount {
    let name = claims.name().and_then(|name| name.get(None)).map(|name| name.to_string());
    let is_microsofts = Url::parse(issuer).is_ok_and(|issuer| issuer.host_str() == Some(MICROSOFT));
    let says_so = claims.additional_claims().xms_edov.as_ref().is_some_and(is_yes);
    ExternalAccount {
        subject: claims.subject().to_string(),
        email: claims.email().map(|email| email.to_string()),
        is_email_verified: claims.email_verified() == Some(true) || (is_microsofts && says_so),
        name: name.unwrap_or_default(),
    }
}

/// The account, with an address that only its user info has.
pub(super) fn completed(account: ExternalAccount, info: &UserInfoAnswer) -> ExternalAccount {
    let name = info.name().and_then(|name| name.get(None)).map(|name| name.to_string());
    ExternalAccount {
        email: info.email().map(|email| email.to_string()),
        is_email_verified: info.email_verified() == Some(true),
        name: name.unwrap_or(account.name),
        ..account
    }
}

/// Microsoft writes it in each of these forms.
fn is_yes(value: &Value) -> bool {
    matches!(value, Value::Bool(true))
        || value.as_i64() == Some(1)
        || matches!(value.as_str(), Some("1" | "true"))
}
