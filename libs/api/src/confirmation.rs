//! The page behind a confirmation link. Whoever has the link needs no key.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use trapline_app::{App, Confirmation, Error as AppError, escape_html};

use crate::{
    auth::Origin,
    error::Result,
    extract::{Params, TokenInput},
    html_page::{FORM_POLICY, FORM_STYLE, SecretPage},
};

/// What both requests answer.
#[derive(utoipa::IntoResponses)]
#[expect(dead_code, reason = "it is there for the description of the API")]
enum Page {
    /// The page.
    #[response(status = 200, content_type = "text/html")]
    Here(String),
    /// The link is over or was never sent.
    #[response(status = 404, content_type = "text/html")]
    Over(String),
}

/// Show what a link asks
///
/// A page that asks the owner of an address whether mail may be forwarded there. Opening it changes
/// nothing.
#[utoipa::path(
    get,
    path = "/api/forward-addresses/confirm",
    operation_id = "showConfirmation",
    tag = "Forwarding",
    params(TokenInput),
    security(()),
    responses(Page)
)]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Params(input): Params<TokenInput>,
) -> Result<Response> {
    answer(app.forwarding().confirmation(&input.token).await, |email, team| {
        format!(
            "<h1>Forward mail to {email}?</h1>\
             <p>The team <b>{team}</b> would like to forward mail that its tests catch to {email}.</p>\
             <form method=\"post\"><button>Confirm for team {team}</button></form>\
             <p>If you do not know the team, close this page.</p>"
        )
    })
}

/// Confirm an address
///
/// What the page's button does. A link works once, within 7 days.
#[utoipa::path(
    post,
    path = "/api/forward-addresses/confirm",
    operation_id = "confirmAddress",
    tag = "Forwarding",
    params(TokenInput),
    security(()),
    responses(Page)
)]
pub(crate) async fn confirm(
    State(app): State<Arc<App>>,
    Origin(from): Origin,
    Params(input): Params<TokenInput>,
) -> Result<Response> {
    answer(app.forwarding().confirm(&input.token, from).await, |email, team| {
        format!("<h1>Confirmed</h1><p>The team <b>{team}</b> can now forward mail to {email}.</p>")
    })
}

/// The page; `body` gets address and team as HTML can show them.
fn answer(
    found: trapline_app::Result<Confirmation>,
    body: impl FnOnce(&str, &str) -> String,
) -> Result<Response> {
    let (status, body) = match found {
        Ok(Confirmation { email, team_name }) => {
            (StatusCode::OK, body(&escape_html(&email), &escape_html(&team_name)))
        }
        Err(AppError::NotFound) => {
            let body = "<h1>This link does not work any more</h1>\
                        <p>It was used, or it is more than 7 days old. Ask for another one.</p>";
            (StatusCode::NOT_FOUND, body.to_owned())
        }
        Err(error) => return Err(error.into()),
    };
    Ok(PAGE.answer(status, &body))
}

const PAGE: SecretPage = SecretPage {
    title: "Forwarding address",
    style: FORM_STYLE,
    policy: FORM_POLICY,
    referrer: "no-referrer",
};
