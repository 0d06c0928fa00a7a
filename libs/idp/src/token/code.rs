//! Codes become tokens (RFC 6749, section 4.1.3; RFC 7636, section 4.6).

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};
use trapline_app::{CODE_LIFETIME, FaultScenario, IdpCode, Redeemed};

use super::{TokenAnswer, TokenRequest, invalid_grant, of_sign_in, user_of};
use crate::{
    client::Proof,
    failure::{EndpointFailure, OauthRefusal},
    log::LogEntry,
    state::IdpState,
};

/// Characters of a code verifier (RFC 7636, section 4.1).
const VERIFIER: std::ops::RangeInclusive<usize> = 43..=128;

pub(super) async fn tokens(
    idp: &IdpState,
    request: &TokenRequest<'_>,
    entry: &mut LogEntry,
) -> Result<TokenAnswer, EndpointFailure> {
    let TokenRequest { provider, params, .. } = request;
    let code = params.required("code")?;
    let Some(code) = idp.idps().code(provider, code).await? else {
        return Err(invalid_grant("the code is none that this provider made within the last hour"));
    };
    let user = user_of(idp, provider, &code.sign_in, entry).await?;
    // One that was used before ends what it led to, whatever else is wrong (RFC 6749, section 4.1.2).
    if let Some(grant) = idp.idps().grant(provider, &code.sha256).await? {
        idp.idps().end_grant(provider, &grant.id).await?;
        return Err(used_before());
    }
    check_age(idp, &code)?;
    check_redirect(request, &code)?;
    check_verifier(request, &code)?;
    match idp.idps().redeem(provider, &code).await? {
        Redeemed::Again => Err(used_before()),
        Redeemed::Grant(grant) => {
            let sign_in = (&code.sign_in, code.nonce.as_deref());
            if code.sign_in.fault.as_deref() == Some(FaultScenario::RotateNow.name()) {
                let rotated = idp.idps().rotate_amid(provider).await?;
                return of_sign_in(idp, &rotated, &grant, sign_in, &user).await;
            }
            of_sign_in(idp, provider, &grant, sign_in, &user).await
        }
    }
}

fn used_before() -> EndpointFailure {
    invalid_grant("the code was used before, so that all tokens that it led to have ended now")
}

fn check_age(idp: &IdpState, code: &IdpCode) -> Result<(), EndpointFailure> {
    let age = idp.app.now().since(code.issued_at);
    if age > CODE_LIFETIME {
        let late = age.saturating_sub(CODE_LIFETIME).as_secs();
        return Err(invalid_grant(format!("the code expired {late} s ago; one is good for 60 s")));
    }
    Ok(())
}

fn check_redirect(request: &TokenRequest<'_>, code: &IdpCode) -> Result<(), EndpointFailure> {
    match request.params.get("redirect_uri") {
        Some(uri) if uri == code.redirect_uri => Ok(()),
        Some(uri) => {
            let known = &code.redirect_uri;
            Err(invalid_grant(format!("redirect_uri is {uri}, and the code was sent to {known}")))
        }
        None => Err(invalid_grant("redirect_uri is missing, which the code was asked for with")),
    }
}

fn check_verifier(request: &TokenRequest<'_>, code: &IdpCode) -> Result<(), EndpointFailure> {
    let verifier = request.params.get("code_verifier");
    match (&code.challenge, verifier) {
        (None, None) if request.proof == Proof::Nothing => {
            let hint =
                "without a secret a client must use PKCE, and the code had no code_challenge";
            Err(OauthRefusal::new("invalid_client", hint).into())
        }
        (None, None) => Ok(()),
        // RFC 9700, section 4.8.2.
        (None, Some(_)) => Err(invalid_grant(
            "code_verifier came, and the code was asked for without code_challenge",
        )),
        (Some(_), None) => {
            Err(invalid_grant("code_verifier is missing, and the code had a code_challenge"))
        }
        (Some(challenge), Some(verifier)) => {
            let found = BASE64URL_NOPAD.encode(&Sha256::digest(verifier));
            if VERIFIER.contains(&verifier.len()) && found == *challenge {
                return Ok(());
            }
            let hint = format!(
                "the SHA-256 of code_verifier is {found}, and code_challenge was {challenge}"
            );
            Err(invalid_grant(hint))
        }
    }
}
