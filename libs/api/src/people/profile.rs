//! What people change about themselves.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{Extensions, HeaderMap, StatusCode},
    response::Response,
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, SignUp};
use trapline_model::Me;

use super::{account::MAIL_SENT, begun};
use crate::{
    auth::{Person, Site, visitor},
    error::Result,
    extract::Body,
};

/// What a person is to be called.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonChange {
    /// The name that others see; that of the address where it is empty.
    #[schema(max_length = 100, example = "Ada Lovelace")]
    name: String,
}

/// Which address a person is to have.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EmailChange)]
pub(crate) struct EmailChangeInput {
    /// The address that the link is sent to.
    #[schema(min_length = 3, max_length = 254, example = "ada@example.org")]
    email: String,
    /// The password that the person has.
    #[schema(min_length = 1, max_length = 256, example = "correct horse battery")]
    password: String,
}

/// What an owner signs in with who came without it.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountInput {
    /// The person's address.
    #[schema(min_length = 3, max_length = 254, example = "ada@example.com")]
    email: String,
    /// The person's name; left out or empty, it stays.
    #[serde(default)]
    #[schema(max_length = 100, example = "Ada")]
    name: String,
    /// The password: 10 to 256 characters, and none that everybody tries first.
    #[schema(max_length = 256, example = "correct horse battery")]
    password: String,
}

/// What became of the link by which an address changes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EmailNotice)]
pub(crate) struct EmailNoticeBody {
    /// Whether it was sent to the address by mail.
    mail_sent: bool,
    /// What to do now, for people.
    #[schema(example = "If this address can be reached, a mail with a link is on its way.")]
    message: &'static str,
    /// The link, only where no mail was sent: open it, and press its button.
    #[schema(required, example = json!(null))]
    link: Option<String>,
}

impl EmailNoticeBody {
    fn of(link: Option<String>) -> Self {
        let message = match &link {
            None => MAIL_SENT,
            Some(_) => {
                "No mail was sent, for this server sends none. The address changes by the link."
            }
        };
        Self { mail_sent: link.is_none(), message, link }
    }
}

/// Change one's name
///
/// Every team of the person sees the new name, and has the change in its audit log.
#[utoipa::path(
    patch,
    path = "/api/auth/me",
    operation_id = "updateMe",
    tag = "People",
    security(("session" = [])),
    request_body = PersonChange,
    responses((status = 200, description = "Who is signed in.", body = Me))
)]
pub(crate) async fn rename(
    State(app): State<Arc<App>>,
    Person(who): Person,
    Body(input): Body<PersonChange>,
) -> Result<Json<Me>> {
    app.people().rename(&who, &input.name).await?;
    Ok(Json(app.people().me(&who).await?))
}

/// Change one's address
///
/// The new address gets a mail with a link, which works once, within 24 hours; at most three in an hour. The
/// address changes when the link is used, by whoever is signed in or says the password: then all sessions
/// end, a new one begins, and the address before is told. The answer is the same where somebody has the
/// address already, whom the mail tells. A server that sends no mail answers the link.
#[utoipa::path(
    post,
    path = "/api/auth/email",
    operation_id = "changeEmail",
    tag = "People",
    security(("session" = [])),
    request_body = EmailChangeInput,
    responses((status = 202, description = "What to do now.", body = EmailNoticeBody))
)]
pub(crate) async fn change_email(
    State(app): State<Arc<App>>,
    extensions: Extensions,
    headers: HeaderMap,
    Person(who): Person,
    Body(input): Body<EmailChangeInput>,
) -> Result<(StatusCode, Json<EmailNoticeBody>)> {
    let visitor = visitor(&extensions, &headers);
    let EmailChangeInput { email, password } = input;
    let link = app.people().ask_new_address(&who, &email, &password, &visitor).await?;
    Ok((StatusCode::ACCEPTED, Json(EmailNoticeBody::of(link))))
}

/// Set one's address and password
///
/// For the owner of the first team, who came by the link of the first start and gave none. All sessions of
/// the person end, and a new one begins, whose cookie the answer sets. Where they are set already it is a 400
/// (`set_already`).
#[utoipa::path(
    post,
    path = "/api/auth/account",
    operation_id = "setUpAccount",
    tag = "People",
    security(("session" = [])),
    request_body = AccountInput,
    responses(
        (
            status = 200,
            description = "Who is signed in.",
            body = Me,
            headers(("Set-Cookie" = String, description = "The session."))
        )
    )
)]
pub(crate) async fn set_up(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Person(who): Person,
    Body(input): Body<AccountInput>,
) -> Result<Response> {
    let visitor = visitor(&extensions, &headers);
    let AccountInput { email, name, password } = input;
    let form = SignUp { email, name, password };
    let session = app.people().set_up_account(&who, &form, &visitor).await?;
    begun(&app, &site, &headers, session).await
}
