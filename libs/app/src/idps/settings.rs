//! What a provider is to be, as clients say it.

use trapline_model::{
    IdpClientType, IdpUserId, NameIdFormat, RefreshTokenPolicy, SamlSign, SigningAlg,
};
use trapline_store::records::IdpRecord;

use super::{
    checks::{Issues, Objection, objection},
    uris::{MAX_URIS, check_redirect_uri, check_web_url},
};
use crate::Result;

/// Characters of a name.
pub(super) const MAX_NAME: usize = 200;
/// Seconds that tokens are good for: at most a day.
const TOKEN_TTL: std::ops::RangeInclusive<u32> = 1..=86_400;
pub(super) const DEFAULT_TOKEN_TTL: u32 = 3_600;
/// Seconds: a minute is longer than any client waits before it asks again.
const MAX_REUSE_GRACE: u32 = 60;
pub(super) const DEFAULT_REUSE_GRACE: u32 = 10;
/// Bytes of an entity id (saml-core, section 8.3.6).
const MAX_ENTITY_ID: usize = 1_024;

/// What a new provider is to be.
#[derive(Debug, Clone, Default)]
pub struct NewIdp {
    /// Its name.
    pub name: String,
    /// Where browsers may be sent after a sign-in.
    pub redirect_uris: Vec<String>,
    /// The last part of its issuer; made when `None`.
    pub slug: Option<String>,
    /// The id of its client; the provider's own when `None`.
    pub client_id: Option<String>,
    /// The client's secret; made when `None`.
    pub client_secret: Option<String>,
}

impl NewIdp {
    pub(super) fn check(&self) -> Result<()> {
        let mut issues = Issues::default();
        issues.note("name", check_name(&self.name));
        check_uris("redirectUris", &self.redirect_uris, &mut issues);
        if let Some(slug) = &self.slug {
            issues.note("slug", check_slug(slug));
        }
        if let Some(id) = &self.client_id {
            issues.note("clientId", check_credential(id, 1));
        }
        if let Some(secret) = &self.client_secret {
            issues.note("clientSecret", check_credential(secret, 16));
        }
        issues.done()
    }
}

/// What is to change; `None` leaves a field as it is, and `Some(None)` takes it away.
#[derive(Debug, Clone, Default)]
pub struct IdpChange {
    /// Its name.
    pub name: Option<String>,
    /// Where browsers may be sent after a sign-in.
    pub redirect_uris: Option<Vec<String>>,
    /// Where browsers may be sent after a sign-out.
    pub post_logout_redirect_uris: Option<Vec<String>>,
    /// Seconds that tokens are good for.
    pub token_ttl: Option<u32>,
    /// The user who is signed in without being asked.
    pub auto_login_user: Option<Option<IdpUserId>>,
    /// Whether only people of the team may sign in.
    pub require_team_session: Option<bool>,
    /// Where SAML answers are sent.
    pub saml_acs_url: Option<Option<String>>,
    /// The SAML service provider's entity id.
    pub saml_sp_entity_id: Option<Option<String>>,
    /// How SAML names somebody: a URN, or its last word.
    pub saml_name_id_format: Option<Option<String>>,
    /// Where SAML logouts are sent.
    pub saml_slo_url: Option<Option<String>>,
    /// What of a SAML answer is signed.
    pub saml_sign: Option<SamlSign>,
    /// How the client proves that it is the client.
    pub client_type: Option<IdpClientType>,
    /// What tokens are signed with.
    pub signing_alg: Option<SigningAlg>,
    /// When a sign-in gives a refresh token.
    pub refresh_tokens: Option<RefreshTokenPolicy>,
    /// Seconds in which a used refresh token gives the same successor again.
    pub refresh_reuse_grace: Option<u32>,
    /// Whether the auto-login user is signed in even where a prompt is asked for.
    pub auto_login_on_prompt: Option<bool>,
}

impl IdpChange {
    /// All that is wrong but for users, whom only the store knows.
    pub(super) fn check(&self) -> Issues {
        let mut issues = Issues::default();
        if let Some(name) = &self.name {
            issues.note("name", check_name(name));
        }
        for (path, uris) in [
            ("redirectUris", &self.redirect_uris),
            ("postLogoutRedirectUris", &self.post_logout_redirect_uris),
        ] {
            check_uris(path, uris.as_deref().unwrap_or_default(), &mut issues);
        }
        if self.token_ttl.is_some_and(|seconds| !TOKEN_TTL.contains(&seconds)) {
            issues.add("tokenTtl", "out_of_range", "must be 1 to 86400 seconds");
        }
        if self.refresh_reuse_grace.is_some_and(|seconds| seconds > MAX_REUSE_GRACE) {
            issues.add("refreshReuseGrace", "too_big", "must be at most 60 seconds");
        }
        self.check_saml(&mut issues);
        issues
    }

