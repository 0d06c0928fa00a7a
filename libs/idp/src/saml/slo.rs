//! Single logout (saml-profiles, section 4.4), begun at either side.

use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use trapline_app::{IdpHandle, IdpSession, escape_html};
use trapline_model::IdpEventKind;

use super::{
    Binding, Refusal,
    ask::{check_head, refused},
    decode::{message, relay_state},
    entity_id,
    log::{answer, entry_of},
    logout::{self, OutgoingLogout},
    message::{LogoutRequest, LogoutResponse},
    new_id,
    response::SamlEnvelope,
    slo_url,
    sso::form,
};
use crate::{
    cookie,
    failure::EndpointFailure,
    openapi::SamlLogout,
    page::page,
    params::{RawBody, RequestParams},
    state::{At, IdpState},
};

/// A message that came, and who is signed in at the browser that brought it.
struct IncomingLogout {
    provider: IdpHandle,
    binding: Binding,
    params: RequestParams,
    flow: String,
    session: Option<IdpSession>,
}

impl IncomingLogout {
    fn new(
        idp: &IdpState,
        provider: IdpHandle,
        headers: &HeaderMap,
        binding: Binding,
        params: RequestParams,
    ) -> Self {
        let session = cookie::session(idp, &provider, headers);
        Self { provider, binding, params, flow: idp.idps().random_id(), session }
    }
}

