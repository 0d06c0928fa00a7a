//! What was decided, as a response that the browser takes to the service provider.

use std::time::Duration;

use axum::{http::header, response::Response};
use data_encoding::BASE64;
use trapline_app::{
    FaultProtocol, FaultScenario, FaultUse, IdpSession, IdpUserRecord, escape_html, metrics,
};
use trapline_model::IdpEventKind;

use super::{
    Refusal, SamlAsked, entity_id, fault,
    log::{answer, entry_of},
    name::{attributes, name_of},
    new_id,
    response::{AssertionClaims, DEFAULT_CLASS, FailedStatus, SamlEnvelope},
    sign::{DigestMethod, SamlSigner},
};
use crate::{
    authorize::{Decision, not_of_team},
    cookie,
    failure::EndpointFailure,
    log::LogEntry,
    page::{offering, sending},
    state::IdpState,
};

/// Seconds that an assertion is good for, and by which the other's clock may be behind.
const LIFETIME: i64 = 300;
const LEEWAY: i64 = 60;

/// Answers a request, with its entry in the log before the answer is sent. `is_clicked` says that somebody
/// pressed a button of a page that says where the answer goes.
pub(crate) async fn finish(
    idp: &IdpState,
    asked: &SamlAsked,
    decision: Decision,
    is_clicked: bool,
) -> Result<Response, EndpointFailure> {
    let sp = Some(asked.sp.as_str());
    let mut entry = entry_of(
        IdpEventKind::SamlResponse,
        &asked.params,
        &asked.flow,
        (sp, asked.xml.as_deref()),
    );
    match decision {
        Decision::SignIn { user, session, .. } => {
            entry.event().user = Some(user.id);
            sign_in(idp, asked, entry, (&user, session, is_clicked)).await
        }
        Decision::Refuse(refusal) => {
            let status = status_of(&refusal);
            fail(idp, asked, entry, (refusal, status, is_clicked)).await
        }
        Decision::NotOfTeam { is_signed_in } => {
            Ok(not_of_team(idp, &asked.provider, entry, is_signed_in).await)
        }
        Decision::Ask(_) => Err(EndpointFailure::Internal),
    }
}

/// What the service provider is told of a refusal (saml-core, section 3.2.2.2).
fn status_of(refusal: &Refusal) -> FailedStatus {
    let (top, sub) = match refusal.code {
        "login_required" => ("Responder", "NoPassive"),
        "unsupported_binding" => ("Requester", "UnsupportedBinding"),
        "invalid_name_id_policy" => ("Requester", "InvalidNameIDPolicy"),
        _ => ("Responder", "AuthnFailed"),
    };
    FailedStatus { top, sub: Some(sub) }
}

/// A signed response without an assertion.
async fn fail(
    idp: &IdpState,
    asked: &SamlAsked,
    mut entry: LogEntry,
    (refusal, status, is_clicked): (Refusal, FailedStatus, bool),
) -> Result<Response, EndpointFailure> {
    metrics::idp_sign_in("saml", "refused");
    let key = idp.idps().saml_key(&asked.provider)?;
    let mut response = envelope(idp, asked).response(Some(status));
    let xml = idp.app.cpu().run_short(move || {
        let sign = |message: &[u8]| key.sign(message);
        let digest = DigestMethod::Sha256;
        let signer = SamlSigner { certificate: key.certificate(), digest, sign: &sign };
        signer.sign(&mut response).map(|()| response.document())
    });
    let xml = xml.await??;
    entry.event().response = answer(&asked.acs, &xml);
    entry.refused(idp, &asked.provider, &refusal).await;
    Ok(delivered(asked, &xml, asked.relay_state.as_deref(), is_clicked))
}

