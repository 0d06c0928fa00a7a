//! What was decided, as an answer.

use axum::{
    http::{StatusCode, header},
    response::Response,
};
use serde_json::json;
use trapline_app::{
    FaultProtocol, FaultScenario, FaultUse, IdpHandle, IdpSession, IdpSignIn, IdpUserRecord,
    escape_html, metrics,
};
use trapline_model::IdpEventKind;

use super::{Asked, Decision};
use crate::{
    cookie,
    failure::{EndpointFailure, OauthRefusal},
    faults::{WRONG_ISSUER, WRONG_STATE, redirect_error},
    log::LogEntry,
    page::problem,
    request::ReturnAddress,
    state::IdpState,
};

/// Answers a request, with its entry in the log before the answer is sent.
pub(crate) async fn finish(
    idp: &IdpState,
    asked: &Asked,
    decision: Decision,
) -> Result<Response, EndpointFailure> {
    let mut entry = LogEntry::of(IdpEventKind::Authorize, &asked.params);
    entry.event().flow = Some(asked.flow.clone());
    match decision {
        Decision::SignIn { user, session, is_new } => {
            let subjects = &asked.request.claims.subjects;
            if !subjects.is_empty() && !subjects.contains(&user.subject) {
                let hint =
                    format!("claims admits only {}, and not {}", subjects.join(", "), user.subject);
                return Ok(
                    refuse(idp, asked, entry, OauthRefusal::new("login_required", hint)).await
                );
            }
            entry.event().user = Some(user.id);
            sign_in(idp, asked, entry, (&user, &session, is_new)).await
        }
        Decision::Refuse(refusal) => Ok(refuse(idp, asked, entry, refusal).await),
        Decision::NotOfTeam { is_signed_in } => {
            Ok(not_of_team(idp, &asked.provider, entry, is_signed_in).await)
        }
        Decision::Ask(_) => Err(EndpointFailure::Internal),
    }
}

/// The page for somebody who is not of the team.
pub(crate) async fn not_of_team(
    idp: &IdpState,
    provider: &IdpHandle,
    entry: LogEntry,
    is_signed_in: bool,
) -> Response {
    let hint = if is_signed_in {
        "only people of the provider's own team may sign in here"
    } else {
        "only people who are signed in at this service may sign in here"
    };
    entry.refused(idp, provider, &OauthRefusal::new("access_denied", hint)).await;
    let home = escape_html(provider.issuer.split("/idp/").next().unwrap_or_default());
    let body = format!(
        "<p>The provider has requireTeamSession set: {hint}.</p>\
         <p><a href=\"{home}/\">Sign in at {home}/</a>, and then begin again in your app.</p>"
    );
    problem(StatusCode::FORBIDDEN, "This sign-in is for the team only", &body)
}

async fn refuse(idp: &IdpState, asked: &Asked, entry: LogEntry, refusal: OauthRefusal) -> Response {
    metrics::idp_sign_in("oidc", "refused");
    let answer = asked.back.with_error(&asked.provider, &refusal);
    entry.refused(idp, &asked.provider, &refusal).await;
    answer
}

async fn sign_in(
    idp: &IdpState,
    asked: &Asked,
    mut entry: LogEntry,
    (user, session, is_new): (&IdpUserRecord, &IdpSession, bool),
) -> Result<Response, EndpointFailure> {
    let Asked { provider, back, request, flow, .. } = asked;
    let fault = match request.fault {
        Some(fault) => Some(fault),
        None => idp.idps().take_fault(provider, user.id, FaultProtocol::Oidc).await?,
    };
    entry.event().fault = fault.map(FaultUse::text);
    if let Some(code) = fault.and_then(redirect_error) {
        let refusal = OauthRefusal::new(code, "this fault was asked for");
        return Ok(refuse(idp, asked, entry, refusal).await);
    }
    let bound = IdpSignIn {
        user: user.id,
        auth_time: session.auth_time,
        sid: session.sid.clone(),
        scope: request.scope.clone(),
        resource: request.resource.clone(),
        acr: request.acr.clone(),
        id_token_claims: request.claims.id_token.clone(),
        userinfo_claims: request.claims.userinfo.clone(),
        flow: flow.clone(),
        fault: fault.map(FaultUse::text),
    };
    let proofs = (request.challenge.clone(), request.nonce.clone());
    let uri = back.redirect_uri.clone();
    let code = idp.idps().issue_code(provider, bound, uri, proofs).await?;
    let mut answer = spoiled(back, fault).with_code(&spoiled_issuer(provider, fault), code);
    if is_new {
        let cookie = cookie::of(idp, provider, session)?;
        answer.headers_mut().append(header::SET_COOKIE, cookie);
    }
    metrics::idp_sign_in("oidc", "ok");
    entry.event().response = json!({ "redirectUri": back.redirect_uri });
    let unknown = request
        .login_hint
        .as_ref()
        .filter(|hint| !hint.eq_ignore_ascii_case(&user.email) && **hint != user.subject);
    let note =
        unknown.map_or_else(String::new, |hint| format!(" (login_hint {hint:?} is not this user)"));
    let summary = format!("{} signed in, and got a code{note}.", user.email);
    entry.went_well(idp, provider, summary).await;
    Ok(answer)
}

/// The way back with another state, where that was asked for.
fn spoiled(back: &ReturnAddress, fault: Option<FaultUse>) -> ReturnAddress {
    let mut back = back.clone();
    if fault.is_some_and(|it| it.scenario == FaultScenario::StateMismatch) {
        back.state = Some(WRONG_STATE.to_owned());
    }
    back
}

/// The provider by another name, where that was asked for.
fn spoiled_issuer(provider: &IdpHandle, fault: Option<FaultUse>) -> IdpHandle {
    let mut provider = provider.clone();
    if fault.is_some_and(|it| it.scenario == FaultScenario::IssMismatch) {
        WRONG_ISSUER.clone_into(&mut provider.issuer);
    }
    provider
}
