//! Authentication requests: what is checked before anybody is asked, and who is wanted.

use axum::{http::StatusCode, response::Response};
use trapline_app::{FaultProtocol, FaultUse, IdpHandle, escape_html, web_url_problem};
use trapline_model::{IdpEventKind, NameIdFormat};

use super::{
    Binding, Refusal,
    decode::{message, relay_state},
    log::entry_of,
    message::{AuthnRequest, SamlRequestHead},
    sso_url,
};
use crate::{
    page::problem,
    params::RequestParams,
    request::{Prompt, Wanted, hint_and_fault},
    state::IdpState,
};

/// A sign-in whose answer has somewhere to go.
pub(crate) struct SamlAsked {
    pub(crate) provider: IdpHandle,
    pub(crate) params: RequestParams,
    /// Joins the entries of the log.
    pub(crate) flow: String,
    /// The request as it came; `None` where the provider itself begins.
    pub(crate) xml: Option<String>,
    pub(crate) request: Option<AuthnRequest>,
    /// Where the answer goes.
    pub(crate) acs: String,
    /// Whether somebody configured that.
    pub(crate) is_acs_configured: bool,
    /// The service provider's entity id.
    pub(crate) sp: String,
    pub(crate) relay_state: Option<String>,
    login_hint: Option<String>,
    /// What is to go wrong with this sign-in alone.
    pub(crate) fault: Option<FaultUse>,
}

/// Reads a sign-in. What is wrong with it is in the log and on a page, and is sent to nobody.
pub(crate) async fn read(
    idp: &IdpState,
    provider: IdpHandle,
    binding: Binding,
    (params, flow): (RequestParams, String),
) -> Result<SamlAsked, Box<Response>> {
    let mut xml = None;
    match checked(idp, &provider, binding, (&params, &flow), &mut xml) {
        Ok(asked) => Ok(asked),
        Err(refusal) => {
            let entry = entry_of(IdpEventKind::SamlRequest, &params, &flow, (None, xml.as_deref()));
            let page = refused(&provider, &refusal);
            entry.refused(idp, &provider, &refusal).await;
            Err(Box::new(page))
        }
    }
}

/// What is wrong, for whoever looks at the browser.
pub(crate) fn refused(provider: &IdpHandle, refusal: &Refusal) -> Response {
    let curl = format!(
        "curl -X PATCH -H 'Authorization: Bearer <API key>' -H 'Content-Type: application/json' \
         -d '{{\"samlAcsUrl\": \"<ACS URL>\", \"samlSpEntityId\": \"<entity id>\"}}' \
         <base URL>/api/idps/{}",
        provider.settings.id
    );
    let body = format!(
        "<p>{}.</p><p>What a provider knows of its service provider is set over the API:</p>\
         <pre>{}</pre>",
        escape_html(&refusal.hint),
        escape_html(&curl)
    );
    problem(StatusCode::BAD_REQUEST, "This SAML message is not taken", &body)
}

fn checked(
    idp: &IdpState,
    provider: &IdpHandle,
    binding: Binding,
    (params, flow): (&RequestParams, &str),
    xml: &mut Option<String>,
) -> Result<SamlAsked, Refusal> {
    let relay_state = relay_state(params)?;
    let (login_hint, fault) = hint_and_fault(params, FaultProtocol::Saml)?;
    let is_begun_here = binding == Binding::Redirect && params.get("SAMLRequest").is_none();
    let request = if is_begun_here {
        None
    } else {
        let text = xml.insert(message(binding, "SAMLRequest", params)?);
        Some(AuthnRequest::read(text, idp.now())?)
    };
    let head = request.as_ref().map(|request| &request.head);
    let sp = check_head(provider, head, &sso_url(provider))?;
    let (acs, is_acs_configured) = acs_of(provider, request.as_ref())?;
    Ok(SamlAsked {
        provider: provider.clone(),
        params: params.clone(),
        flow: flow.to_owned(),
        xml: xml.clone(),
        acs,
        is_acs_configured,
        sp,
        relay_state,
        login_hint: login_hint.or_else(|| request.as_ref()?.subject.clone()),
        fault,
        request,
    })
}