async fn sign_in(
    idp: &IdpState,
    asked: &SamlAsked,
    mut entry: LogEntry,
    (user, mut session, is_clicked): (&IdpUserRecord, IdpSession, bool),
) -> Result<Response, EndpointFailure> {
    let provider = &asked.provider;
    let fault = match asked.fault {
        Some(fault) => Some(fault),
        None => idp.idps().take_fault(provider, user.id, FaultProtocol::Saml).await?,
    };
    entry.event().fault = fault.map(FaultUse::text);
    if let Some(status) = fault.and_then(fault::failed_status) {
        let refusal = Refusal::new("fault", "this fault was asked for");
        return fail(idp, asked, entry, (refusal, status, is_clicked)).await;
    }
    let known = (asked.sp.as_str(), asked.name_id_format(), session.sid.as_str());
    session.saml = Some(name_of(idp, provider, user, known));
    let (xml, left_out) = response(idp, asked, (user, &session), fault).await?;
    let is = |scenario| fault.is_some_and(|fault| fault.scenario == scenario);
    if is(FaultScenario::Slow) {
        let late = idp.slow.begin(provider.settings.id);
        let _late = late.ok_or(EndpointFailure::Unavailable)?;
        let seconds = fault.and_then(|fault| u64::try_from(fault.value).ok()).unwrap_or(1);
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
    let state = asked.relay_state.as_deref().filter(|_| !is(FaultScenario::RelaystateDropped));
    // Of the team whoever signs in is known by now.
    let is_sure = is_clicked || provider.settings.require_team_session;
    let mut page = delivered(asked, &xml, state, is_sure);
    page.headers_mut().append(header::SET_COOKIE, cookie::of(idp, provider, &session)?);
    metrics::idp_sign_in("saml", "ok");
    entry.event().response = answer(&asked.acs, &xml);
    let note = if left_out.is_empty() {
        String::new()
    } else {
        format!(" (no attributes of {}, which are objects)", left_out.join(", "))
    };
    let late = asked.request.as_ref().and_then(|request| request.head.note.as_deref());
    let late = late.map_or_else(String::new, |late| format!(" ({late})"));
    let summary = format!("{} signed in at {}{note}{late}.", user.email, asked.sp);
    entry.went_well(idp, provider, summary).await;
    Ok(page)
}

/// The response, and the names of claims that are no attributes.
async fn response(
    idp: &IdpState,
    asked: &SamlAsked,
    (user, session): (&IdpUserRecord, &IdpSession),
    fault: Option<FaultUse>,
) -> Result<(String, Vec<String>), EndpointFailure> {
    let provider = &asked.provider;
    let is = |scenario| fault.is_some_and(|fault| fault.scenario == scenario);
    if is(FaultScenario::Replay)
        && let Some(kept) = idp.idps().kept_response(provider).await?
    {
        return Ok((kept, Vec::new()));
    }
    let key = if is(FaultScenario::WrongKey) {
        idp.idps().stray_saml_key(provider).await?
    } else {
        idp.idps().saml_key(provider)?
    };
    let mut envelope = envelope(idp, asked);
    let (mut claims, left_out) = claims(idp, asked, user, session);
    let signed = provider.settings.saml_sign.into();
    let xml = idp.app.cpu().run_short(move || {
        if let Some(fault) = fault {
            fault::spoil(fault, &mut envelope, &mut claims);
        }
        fault::document((&envelope, &claims), signed, fault, &key)
    });
    let xml = xml.await??;
    // For whoever asks for it again.
    idp.idps().keep_response(provider, xml.clone()).await?;
    Ok((xml, left_out))
}

fn envelope(idp: &IdpState, asked: &SamlAsked) -> SamlEnvelope {
    SamlEnvelope {
        id: new_id(idp),
        issuer: entity_id(&asked.provider),
        destination: asked.acs.clone(),
        in_response_to: asked.request.as_ref().map(|request| request.head.id.clone()),
        issued_at: idp.now(),
    }
}

fn claims(
    idp: &IdpState,
    asked: &SamlAsked,
    user: &IdpUserRecord,
    session: &IdpSession,
) -> (AssertionClaims, Vec<String>) {
    let (attributes, left_out) = attributes(user);
    let now = idp.now();
    let class = asked.request.as_ref().and_then(|request| request.class.clone());
    let name = (asked.sp.as_str(), asked.name_id_format(), session.sid.as_str());
    let claims = AssertionClaims {
        id: new_id(idp),
        entity_id: entity_id(&asked.provider),
        name: name_of(idp, &asked.provider, user, name),
        recipient: asked.acs.clone(),
        audience: asked.sp.clone(),
        not_before: now - LEEWAY,
        not_on_or_after: now + LIFETIME,
        auth_instant: session.auth_time.millis().div_euclid(1_000),
        session_index: session.sid.clone(),
        session_ends: now + i64::from(asked.provider.settings.token_ttl),
        class: class.unwrap_or_else(|| DEFAULT_CLASS.to_owned()),
        attributes,
    };
    (claims, left_out)
}

/// The page that takes a response to the service provider (saml-bindings, section 3.5.4): at once where somebody
/// configured the address, saw it or is of the team, since a provider is no cannon for forms to anywhere.
fn delivered(asked: &SamlAsked, xml: &str, relay_state: Option<&str>, is_sure: bool) -> Response {
    let mut fields = vec![("SAMLResponse".to_owned(), BASE64.encode(xml.as_bytes()))];
    if let Some(state) = relay_state {
        fields.push(("RelayState".to_owned(), state.to_owned()));
    }
    if asked.is_acs_configured || is_sure {
        return sending(&asked.acs, &fields);
    }
    let words = format!(
        "<p>{} asks that its answer be sent to {}, an address that nobody configured. With \
         samlAcsUrl set, nobody is asked.</p>",
        escape_html(&asked.sp),
        escape_html(&asked.acs)
    );
    offering(&words, &asked.acs, &fields)
}
