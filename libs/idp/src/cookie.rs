//! The cookie of whoever is signed in at a provider.

use axum::http::{HeaderMap, HeaderValue, header};
use trapline_app::{IdpHandle, IdpSession, Result};

use crate::state::IdpState;

/// Seconds that a browser keeps it: as long as a session lasts.
const MAX_AGE: u32 = 8 * 60 * 60;

fn is_secure(provider: &IdpHandle) -> bool {
    provider.issuer.starts_with("https:")
}

fn name(provider: &IdpHandle) -> &'static str {
    if is_secure(provider) { "__Secure-idp" } else { "idp" }
}

/// The session that a browser has at this provider.
pub(crate) fn session(
    idp: &IdpState,
    provider: &IdpHandle,
    headers: &HeaderMap,
) -> Option<IdpSession> {
    let fields = headers.get_all(header::COOKIE).iter();
    let pairs = fields.filter_map(|field| field.to_str().ok()).flat_map(|text| text.split(';'));
    let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
    let (_, sealed) = named.find(|(known, _)| *known == name(provider))?;
    idp.idps().open_session(provider, sealed)
}

/// The cookie of a session.
pub(crate) fn of(
    idp: &IdpState,
    provider: &IdpHandle,
    session: &IdpSession,
) -> Result<HeaderValue> {
    Ok(value(provider, &idp.idps().seal_session(provider, session)?, MAX_AGE))
}

/// Takes the cookie away.
pub(crate) fn none(provider: &IdpHandle) -> HeaderValue {
    value(provider, "", 0)
}

fn value(provider: &IdpHandle, sealed: &str, max_age: u32) -> HeaderValue {
    let secure = if is_secure(provider) { "; Secure" } else { "" };
    // The path as browsers see it, which a base URL may have a prefix of.
    let path = provider.issuer.splitn(4, '/').nth(3).unwrap_or_default();
    let cookie = format!(
        "{}={sealed}; Path=/{path}; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}",
        name(provider)
    );
    HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""))
}