/// Holds what a request says of both sides against what is known. The entity id of the service provider.
pub(crate) fn check_head(
    provider: &IdpHandle,
    head: Option<&SamlRequestHead>,
    place: &str,
) -> Result<String, Refusal> {
    let destination = head.and_then(|head| head.destination.as_deref());
    if let Some(destination) = destination
        // A service provider may have been given the address with `mock_fault` behind it.
        && destination.split('?').next() != Some(place)
    {
        let hint = format!("Destination must be {place}, and is {destination}");
        return Err(Refusal::new("wrong_destination", hint));
    }
    let known = provider.settings.saml_sp_entity_id.as_ref();
    match (known, head) {
        (Some(known), None) => Ok(known.clone()),
        (None, None) => {
            let hint =
                "samlSpEntityId is not set, so that a sign-in without a request is for nobody";
            Err(Refusal::new("wrong_issuer", hint))
        }
        (known, Some(head)) => {
            let issuer = head.issuer.as_deref().filter(|issuer| !issuer.is_empty());
            let Some(issuer) = issuer else {
                let hint = "the request has no Issuer, which profiles of SAML want";
                return Err(Refusal::new("wrong_issuer", hint));
            };
            match known {
                Some(known) if known != issuer => {
                    let hint = format!("Issuer must be {known} (samlSpEntityId), and is {issuer}");
                    Err(Refusal::new("wrong_issuer", hint))
                }
                _ => Ok(issuer.to_owned()),
            }
        }
    }
}

/// Where the answer goes, and whether somebody configured that.
fn acs_of(provider: &IdpHandle, request: Option<&AuthnRequest>) -> Result<(String, bool), Refusal> {
    let refuse = |hint: String| Err(Refusal::new("wrong_acs", hint));
    let known = provider.settings.saml_acs_url.as_deref();
    match (known, request.and_then(|request| request.acs.as_deref())) {
        (Some(known), Some(asked)) if known != asked => refuse(format!(
            "AssertionConsumerServiceURL must be {known} (samlAcsUrl), and is {asked}"
        )),
        (Some(known), _) => Ok((known.to_owned(), true)),
        (None, Some(asked)) => match web_url_problem(asked) {
            Some(problem) => refuse(format!("AssertionConsumerServiceURL {asked} {problem}")),
            None => Ok((asked.to_owned(), false)),
        },
        (None, None) => refuse(
            "samlAcsUrl is not set, and no AssertionConsumerServiceURL came either".to_owned(),
        ),
    }
}

impl SamlAsked {
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        let is = |read: fn(&AuthnRequest) -> bool| self.request.as_ref().is_some_and(read);
        Wanted {
            prompt: Prompt { is_none: is(|it| it.is_passive), is_asked: is(|it| it.is_forced) },
            max_age: None,
            login_hint: self.login_hint.as_deref(),
            hinted_subject: None,
        }
    }

    /// What the request wants and the provider does not do; the service provider is told.
    pub(crate) fn unmet(&self) -> Option<Refusal> {
        let request = self.request.as_ref()?;
        let post = Binding::Post.urn();
        if let Some(binding) = request.binding.as_deref().filter(|binding| *binding != post) {
            let hint = format!("ProtocolBinding must be {post}, and is {binding}");
            return Some(Refusal::new("unsupported_binding", hint));
        }
        let format = request.name_id_format.as_deref()?;
        if NameIdFormat::ALL.iter().any(|known| known.urn() == format) {
            return None;
        }
        let hint = format!("NameIDPolicy wants {format}, which is none of the four formats");
        Some(Refusal::new("invalid_name_id_policy", hint))
    }

    /// How the user is named: as the request says, or else as the provider is set to. A request that leaves it
    /// unspecified takes any kind of name (saml-core, section 3.4.1.1).
    pub(crate) fn name_id_format(&self) -> NameIdFormat {
        let asked = self.request.as_ref().and_then(|it| it.name_id_format.as_deref());
        let asked = asked.and_then(NameIdFormat::named);
        let asked = asked.filter(|format| *format != NameIdFormat::Unspecified);
        asked.unwrap_or(self.provider.settings.saml_name_id_format)
    }

    /// The request as it is kept while somebody is asked.
    pub(crate) fn kept(&self, binding: Binding) -> String {
        kept(binding, &self.flow, &self.params)
    }

    /// The words of the page on which a user is chosen, as HTML.
    pub(crate) fn head(&self) -> String {
        let (name, acs) = (escape_html(&self.provider.settings.name), escape_html(&self.acs));
        format!("<p>{name} signs you in to {}, at {acs}.</p>", escape_html(&self.sp))
    }
}

/// A request as it is kept; it is checked anew when it is taken up.
fn kept(binding: Binding, flow: &str, params: &RequestParams) -> String {
    format!("saml-{}\n{flow}\n{}", binding.name(), params.encoded())
}
