//! Compact JSON Web Signatures (RFC 7515, section 7.1): written, and read back.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value, json};
use trapline_app::{IdpHandle, Result};

use crate::state::IdpState;

/// What a token says.
pub(crate) type TokenClaims = Map<String, Value>;

fn encode(value: &Value) -> String {
    BASE64URL_NOPAD.encode(value.to_string().as_bytes())
}

/// What is signed: header and claims.
pub(crate) fn input(typ: &str, alg: &str, kid: &str, claims: &TokenClaims) -> String {
    let header = json!({ "alg": alg, "kid": kid, "typ": typ });
    format!("{}.{}", encode(&header), encode(&json!(claims)))
}

/// Signs claims; `typ` says which kind of token it is.
pub(crate) async fn signed(
    idp: &IdpState,
    provider: &IdpHandle,
    typ: &str,
    claims: TokenClaims,
) -> Result<String> {
    let (alg, kid) = (provider.settings.signing_alg.name(), provider.signing_kid());
    let input = input(typ, alg, kid, &claims);
    let signature = idp.idps().sign(idp.app.cpu(), provider, input.clone()).await?;
    Ok(format!("{input}.{}", BASE64URL_NOPAD.encode(&signature)))
}

/// Bytes of a token that is looked at: of ours the largest is one with 16 KiB of claims.
const MAX_TOKEN: usize = 64 * 1024;

/// The claims of a token of this kind that a published key of the provider signed, however old it is.
pub(crate) fn verified(
    idp: &IdpState,
    provider: &IdpHandle,
    typ: &str,
    token: &str,
) -> Option<TokenClaims> {
    if token.len() > MAX_TOKEN {
        return None;
    }
    let (input, signature) = token.rsplit_once('.')?;
    let (header, claims) = input.split_once('.')?;
    let header = object(header)?;
    let text = |name: &str| header.get(name).and_then(Value::as_str);
    if text("typ") != Some(typ) {
        return None;
    }
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).ok()?;
    let key = (text("kid")?, text("alg")?);
    let is_signed = idp.idps().is_signed(provider, key, input, &signature);
    let claims = object(claims).filter(|_| is_signed)?;
    (claims.get("iss").and_then(Value::as_str) == Some(provider.issuer.as_str())).then_some(claims)
}

fn object(part: &str) -> Option<TokenClaims> {
    serde_json::from_slice(&BASE64URL_NOPAD.decode(part.as_bytes()).ok()?).ok()
}

/// A token as the log shows it: decoded, and without what makes it one.
pub(crate) fn shown(token: &str) -> Value {
    let mut parts = token.split('.').filter_map(object);
    json!({ "header": parts.next(), "claims": parts.next() })
}