/// Sign out by SAML
///
/// The HTTP-Redirect binding (saml-profiles, section 4.4). Without a message the logout begins here, and the
/// application is told at the provider's `samlSloUrl`.
#[utoipa::path(
    get,
    path = "/idp/{slug}/saml/slo",
    operation_id = "signOutBySaml",
    params(SamlLogout),
    responses(
        (
            status = 200,
            description = "Somebody is signed out, or the application's answer to that.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "To the application with a signed LogoutResponse or LogoutRequest.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The message is not taken: a page says why, and nothing is sent to anybody.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn by_query(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_query(query);
    answer_to(&idp, IncomingLogout::new(&idp, provider, &headers, Binding::Redirect, params)).await
}

/// Sign out by SAML with a form
///
/// The HTTP-POST binding.
#[utoipa::path(
    post,
    path = "/idp/{slug}/saml/slo",
    operation_id = "signOutBySamlForm",
    request_body(
        content = SamlLogout,
        content_type = "application/x-www-form-urlencoded",
        description = "The message."
    ),
    responses(
        (
            status = 200,
            description = "Somebody is signed out, and a page sends the signed LogoutResponse to the application.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 400,
            description = "The message is not taken: a page says why, and nothing is sent to anybody.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn by_form(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = match form(query, &headers, &body) {
        Ok(params) => params,
        Err(refusal) => return Ok(refused(&provider, &refusal)),
    };
    answer_to(&idp, IncomingLogout::new(&idp, provider, &headers, Binding::Post, params)).await
}

async fn answer_to(idp: &IdpState, incoming: IncomingLogout) -> Result<Response, EndpointFailure> {
    let has = |name| incoming.params.get(name).is_some();
    let (is_request, is_response) = (has("SAMLRequest"), has("SAMLResponse"));
    if !is_request && !is_response && incoming.binding == Binding::Redirect {
        return begun_here(idp, incoming).await;
    }
    let mut xml = None;
    let outcome = if is_response && !is_request {
        confirmed(idp, &incoming, &mut xml).await
    } else {
        requested(idp, &incoming, &mut xml).await
    };
    match outcome {
        Err(EndpointFailure::Refused(refusal)) => {
            let kind = IdpEventKind::SamlLogout;
            let IncomingLogout { provider, params, flow, .. } = &incoming;
            let entry = entry_of(kind, params, flow, (None, xml.as_deref()));
            let page = refused(provider, &refusal);
            entry.refused(idp, provider, &refusal).await;
            Ok(page)
        }
        outcome => outcome,
    }
}

/// A service provider asks. The session ends even where the request names another one: what was asked for is
/// that nobody be signed in.
async fn requested(
    idp: &IdpState,
    incoming: &IncomingLogout,
    xml: &mut Option<String>,
) -> Result<Response, EndpointFailure> {
    let IncomingLogout { provider, binding, params, flow, session } = incoming;
    let relay_state = relay_state(params)?;
    let text = xml.insert(message(*binding, "SAMLRequest", params)?);
    let request = LogoutRequest::read(text, idp.now())?;
    let sp = check_head(provider, Some(&request.head), &slo_url(provider))?;
    let kind = IdpEventKind::SamlLogout;
    let mut entry = entry_of(kind, params, flow, (Some(&sp), Some(text)));
    entry.event().user = session.as_ref().map(|session| session.user);
    let note = note_on(&request, session.as_ref());
    let Some(to) = provider.settings.saml_slo_url.clone() else {
        let summary = format!("{sp} signed somebody out, and samlSloUrl is not set{note}.");
        entry.went_well(idp, provider, summary).await;
        let words = "<p>The session at the test identity provider has ended. With samlSloUrl set, the \
                     application is told.</p>";
        return Ok(ended(provider, page(StatusCode::OK, "Signed out", words)));
    };
    let mut envelope = envelope(idp, provider, &to);
    envelope.in_response_to = Some(request.head.id);
    let message = logout::response(&envelope);
    let outgoing = OutgoingLogout { to: to.clone(), name: "SAMLResponse", message, relay_state };
    let key = idp.idps().saml_key(provider)?;
    let (page, sent) = outgoing.send(idp, *binding, key).await?;
    entry.event().response = answer(&to, &sent);
    entry.went_well(idp, provider, format!("{sp} signed somebody out{note}.")).await;
    Ok(ended(provider, page))
}

/// What a request says of another session than the browser's.
fn note_on(request: &LogoutRequest, session: Option<&IdpSession>) -> String {
    let Some(session) = session else {
        return " (the browser showed no session)".to_owned();
    };
    let index = request.session_index.as_ref();
    let name = session.saml.as_ref().map(|known| &known.name);
    if index.is_some_and(|index| *index != session.sid) {
        return " (SessionIndex is of another session)".to_owned();
    }
    if request.name_id.as_ref() != name {
        return " (NameID is not the one that the session was told by)".to_owned();
    }
    String::new()
}

/// A service provider has done what it was asked for.
async fn confirmed(
    idp: &IdpState,
    incoming: &IncomingLogout,
    xml: &mut Option<String>,
) -> Result<Response, EndpointFailure> {
    let IncomingLogout { provider, binding, params, flow, .. } = incoming;
    let text = xml.insert(message(*binding, "SAMLResponse", params)?);
    let response = LogoutResponse::read(text)?;
    let sp = response.issuer.as_deref();
    let entry = entry_of(IdpEventKind::SamlLogout, params, flow, (sp, Some(text)));
    let name = sp.unwrap_or("The application").to_owned();
    if response.status != "Success" {
        let hint = format!("{name} answers {} to the logout", response.status);
        entry.refused(idp, provider, &Refusal::new("logout_failed", hint.clone())).await;
        let words = format!("<p>{}.</p>", escape_html(&hint));
        return Ok(page(StatusCode::OK, "Signed out here, and not there", &words));
    }
    entry.went_well(idp, provider, format!("{name} has signed somebody out.")).await;
    let words = format!("<p>{} has ended its session too.</p>", escape_html(&name));
    Ok(page(StatusCode::OK, "Signed out", &words))
}

/// Somebody signs out at the provider; the service provider is told where there is one.
async fn begun_here(idp: &IdpState, incoming: IncomingLogout) -> Result<Response, EndpointFailure> {
    let IncomingLogout { provider, params, flow, session, .. } = incoming;
    let kind = IdpEventKind::SamlLogout;
    let known = session.as_ref().and_then(|session| Some((session, session.saml.as_ref()?)));
    let sp = known.map(|(_, known)| known.sp.as_str());
    let mut entry = entry_of(kind, &params, &flow, (sp, None));
    entry.event().user = session.as_ref().map(|session| session.user);
    let to = provider.settings.saml_slo_url.clone();
    let (Some((session, known)), Some(to)) = (known, to) else {
        entry.went_well(idp, &provider, "Somebody signed out.".to_owned()).await;
        let words = "<p>You are signed out at the test identity provider.</p>";
        return Ok(ended(&provider, page(StatusCode::OK, "Signed out", words)));
    };
    let message = logout::request(&envelope(idp, &provider, &to), session, known);
    let relay_state = None;
    let outgoing = OutgoingLogout { to: to.clone(), name: "SAMLRequest", message, relay_state };
    let key = idp.idps().saml_key(&provider)?;
    let (page, sent) = outgoing.send(idp, Binding::Redirect, key).await?;
    entry.event().response = answer(&to, &sent);
    let summary = format!("Somebody signed out, and {} is told.", known.sp);
    entry.went_well(idp, &provider, summary).await;
    Ok(ended(&provider, page))
}

fn envelope(idp: &IdpState, provider: &IdpHandle, to: &str) -> SamlEnvelope {
    SamlEnvelope {
        id: new_id(idp),
        issuer: entity_id(provider),
        destination: to.to_owned(),
        in_response_to: None,
        issued_at: idp.now(),
    }
}

fn ended(provider: &IdpHandle, mut answer: Response) -> Response {
    answer.headers_mut().append(header::SET_COOKIE, cookie::none(provider));
    answer
}
