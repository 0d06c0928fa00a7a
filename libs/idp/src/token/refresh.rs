//! Refresh tokens become new ones (RFC 6749, section 6; RFC 9700, section 4.14.2).

use trapline_app::{FaultScenario, IdpSignIn, Refreshed};

use super::{TokenAnswer, TokenRequest, invalid_grant, of_sign_in, user_of};
use crate::{
    failure::{EndpointFailure, OauthRefusal},
    log::LogEntry,
    request::scope,
    state::IdpState,
};

pub(super) async fn tokens(
    idp: &IdpState,
    request: &TokenRequest<'_>,
    entry: &mut LogEntry,
) -> Result<TokenAnswer, EndpointFailure> {
    let TokenRequest { provider, params, .. } = request;
    let text = params.required("refresh_token")?;
    let Some(token) = idp.idps().read_refresh_token(provider, text) else {
        return Err(invalid_grant("the refresh token is none that this provider made"));
    };
    let ended = || invalid_grant("the refresh token's sign-in has ended, or its 30 days are over");
    let grant = idp.idps().grant(provider, &token.grant).await?.ok_or_else(ended)?;
    let sign_in = grant.sign_in.as_ref().filter(|_| grant.ended_at.is_none()).ok_or_else(ended)?;
    let user = user_of(idp, provider, sign_in, entry).await?;
    if sign_in.fault.as_deref() == Some(FaultScenario::RefreshRefused.name()) {
        return Err(invalid_grant("this fault was asked for"));
    }
    let narrowed = narrowed(request, sign_in)?;
    match idp.idps().refresh(provider, &token).await? {
        Refreshed::Ended => Err(ended()),
        Refreshed::Reused => {
            let hint = "the refresh token was used before, so that all tokens of its sign-in have ended now";
            Err(invalid_grant(hint))
        }
        Refreshed::Next(grant) => of_sign_in(idp, provider, &grant, (&narrowed, None), &user).await,
    }
}

/// The sign-in with the scopes that the request wants, of which all must have been granted.
fn narrowed(request: &TokenRequest<'_>, sign_in: &IdpSignIn) -> Result<IdpSignIn, EndpointFailure> {
    let wanted = scope(request.params)?;
    if wanted.is_empty() {
        return Ok(sign_in.clone());
    }
    match wanted.iter().find(|name| !sign_in.scope.contains(name)) {
        Some(more) => {
            let hint = format!("the scope {more} was not granted at the sign-in");
            Err(OauthRefusal::new("invalid_scope", hint).into())
        }
        None => Ok(IdpSignIn { scope: wanted, ..sign_in.clone() }),
    }
}
