//! What tokens and user info say.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use trapline_app::{FaultUse, IdpGrant, IdpHandle, IdpSignIn, IdpUserRecord, Result};

use crate::{
    faults::sign_id_token,
    jwt::{self, TokenClaims},
    state::IdpState,
};

pub(crate) const ID_TOKEN: &str = "JWT";
/// RFC 9068, section 2.1.
pub(crate) const ACCESS_TOKEN: &str = "at+jwt";

/// Claims about people that have a scope of their own (`OpenID` Connect Core, section 5.1); an access
/// token holds none of them.
const PROFILE: [&str; 20] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "email",
    "email_verified",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "phone_number",
    "phone_number_verified",
    "address",
    "updated_at",
    "acr",
];

fn seconds(time: trapline_model::Time) -> i64 {
    time.millis().div_euclid(1_000)
}

/// Claims about a user: by scope, those that were asked for by name, and the user's own.
pub(crate) fn about(user: &IdpUserRecord, scope: &[String], wanted: &[String]) -> TokenClaims {
    let mut claims = TokenClaims::new();
    let has = |name: &str| scope.iter().any(|known| known == name);
    let known = [
        ("name", "profile", json!(user.name)),
        ("preferred_username", "profile", json!(user.email)),
        ("updated_at", "profile", json!(seconds(user.updated_at))),
        ("email", "email", json!(user.email)),
        ("email_verified", "email", json!(true)),
    ];
    for (name, of, value) in known {
        if has(of) || wanted.iter().any(|wanted| wanted == name) {
            claims.insert(name.to_owned(), value);
        }
    }
    // Most applications have the name of a claim to configure, and no scope.
    claims.insert("groups".to_owned(), json!(user.groups));
    claims.extend(user.claims.clone());
    claims.insert("sub".to_owned(), json!(user.subject));
    claims
}

/// What a token of this provider has in common with all others.
fn common(idp: &IdpState, provider: &IdpHandle) -> TokenClaims {
    let now = idp.now();
    let mut claims = TokenClaims::new();
    claims.insert("iss".to_owned(), json!(provider.issuer));
    claims.insert("iat".to_owned(), json!(now));
    claims.insert("exp".to_owned(), json!(now + i64::from(provider.settings.token_ttl)));
    claims
}

/// An access token (RFC 9068, section 2.2). Its `jti` begins with the grant that it ends with.
pub(crate) async fn access_token(
    idp: &IdpState,
    provider: &IdpHandle,
    grant: &IdpGrant,
    sign_in: &IdpSignIn,
    user: &IdpUserRecord,
) -> Result<String> {
    let mut claims: TokenClaims = user.claims.clone();
    claims.retain(|name, _| !PROFILE.contains(&name.as_str()));
    claims.extend(common(idp, provider));
    claims.insert("sub".to_owned(), json!(user.subject));
    claims.insert("groups".to_owned(), json!(user.groups));
    claims.insert("jti".to_owned(), json!(format!("{}.{}", grant.id, idp.idps().random_id())));
    claims.insert("auth_time".to_owned(), json!(seconds(sign_in.auth_time)));
    claims.insert("sid".to_owned(), json!(sign_in.sid));
    for_client(provider, &sign_in.scope, &sign_in.resource, &mut claims);
    jwt::signed(idp, provider, ACCESS_TOKEN, claims).await
}

/// An access token of the client itself (RFC 6749, section 4.4).
pub(crate) async fn client_token(
    idp: &IdpState,
    provider: &IdpHandle,
    scope: &[String],
    resource: &[String],
) -> Result<String> {
    let mut claims = common(idp, provider);
    claims.insert("sub".to_owned(), json!(provider.settings.client_id));
    claims.insert("jti".to_owned(), json!(idp.idps().random_id()));
    for_client(provider, scope, resource, &mut claims);
    jwt::signed(idp, provider, ACCESS_TOKEN, claims).await
}

fn for_client(
    provider: &IdpHandle,
    scope: &[String],
    resource: &[String],
    claims: &mut TokenClaims,
) {
    let client = &provider.settings.client_id;
    let audience = match resource {
        [] => json!(client),
        [one] => json!(one),
        several => json!(several),
    };
    claims.insert("aud".to_owned(), audience);
    claims.insert("client_id".to_owned(), json!(client));
    if !scope.is_empty() {
        claims.insert("scope".to_owned(), json!(scope.join(" ")));
    }
}

/// An ID token (`OpenID` Connect Core, sections 2 and 3.1.3.6). A refreshed one has no nonce (section
/// 12.2).
pub(crate) async fn id_token(
    idp: &IdpState,
    provider: &IdpHandle,
    (sign_in, nonce): (&IdpSignIn, Option<&str>),
    user: &IdpUserRecord,
    access_token: &str,
) -> Result<String> {
    let mut claims = about(user, &sign_in.scope, &sign_in.id_token_claims);
    claims.extend(common(idp, provider));
    let client = &provider.settings.client_id;
    for name in ["aud", "azp"] {
        claims.insert(name.to_owned(), json!(client));
    }
    claims.insert("auth_time".to_owned(), json!(seconds(sign_in.auth_time)));
    claims.insert("sid".to_owned(), json!(sign_in.sid));
    claims.insert("at_hash".to_owned(), json!(at_hash(access_token)));
    let asked = [("nonce", nonce), ("acr", sign_in.acr.as_deref())];
    for (name, value) in asked.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        claims.insert(name.to_owned(), json!(value));
    }
    let fault = sign_in.fault.as_deref().and_then(FaultUse::named);
    sign_id_token(idp, provider, fault, claims).await
}

/// The left half of the token's SHA-256.
fn at_hash(access_token: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(access_token)[..16])
}

/// An access token that is good now, and what it stands for.
pub(crate) struct GoodToken {
    pub(crate) claims: TokenClaims,
    /// Who signed in; `None` for a token of the client itself.
    pub(crate) person: Option<(IdpSignIn, IdpUserRecord)>,
}

/// Reads an access token; `None` for one that is not this provider's, is over, was revoked, or is of a
/// user who is gone.
pub(crate) async fn good_token(
    idp: &IdpState,
    provider: &IdpHandle,
    token: &str,
) -> Result<Option<GoodToken>> {
    let Some(claims) = jwt::verified(idp, provider, ACCESS_TOKEN, token) else { return Ok(None) };
    let is_over = claims.get("exp").and_then(Value::as_i64).is_none_or(|end| end <= idp.now());
    let Some(jti) = claims.get("jti").and_then(Value::as_str).filter(|_| !is_over) else {
        return Ok(None);
    };
    let id = grant_of(jti);
    let grant = idp.idps().grant(provider, id).await?;
    if id == jti {
        // A token of the client itself has a grant only once it was revoked.
        return Ok(grant.is_none().then_some(GoodToken { claims, person: None }));
    }
    let grant = grant.filter(|grant| grant.ended_at.is_none());
    let Some(sign_in) = grant.and_then(|grant| grant.sign_in) else { return Ok(None) };
    let user = idp.idps().test_user(provider, sign_in.user).await?;
    Ok(user.map(|user| GoodToken { claims, person: Some((sign_in, user)) }))
}

/// The grant that an access token ends with.
pub(crate) fn grant_of(jti: &str) -> &str {
    jti.split('.').next().unwrap_or(jti)
}
