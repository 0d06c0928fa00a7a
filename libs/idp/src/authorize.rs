//! The authorization endpoint: who is to be signed in, asked or not.

mod decide;
mod finish;

use axum::{
    extract::{RawQuery, State},
    http::{Extensions, HeaderMap, StatusCode},
    response::Response,
};
use trapline_app::{IdpHandle, escape_html};
use trapline_model::IdpEventKind;

use crate::{
    failure::{EndpointFailure, OauthRefusal},
    log::LogEntry,
    openapi::{AuthorizationRequest, OauthError},
    page::problem,
    params::{RawBody, RequestParams},
    redirect::see_other,
    request::{AuthRequest, ReturnAddress, return_address},
    state::{At, IdpState},
};
pub(crate) use decide::{Browser, Decision, decide};
pub(crate) use finish::{finish, not_of_team};

/// A request with where its answer goes.
pub(crate) struct Asked {
    pub(crate) provider: IdpHandle,
    pub(crate) back: ReturnAddress,
    pub(crate) request: AuthRequest,
    pub(crate) params: RequestParams,
    /// Joins the entries of the log.
    pub(crate) flow: String,
}

/// Begin a sign-in
///
/// RFC 6749, section 4.1.1; `OpenID` Connect Core, section 3.1.2.1. `request`, `request_uri` and `registration` are
/// refused by their own errors, and a parameter that is there twice is refused, but for `resource`.
#[utoipa::path(
    get,
    path = "/idp/{slug}/authorize",
    operation_id = "authorize",
    params(AuthorizationRequest),
    responses(
        (
            status = 200,
            description = "A page that sends the answer on by a form (`response_mode=form_post`).",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "Back to the application with a code or an error, or on to the page of test users.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The client or the redirect URI is wrong: a page says how, and nobody is sent anywhere.",
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
    let asked = match read(&idp, provider, params, idp.idps().random_id()).await {
        Ok(asked) => asked,
        Err(answer) => return Ok(*answer),
    };
    let browser = Browser::of(&idp, &asked.provider, headers, extensions).await;
    match decide(&idp, &asked.provider, asked.request.wanted(), &browser).await? {
        Decision::Ask(_) => keep(&idp, &asked).await,
        decision => finish(&idp, &asked, decision).await,
    }
}

/// Begin a sign-in by a form
///
/// A form of another site comes without the cookie that says who is signed in, so the request is kept and the
/// browser comes back by a GET.
#[utoipa::path(
    post,
    path = "/idp/{slug}/authorize",
    operation_id = "authorizeByForm",
    request_body(
        content = AuthorizationRequest,
        content_type = "application/x-www-form-urlencoded",
        description = "The parameters."
    ),
    responses(
        (
            status = 200,
            description = "A page that sends the answer on by a form (`response_mode=form_post`).",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "Back to the application with a code or an error, or on to the page of test users.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The client or the redirect URI is wrong: a page says how, and nobody is sent anywhere. \
                           A body that is no form is told so as JSON.",
            content((String = "text/html"), (OauthError = "application/json"))
        )
    )
)]
pub(crate) async fn by_form(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_form(&headers, &body)?;
    match read(&idp, provider, params, idp.idps().random_id()).await {
        Ok(asked) => keep(&idp, &asked).await,
        Err(answer) => Ok(*answer),
    }
}

/// Keeps the request and sends the browser to where it is decided.
async fn keep(idp: &IdpState, asked: &Asked) -> Result<Response, EndpointFailure> {
    let kept = format!("{}\n{}", asked.flow, asked.params.encoded());
    let rid = idp.idps().keep_login(&asked.provider, kept).await?;
    Ok(see_other(&format!("{}/login?rid={rid}", asked.provider.issuer)))
}

/// Reads a request. What is wrong with it is in the log, and is the answer.
pub(crate) async fn read(
    idp: &IdpState,
    provider: IdpHandle,
    params: RequestParams,
    flow: String,
) -> Result<Asked, Box<Response>> {
    let mut entry = LogEntry::of(IdpEventKind::Authorize, &params);
    entry.event().flow = Some(flow.clone());
    let back = match return_address(&provider, &params) {
        Ok(back) => back,
        Err(refusal) => {
            let page = no_return(&provider, &refusal);
            entry.refused(idp, &provider, &refusal).await;
            return Err(Box::new(page));
        }
    };
    match AuthRequest::of(idp, &provider, &params) {
        Ok(request) => Ok(Asked { provider, back, request, params, flow }),
        Err(refusal) => {
            let answer = back.with_error(&provider, &refusal);
            entry.refused(idp, &provider, &refusal).await;
            Err(Box::new(answer))
        }
    }
}

/// What is wrong, where no application can be told: what came, what is registered, and how to add it.
fn no_return(provider: &IdpHandle, refusal: &OauthRefusal) -> Response {
    let id = provider.settings.id;
    let curl = format!(
        "curl -X PATCH -H 'Authorization: Bearer <API key>' -H 'Content-Type: application/json' \
         -d '{{\"redirectUris\": [\"<redirect URI>\"]}}' <base URL>/api/idps/{id}"
    );
    let body = format!(
        "<p>{}.</p><p>The redirect URIs of a provider are set over the API:</p><pre>{}</pre>",
        escape_html(&refusal.hint),
        escape_html(&curl)
    );
    problem(StatusCode::BAD_REQUEST, "This sign-in cannot begin", &body)
}
