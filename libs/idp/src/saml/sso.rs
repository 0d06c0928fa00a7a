//! Single sign-on: requests of service providers by either binding, and sign-ins that begin here
//! (saml-profiles, sections 4.1.3 and 4.1.5).

use axum::{
    extract::{RawQuery, State},
    http::{Extensions, HeaderMap},
    response::Response,
};

use super::{
    Binding, Refusal, SamlAsked,
    ask::{read, refused},
    finish,
};
use crate::{
    authorize::{Browser, Decision, decide},
    failure::EndpointFailure,
    openapi::SamlSignIn,
    params::{RawBody, RequestParams},
    redirect::see_other,
    state::{At, IdpState},
};

/// Begin a sign-in by SAML
///
/// The HTTP-Redirect binding (saml-bindings, section 3.4). Without a request the sign-in begins here, and goes to the
/// provider's `samlAcsUrl` (saml-profiles, section 4.1.5).
#[utoipa::path(
    get,
    path = "/idp/{slug}/saml/sso",
    operation_id = "signInBySaml",
    params(SamlSignIn),
    responses(
        (
            status = 200,
            description = "A page that sends the Response to the application, at once or by a button.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "On to the page of test users.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The message is not taken: a page says why, and nothing is sent to anybody.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 403,
            description = "The provider lets in nobody but people of its team who are signed in at this service.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn by_query(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    RawQuery(query): RawQuery,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_query(query);
    let request = (params, idp.idps().random_id());
    let asked = match read(&idp, provider, Binding::Redirect, request).await {
        Ok(asked) => asked,
        Err(answer) => return Ok(*answer),
    };
    if let Some(refusal) = asked.unmet() {
        return finish(&idp, &asked, Decision::Refuse(refusal), false).await;
    }
    let browser = Browser::of(&idp, &asked.provider, headers, extensions).await;
    match decide(&idp, &asked.provider, asked.wanted(), &browser).await? {
        Decision::Ask(_) => keep(&idp, &asked, Binding::Redirect).await,
        decision => finish(&idp, &asked, decision, false).await,
    }
}

/// Begin a sign-in by SAML with a form
///
/// The HTTP-POST binding (saml-bindings, section 3.5). A form of another site comes without the cookie that says who
/// is signed in, so the request is kept and the browser comes back by a GET.
#[utoipa::path(
    post,
    path = "/idp/{slug}/saml/sso",
    operation_id = "signInBySamlForm",
    request_body(
        content = SamlSignIn,
        content_type = "application/x-www-form-urlencoded",
        description = "The request, and what may be in the query too."
    ),
    responses(
        (
            status = 200,
            description = "A page that sends the Response to the application, at once or by a button.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "On to the page of test users.",
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
    match read(&idp, provider, Binding::Post, (params, idp.idps().random_id())).await {
        Ok(asked) => match asked.unmet() {
            Some(refusal) => finish(&idp, &asked, Decision::Refuse(refusal), false).await,
            None => keep(&idp, &asked, Binding::Post).await,
        },
        Err(answer) => Ok(*answer),
    }
}

/// The parameters of a form, and of the address that it was sent to.
pub(super) fn form(
    query: Option<String>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<RequestParams, Refusal> {
    let query = RequestParams::of_query(query);
    Ok(RequestParams::of_form(headers, body)?.and(query))
}

/// Keeps the request and sends the browser to where it is decided.
async fn keep(
    idp: &IdpState,
    asked: &SamlAsked,
    binding: Binding,
) -> Result<Response, EndpointFailure> {
    let rid = idp.idps().keep_login(&asked.provider, asked.kept(binding)).await?;
    Ok(see_other(&format!("{}/login?rid={rid}", asked.provider.issuer)))
}
