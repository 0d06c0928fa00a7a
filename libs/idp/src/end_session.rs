//! The end of a session (`OpenID` Connect RP-Initiated Logout 1.0).

use axum::{
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use serde_json::Value;
use trapline_app::{IdpHandle, escape_html};
use trapline_model::IdpEventKind;

use crate::{
    cookie,
    failure::{EndpointFailure, OauthRefusal},
    jwt,
    log::LogEntry,
    login::is_own_page,
    openapi::{LogoutQuestion, OauthError},
    page::page,
    params::{RawBody, RequestParams, encode},
    redirect::{see_other, with_query},
    request::unregistered,
    state::{At, IdpState},
    tokens::ID_TOKEN,
};

/// Sign out
///
/// `OpenID` Connect RP-Initiated Logout 1.0. Whatever is not in order is asked on a page, and sends nobody anywhere.
#[utoipa::path(
    get,
    path = "/idp/{slug}/end_session",
    operation_id = "endIdpSession",
    params(LogoutQuestion),
    responses(
        (
            status = 200,
            description = "Somebody is signed out.",
            body = String,
            content_type = "text/html",
            headers(("Set-Cookie" = String, description = "Takes the session away."))
        ),
        (
            status = 303,
            description = "Somebody is signed out, and goes back to the application.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "A page that asks, and says what is not in order.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn by_query(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    RawQuery(query): RawQuery,
) -> Response {
    let params = RequestParams::of_query(query);
    end(&idp, &provider, &params).await
}

/// Sign out by a form
///
/// The same by POST, which is also how the page that asks is answered.
#[utoipa::path(
    post,
    path = "/idp/{slug}/end_session",
    operation_id = "endIdpSessionByForm",
    request_body(
        content = LogoutQuestion,
        content_type = "application/x-www-form-urlencoded",
        description = "The parameters."
    ),
    responses(
        (
            status = 200,
            description = "Somebody is signed out.",
            body = String,
            content_type = "text/html",
            headers(("Set-Cookie" = String, description = "Takes the session away."))
        ),
        (
            status = 303,
            description = "Somebody is signed out, and goes back to the application.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "A page that asks, and says what is not in order. A body that is no form is told so as JSON.",
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
    if params.get("confirmed").is_some() && is_own_page(&provider, &headers) {
        let entry = LogEntry::of(IdpEventKind::Logout, &params);
        entry.went_well(&idp, &provider, "Somebody signed out by the page.".to_owned()).await;
        return Ok(signed_out(&provider));
    }
    Ok(end(&idp, &provider, &params).await)
}

async fn end(idp: &IdpState, provider: &IdpHandle, params: &RequestParams) -> Response {
    let entry = LogEntry::of(IdpEventKind::Logout, params);
    let uri = params.get("post_logout_redirect_uri");
    if let Err(refusal) = check(idp, provider, params) {
        entry.refused(idp, provider, &refusal).await;
        return ask(provider, &refusal);
    }
    entry.went_well(idp, provider, "Somebody signed out.".to_owned()).await;
    let Some(uri) = uri else { return signed_out(provider) };
    let state = params.get("state").map(|state| ("state", state));
    let query = encode(state.into_iter());
    let to = if query.is_empty() { uri.to_owned() } else { with_query(uri, &query) };
    let mut answer = see_other(&to);
    answer.headers_mut().append(header::SET_COOKIE, cookie::none(provider));
    answer
}

/// What must hold so that a session ends, and the browser goes on, without a question (section 4).
fn check(idp: &IdpState, provider: &IdpHandle, params: &RequestParams) -> Result<(), OauthRefusal> {
    params.once_each()?;
    let refuse = |hint: String| Err(OauthRefusal::new("invalid_request", hint));
    let Some(token) = params.get("id_token_hint") else {
        return refuse(
            "id_token_hint is missing, so that nobody knows whose session it is".to_owned(),
        );
    };
    let claims = jwt::verified(idp, provider, ID_TOKEN, token);
    let audience = claims.as_ref().and_then(|claims| claims.get("aud")).and_then(Value::as_str);
    let client = &provider.settings.client_id;
    if audience != Some(client.as_str()) {
        return refuse("id_token_hint is no ID token of this provider for its client".to_owned());
    }
    if params.get("client_id").is_some_and(|id| id != client) {
        return refuse(format!("client_id is not {client}, whose ID token came with it"));
    }
    match params.get("post_logout_redirect_uri") {
        Some(uri) if !provider.logs_out_to(uri) => {
            let known = &provider.settings.post_logout_redirect_uris;
            refuse(unregistered(uri, known, "postLogoutRedirectUris"))
        }
        _ => Ok(()),
    }
}

fn signed_out(provider: &IdpHandle) -> Response {
    let words = "<p>You are signed out at the test identity provider.</p>";
    let mut answer = page(StatusCode::OK, "Signed out", words);
    answer.headers_mut().append(header::SET_COOKIE, cookie::none(provider));
    answer
}

/// Asks whoever looks at the browser, and sends nobody anywhere.
fn ask(provider: &IdpHandle, refusal: &OauthRefusal) -> Response {
    let action = escape_html(&provider.issuer);
    let body = format!(
        "<p role=\"alert\">{}.</p><form method=\"post\" action=\"{action}/end_session\">\
         <button name=\"confirmed\" value=\"1\">Sign out</button></form>",
        escape_html(&refusal.hint)
    );
    page(StatusCode::BAD_REQUEST, "Do you want to sign out?", &body)
}
