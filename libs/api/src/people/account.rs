//! Accounts: signing up, confirmed addresses, forgotten and changed passwords.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{Extensions, HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, SignUp, SignedUp};
use trapline_model::Me;

use super::{CrossSite, TooManyTries, begun};
use crate::{
    auth::{Person, Site, visitor},
    error::{ErrorBody, Result},
    extract::Body,
};

/// What is said of a mail, whoever has the address.
pub(super) const MAIL_SENT: &str =
    "If this address can be reached, a mail with a link is on its way.";

/// Who wants an account.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SignUp)]
pub(crate) struct SignUpInput {
    /// The person's address.
    #[schema(min_length = 3, max_length = 254, example = "ada@example.com")]
    email: String,
    /// The person's name; that of the address when left out.
    #[serde(default)]
    #[schema(max_length = 100, example = "Ada")]
    name: String,
    /// The password: 10 to 256 characters, and none that everybody tries first.
    #[schema(max_length = 256, example = "correct horse battery")]
    password: String,
}

/// Whose password is forgotten.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordReset)]
pub(crate) struct ResetInput {
    /// The person's address.
    #[schema(min_length = 3, max_length = 254, example = "ada@example.com")]
    email: String,
}

/// A new password.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PasswordChange)]
pub(crate) struct PasswordInput {
    /// The password that it replaces.
    #[schema(min_length = 1, max_length = 256, example = "correct horse battery")]
    current: String,
    /// The new one: 10 to 256 characters, and none that everybody tries first.
    #[schema(max_length = 256, example = "another horse battery")]
    password: String,
}

/// What became of a mail.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MailNotice)]
pub(crate) struct NoticeBody {
    /// Whether this server sends mail.
    mail_sent: bool,
    /// What to do now, for people.
    #[schema(example = "If somebody has this address, a mail with a link is on its way.")]
    message: &'static str,
}

impl NoticeBody {
    fn sent() -> Json<Self> {
        Json(Self { mail_sent: true, message: MAIL_SENT })
    }

    fn not_sent() -> Json<Self> {
        let message = "No mail was sent, for this server sends none. Whoever runs it makes a link \
                       for you: trapline link --email <address>.";
        Json(Self { mail_sent: false, message })
    }
}

/// Sign up
///
/// With a mail of this server a link is sent, which makes the account. A server that sends none makes it
/// at once, and begins a session. The account comes with a team of its own.
#[utoipa::path(
    post,
    path = "/api/auth/sign-up",
    operation_id = "signUp",
    tag = "People",
    security(()),
    request_body = SignUpInput,
    responses(
        (
            status = 201,
            description = "Who is signed in now. No mail was sent.",
            body = Me,
            headers(("Set-Cookie" = String, description = "The session."))
        ),
        (status = 202, description = "A mail was sent.", body = NoticeBody),
        (
            status = 403,
            description = "Nobody may sign up (`sign_up_off`), or a page of another site sent it (`cross_site`).",
            body = ErrorBody
        ),
        TooManyTries
    )
)]
pub(crate) async fn sign_up(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Body(input): Body<SignUpInput>,
) -> Result<Response> {
    let SignUpInput { email, name, password } = input;
    let wish = SignUp { email, name, password };
    match app.people().sign_up(&wish, &visitor(&extensions, &headers)).await? {
        SignedUp::Now(session) => {
            let mut answer = begun(&app, &site, &headers, session).await?;
            *answer.status_mut() = StatusCode::CREATED;
            Ok(answer)
        }
        SignedUp::MailSent => Ok((StatusCode::ACCEPTED, NoticeBody::sent()).into_response()),
    }
}

/// Reset a password
///
/// Whoever has the address gets a mail with a link, which works once, within an hour; at most three in an
/// hour. The answer is the same where nobody has it.
#[utoipa::path(
    post,
    path = "/api/auth/reset",
    operation_id = "resetPassword",
    tag = "People",
    security(()),
    request_body = ResetInput,
    responses(
        (status = 202, description = "What to do now.", body = NoticeBody),
        CrossSite,
        TooManyTries
    )
)]
pub(crate) async fn reset(
    State(app): State<Arc<App>>,
    extensions: Extensions,
    headers: HeaderMap,
    Body(input): Body<ResetInput>,
) -> Result<Response> {
    let visitor = visitor(&extensions, &headers);
    let is_sent = app.people().reset_password(&input.email, &visitor).await?;
    let notice = if is_sent { NoticeBody::sent() } else { NoticeBody::not_sent() };
    Ok((StatusCode::ACCEPTED, notice).into_response())
}

/// Confirm one's address
///
/// Sends a link to the address of whoever is signed in; at most three in an hour.
#[utoipa::path(
    post,
    path = "/api/auth/verify",
    operation_id = "verifyAddress",
    tag = "People",
    security(("session" = [])),
    responses(
        (status = 202, description = "A mail was sent.", body = NoticeBody),
        (
            status = 409,
            description = "The server has no relay, and no mail was sent (`outbound_disabled`).",
            body = ErrorBody
        )
    )
)]
pub(crate) async fn verify(State(app): State<Arc<App>>, Person(who): Person) -> Result<Response> {
    app.people().verify_address(&who).await?;
    Ok((StatusCode::ACCEPTED, NoticeBody::sent()).into_response())
}

/// Change one's password
///
/// All sessions of the person end, and a new one begins, whose cookie the answer sets.
#[utoipa::path(
    post,
    path = "/api/auth/password",
    operation_id = "changePassword",
    tag = "People",
    security(("session" = [])),
    request_body = PasswordInput,
    responses(
        (
            status = 200,
            description = "Who is signed in.",
            body = Me,
            headers(("Set-Cookie" = String, description = "The session."))
        )
    )
)]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Person(who): Person,
    Body(input): Body<PasswordInput>,
) -> Result<Response> {
    let visitor = visitor(&extensions, &headers);
    let PasswordInput { current, password } = input;
    let session = app.people().change_password(&who, &current, &password, &visitor).await?;
    begun(&app, &site, &headers, session).await
}
