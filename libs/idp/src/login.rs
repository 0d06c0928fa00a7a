//! The page on which somebody chooses a test user.

mod picker;
mod waiting;

use axum::{
    extract::{RawQuery, State},
    http::{Extensions, HeaderMap, HeaderName, StatusCode, header},
    response::Response,
};
use trapline_app::IdpHandle;
use trapline_model::IdpEventKind;

use crate::{
    authorize::{Browser, Decision, decide},
    failure::{EndpointFailure, OauthRefusal},
    log::LogEntry,
    openapi::{LoginChoice, LoginPage, OauthError},
    page::problem,
    params::{RawBody, RequestParams},
    state::{At, IdpState},
};

use waiting::WaitingLogin;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Show who can be signed in
///
/// The page of test users, for a sign-in that waits; whoever is signed in already goes on at once.
#[utoipa::path(
    get,
    path = "/idp/{slug}/login",
    operation_id = "showLogin",
    params(LoginPage),
    responses(
        (
            status = 200,
            description = "The test users, or a page that sends the answer on by a form.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "Back to the application with a code or an error.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The provider was changed, and does not take the request any more.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 403,
            description = "The provider lets in nobody but people of its team who are signed in at this service.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 410,
            description = "The sign-in is over after 15 minutes, or never began.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn show(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    RawQuery(query): RawQuery,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_query(query);
    let asked = match kept(&idp, provider, &params).await? {
        Ok(asked) => asked,
        Err(answer) => return Ok(*answer),
    };
    let browser = Browser::of(&idp, asked.provider(), headers, extensions).await;
    match decide(&idp, asked.provider(), asked.wanted(), &browser).await? {
        Decision::Ask(first) => {
            picker::page_of(&idp, (asked.provider(), &asked.head()), &params, first).await
        }
        decision => asked.finish(&idp, decision, false).await,
    }
}

/// Sign in a test user
///
/// What the page of test users sends. Only that page may, where a browser says which page it was.
#[utoipa::path(
    post,
    path = "/idp/{slug}/login",
    operation_id = "chooseUser",
    request_body(
        content = LoginChoice,
        content_type = "application/x-www-form-urlencoded",
        description = "The choice."
    ),
    responses(
        (
            status = 200,
            description = "A page that sends the answer on by a form.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 303,
            description = "Back to the application with a code or an error.",
            headers(("Location" = String, description = "Where the browser goes."))
        ),
        (
            status = 400,
            description = "The user is not there, or the provider does not take the request any more. A body \
                           that is no form is told so as JSON.",
            content((String = "text/html"), (OauthError = "application/json"))
        ),
        (
            status = 403,
            description = "A page of another site sent the form, or the provider lets in nobody but its team.",
            body = String,
            content_type = "text/html"
        ),
        (
            status = 410,
            description = "The sign-in is over after 15 minutes, or never began.",
            body = String,
            content_type = "text/html"
        )
    )
)]
pub(crate) async fn choose(
    State(idp): State<IdpState>,
    At { provider, .. }: At,
    extensions: Extensions,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> Result<Response, EndpointFailure> {
    let params = RequestParams::of_form(&headers, &body)?;
    if !is_own_page(&provider, &headers) {
        let words = "<p>Another page sent this form.</p>";
        return Ok(problem(StatusCode::FORBIDDEN, "Nobody was signed in", words));
    }
    let asked = match kept(&idp, provider, &params).await? {
        Ok(asked) => asked,
        Err(answer) => return Ok(*answer),
    };
    let provider = asked.provider();
    let browser = Browser::of(&idp, provider, headers, extensions).await;
    // The team's door is shut for this form too.
    let decision = decide(&idp, provider, asked.wanted(), &browser).await?;
    if let Decision::NotOfTeam { .. } = decision {
        return asked.finish(&idp, decision, true).await;
    }
    if params.get("deny").is_some() {
        let refusal = OauthRefusal::new("access_denied", "the Deny button was pressed");
        return asked.finish(&idp, Decision::Refuse(refusal), true).await;
    }
    let id = params.get("user").and_then(|id| id.parse().ok());
    let user = match id {
        Some(id) => idp.idps().test_user(provider, id).await?,
        None => None,
    };
    let Some(user) = user else {
        let words = "<p>This test user is not there any more. Go back and choose another one.</p>";
        return Ok(problem(StatusCode::BAD_REQUEST, "Nobody was signed in", words));
    };
    let mut entry = LogEntry::of(IdpEventKind::Login, &RequestParams::default());
    entry.event().user = Some(user.id);
    entry.event().flow = Some(asked.flow().to_owned());
    let summary = format!("Somebody chose {}.", user.email);
    entry.went_well(&idp, provider, summary).await;
    let session = idp.idps().new_session(user.id);
    let decision = Decision::SignIn { user: Box::new(user), session, is_new: true };
    asked.finish(&idp, decision, true).await
}

/// The request that waits under the `rid`, or the page that says that there is none.
async fn kept(
    idp: &IdpState,
    provider: IdpHandle,
    params: &RequestParams,
) -> Result<Result<WaitingLogin, Box<Response>>, EndpointFailure> {
    let rid = params.get("rid").unwrap_or_default();
    let kept = idp.idps().kept_login(&provider, rid).await?;
    let Some(kept) = kept else {
        let words = "<p>This sign-in is over, or never began. Start again in your app.</p>";
        let page = problem(StatusCode::GONE, "Start again in your app", words);
        return Ok(Err(Box::new(page)));
    };
    Ok(WaitingLogin::read(idp, provider, &kept).await)
}

/// Whether a form comes from a page of this service, or from no browser.
pub(crate) fn is_own_page(provider: &IdpHandle, headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get(FETCH_SITE) {
        return ["same-origin", "none"].iter().any(|own| site == own);
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let own: Vec<_> = provider.issuer.splitn(4, '/').take(3).collect();
    origin.to_str().is_ok_and(|origin| origin.eq_ignore_ascii_case(&own.join("/")))
}