    fn check_saml(&self, issues: &mut Issues) {
        for (path, url) in [("samlAcsUrl", &self.saml_acs_url), ("samlSloUrl", &self.saml_slo_url)]
        {
            if let Some(Some(url)) = url {
                issues.note(path, check_web_url(url));
            }
        }
        if let Some(Some(id)) = &self.saml_sp_entity_id {
            issues.note("samlSpEntityId", check_entity_id(id));
        }
        if let Some(Some(format)) = &self.saml_name_id_format
            && NameIdFormat::named(format).is_none()
        {
            let known =
                "must be emailAddress, persistent, transient, unspecified, or the URN of one";
            issues.add("samlNameIdFormat", "invalid_value", known);
        }
    }

    /// Changes the provider, but for its keys.
    pub(super) fn apply(&self, idp: &mut IdpRecord) {
        let IdpRecord { name, redirect_uris, post_logout_redirect_uris, .. } = idp;
        set(name, self.name.as_ref());
        set(redirect_uris, self.redirect_uris.as_ref());
        set(post_logout_redirect_uris, self.post_logout_redirect_uris.as_ref());
        set(&mut idp.token_ttl, self.token_ttl.as_ref());
        set(&mut idp.auto_login_user, self.auto_login_user.as_ref());
        set(&mut idp.require_team_session, self.require_team_session.as_ref());
        set(&mut idp.saml_acs_url, self.saml_acs_url.as_ref());
        set(&mut idp.saml_sp_entity_id, self.saml_sp_entity_id.as_ref());
        set(&mut idp.saml_slo_url, self.saml_slo_url.as_ref());
        set(&mut idp.saml_sign, self.saml_sign.as_ref());
        set(&mut idp.client_type, self.client_type.as_ref());
        set(&mut idp.signing_alg, self.signing_alg.as_ref());
        set(&mut idp.refresh_tokens, self.refresh_tokens.as_ref());
        set(&mut idp.refresh_reuse_grace, self.refresh_reuse_grace.as_ref());
        set(&mut idp.auto_login_on_prompt, self.auto_login_on_prompt.as_ref());
        if let Some(format) = &self.saml_name_id_format {
            let named = format.as_deref().and_then(NameIdFormat::named);
            idp.saml_name_id_format = named.unwrap_or(NameIdFormat::EmailAddress);
        }
    }
}

fn set<T: Clone>(field: &mut T, change: Option<&T>) {
    if let Some(value) = change {
        field.clone_from(value);
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Objection> {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME {
        return objection("invalid_value", format!("must have 1 to {MAX_NAME} characters"));
    }
    if name.chars().any(char::is_control) {
        return objection("invalid_value", "must have no control characters");
    }
    Ok(())
}

fn check_uris(path: &str, uris: &[String], issues: &mut Issues) {
    if uris.len() > MAX_URIS {
        issues.add(path, "too_long", format!("must have at most {MAX_URIS} items"));
        return;
    }
    for (place, uri) in uris.iter().enumerate() {
        issues.note(&format!("{path}[{place}]"), check_redirect_uri(uri));
    }
}

fn check_slug(slug: &str) -> Result<(), Objection> {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let has_hyphen = slug.starts_with('-') || slug.ends_with('-');
    if !(3..=63).contains(&slug.len()) || has_hyphen || !slug.bytes().all(is_known) {
        let message = "must have 3 to 63 of a-z, 0-9 and -, with no - at its ends";
        return objection("invalid_value", message);
    }
    Ok(())
}

/// Unreserved characters only (RFC 3986, section 2.3), so that clients that forget to encode the
/// credentials of RFC 6749, section 2.3.1, send the same.
fn check_credential(text: &str, min: usize) -> Result<(), Objection> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    if !(min..=128).contains(&text.len()) || !text.bytes().all(is_known) {
        return objection(
            "invalid_value",
            format!("must have {min} to 128 of A-Z a-z 0-9 . _ ~ -"),
        );
    }
    Ok(())
}

fn check_entity_id(id: &str) -> Result<(), Objection> {
    if id.is_empty() || id.len() > MAX_ENTITY_ID || id.chars().any(char::is_control) {
        return objection("invalid_value", format!("must have 1 to {MAX_ENTITY_ID} bytes"));
    }
    Ok(())
}
