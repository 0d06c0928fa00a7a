//! What is done wrong when somebody asked for it. The wrong values are fixed, so that tests can name them.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use trapline_app::{FaultScenario, FaultUse, IdpHandle, Result};

use crate::{
    jwt::{self, TokenClaims},
    state::IdpState,
    tokens::ID_TOKEN,
};

pub(crate) const WRONG_ISSUER: &str = "https://issuer.invalid";
pub(crate) const WRONG_STATE: &str = "wrong-state";
/// Seconds that are beyond the leeway of any client.
const HOUR: i64 = 3_600;

/// The error that a redirect carries.
pub(crate) fn redirect_error(fault: FaultUse) -> Option<&'static str> {
    match fault.scenario {
        FaultScenario::AccessDenied
        | FaultScenario::LoginRequired
        | FaultScenario::ServerError
        | FaultScenario::TemporarilyUnavailable => Some(fault.scenario.name()),
        _ => None,
    }
}

/// Changes what an ID token says.
fn spoil_claims(fault: FaultUse, claims: &mut TokenClaims) {
    let mut move_by = |names: &[&str], seconds: i64| {
        for name in names {
            if let Some(time) = claims.get(*name).and_then(Value::as_i64) {
                claims.insert((*name).to_owned(), json!(time + seconds));
            }
        }
    };
    match fault.scenario {
        FaultScenario::Expired => {
            move_by(&["iat", "auth_time"], -2 * HOUR);
            let ended = claims.get("iat").and_then(Value::as_i64).unwrap_or(0) + HOUR;
            claims.insert("exp".to_owned(), json!(ended));
        }
        FaultScenario::NotYetValid => {
            move_by(&["iat", "exp"], HOUR);
            let begun = claims.get("iat").cloned().unwrap_or_default();
            claims.insert("nbf".to_owned(), begun);
        }
        FaultScenario::ClockSkew => move_by(&["iat", "exp", "auth_time"], fault.value),
        FaultScenario::WrongIssuer => set(claims, "iss", json!(WRONG_ISSUER)),
        FaultScenario::WrongAudience => set(claims, "aud", json!("wrong-audience")),
        FaultScenario::WrongAzp => {
            let client = claims.get("aud").cloned().unwrap_or_default();
            set(claims, "aud", json!([client, "wrong-client"]));
            set(claims, "azp", json!("wrong-client"));
        }
        FaultScenario::WrongNonce => set(claims, "nonce", json!("wrong-nonce")),
        FaultScenario::MissingNonce => drop(claims.remove("nonce")),
        _ => {}
    }
}

fn set(claims: &mut TokenClaims, name: &str, value: Value) {
    claims.insert(name.to_owned(), value);
}

/// Leaves the mail address out.
pub(crate) fn without_email(fault: Option<FaultUse>, claims: &mut TokenClaims) {
    if fault.is_some_and(|it| it.scenario == FaultScenario::MissingEmail) {
        claims.retain(|name, _| !["email", "email_verified"].contains(&name.as_str()));
    }
}

/// Signs an ID token, as well or as badly as was asked for.
pub(crate) async fn sign_id_token(
    idp: &IdpState,
    provider: &IdpHandle,
    fault: Option<FaultUse>,
    mut claims: TokenClaims,
) -> Result<String> {
    without_email(fault, &mut claims);
    let Some(fault) = fault else { return jwt::signed(idp, provider, ID_TOKEN, claims).await };
    spoil_claims(fault, &mut claims);
    let alg = provider.settings.signing_alg.name();
    let kid = provider.signing_kid();
    let input = |alg: &str, kid: &str| jwt::input(ID_TOKEN, alg, kid, &claims);
    let (input, signature) = match fault.scenario {
        FaultScenario::AlgNone => return Ok(format!("{}.", input("none", kid))),
        FaultScenario::AlgHs256 => {
            let input = input("HS256", kid);
            let key = idp.idps().public_pem(provider)?;
            let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
            let mac = mac.map_err(|_| trapline_app::Error::Crypto)?.chain_update(&input);
            (input, mac.finalize().into_bytes().to_vec())
        }
        FaultScenario::WrongKey | FaultScenario::UnknownKid => {
            let is_unknown = fault.scenario == FaultScenario::UnknownKid;
            let input = input(alg, if is_unknown { "unknown-kid" } else { kid });
            let signature = idp.idps().sign_wrongly(idp.app.cpu(), provider, input.clone()).await?;
            (input, signature)
        }
        _ => {
            let input = input(alg, kid);
            let signed = idp.idps().sign(idp.app.cpu(), provider, input.clone()).await?;
            (input, spoil_signature(fault, signed))
        }
    };
    Ok(format!("{input}.{}", BASE64URL_NOPAD.encode(&signature)))
}

fn spoil_signature(fault: FaultUse, mut signature: Vec<u8>) -> Vec<u8> {
    if fault.scenario == FaultScenario::BadSignature
        && let Some(byte) = signature.get_mut(10)
    {
        *byte ^= 1;
    }
    signature
}
