//! Where browsers go to sign in at a team's identity provider, and come back. Every answer is for people.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::{Extensions, HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use trapline_app::{App, Error as AppError, SsoAnswer, SsoProblem, escape_html};
use trapline_model::TeamId;

use crate::{
    auth::{Site, visitor},
    error::{Error, Result, of_sso},
    html_page::{FORM_STYLE, SecretPage, issues_text},
    layers::{self, around},
    people::cookie_of,
    people_page::field,
    state::Api,
};

/// The address holds a code, which is the provider's and the server's own business.
static PAGE: SecretPage = SecretPage {
    title: "Sign in",
    style: FORM_STYLE,
    // The form leads to the provider, and browsers hold the policy against that too (CSP 3, section 6.4.2).
    policy: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self' https: http:; \
             base-uri 'none'; frame-ancestors 'none'",
    referrer: "no-referrer",
};

/// A provider adds parameters of its own to the address, so these are no part of the document of the API.
pub(crate) fn routes() -> Router<Api> {
    Router::new()
        .route("/api/auth/sso", get(start))
        .route("/api/auth/sso/{team}/callback", get(finish))
        .layer((around(PAGE.error_layer()), around(layers::request_timeout)))
}

/// Sends the browser to the provider of whoever has the address `email`; without one the page asks.
async fn start(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response> {
    let email = field(query.unwrap_or_default().as_bytes(), "email");
    if email.is_empty() {
        return Ok(PAGE.answer(StatusCode::OK, FORM));
    }
    match app.sso().begin(&email, &visitor(&extensions, &headers)).await {
        Ok(begun) => Ok(redirect(&begun.url, &[site.sso_cookie(&begun.sealed)])),
        Err(error) => problem(error),
    }
}

/// Begins the session of whoever comes back from the provider.
async fn finish(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    Path(team): Path<String>,
    RawQuery(query): RawQuery,
    extensions: Extensions,
    headers: HeaderMap,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let query = query.as_bytes();
    let answer = SsoAnswer {
        state: field(query, "state"),
        code: field(query, "code"),
        error: field(query, "error"),
        issuer: field(query, "iss"),
        sealed: site.sso_token(&headers).unwrap_or_default().to_owned(),
    };
    let Ok(team) = team.parse::<TeamId>() else {
        return problem(AppError::Sso(SsoProblem::NoTeam));
    };
    match app.sso().finish(team, &answer, &visitor(&extensions, &headers)).await {
        Ok(session) => {
            let cookie = cookie_of(&app, &site, &headers, &session).await?;
            let home = format!("{}/", app.settings().base_url);
            Ok(redirect(&home, &[cookie, site.no_sso_cookie()]))
        }
        Err(error) => problem(error),
    }
}

/// A form of any address; the browser sends it as this page's own query.
const FORM: &str = "<h1>Sign in with single sign-on</h1><form>\
    <label>Your mail address at work<input type=\"email\" name=\"email\" maxlength=\"254\" \
    autocomplete=\"username\" required></label><button>Continue</button></form>";

fn redirect(to: &str, cookies: &[HeaderValue]) -> Response {
    let Ok(location) = HeaderValue::try_from(to) else {
        return Error::invalid("email", "invalid_address", "leads nowhere").into_response();
    };
    let mut answer = (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response();
    let fixed = HeaderValue::from_static;
    answer.headers_mut().insert(header::CACHE_CONTROL, fixed("no-store"));
    answer.headers_mut().insert(header::REFERRER_POLICY, fixed("no-referrer"));
    for cookie in cookies {
        answer.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    answer
}

/// What went wrong, as a page for whoever wants in.
fn problem(error: AppError) -> Result<Response> {
    let (status, words) = match &error {
        AppError::Sso(problem) => (of_sso(problem).0, problem.to_string()),
        AppError::Invalid(issues) => (StatusCode::BAD_REQUEST, issues_text(issues)),
        AppError::QuotaExceeded { .. } => {
            let words = "the team has as many members as its plan allows";
            (StatusCode::PAYMENT_REQUIRED, words.to_owned())
        }
        // The layer around the page tells of these.
        _ => return Err(error.into()),
    };
    let body = format!(
        "<h1>You are not signed in</h1><p role=\"alert\">This did not work: {}.</p>\
         <p><a href=\"?\">Try again</a></p>",
        escape_html(&words)
    );
    Ok(PAGE.answer(status, &body))
}
