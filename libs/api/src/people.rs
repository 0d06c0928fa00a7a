//! People: signing in and out, and who is signed in.

pub(crate) mod account;
pub(crate) mod profile;
pub(crate) mod sessions;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{Extensions, HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, LinkInput, LinkKind, NewSession};
use trapline_model::{Me, SignInOptions};

use crate::{
    auth::{Person, Site, known_visitor, visitor},
    error::{ErrorBody, Result},
    extract::{Body, Params, TokenInput},
};

/// Who wants in.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SignIn)]
pub(crate) struct SignInInput {
    /// The person's address.
    #[schema(min_length = 1, max_length = 254, example = "ada@example.com")]
    email: String,
    /// The person's password.
    #[schema(min_length = 1, max_length = 256, example = "correct horse battery")]
    password: String,
}

/// A page of another site sent it (`cross_site`).
#[derive(utoipa::IntoResponses)]
#[expect(dead_code, reason = "it is there for the description of the API")]
#[response(status = 403)]
pub(crate) struct CrossSite(ErrorBody);

/// Too many tries.
#[derive(utoipa::IntoResponses)]
#[expect(dead_code, reason = "it is there for the description of the API")]
#[response(status = 429, headers(("Retry-After" = u32, description = "Seconds.")))]
pub(crate) struct TooManyTries(ErrorBody);

/// What a link is for.
#[derive(Debug, Clone, Copy, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = LinkPurpose)]
pub(crate) enum Purpose {
    /// Makes the owner of the first team.
    FirstOwner,
    /// Lets somebody join a team.
    Invitation,
    /// Gives an account another address.
    NewAddress,
    /// Sets a new password.
    Password,
    /// Makes the account that somebody signed up for.
    SignUp,
    /// Confirms an address.
    Verify,
}

/// What a link asks of whoever has it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a form has a field or not, whatever the others are"
)]
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LinkRequest)]
pub(crate) struct LinkBody {
    /// Whose link it is; null lets whoever has it say.
    #[schema(required, example = "ada@example.com")]
    email: Option<String>,
    /// What it is for.
    purpose: Purpose,
    /// Whether it makes a new person, who may say a name.
    is_new: bool,
    /// The team that it leads to, where somebody invites to one.
    #[schema(required, example = "Checkout")]
    team: Option<String>,
    /// Whether it wants a password.
    wants_password: bool,
    /// Whether address, name and password may all be left out, and be set later.
    is_optional: bool,
    /// Whether to say the password that the person has; else it becomes that.
    has_password: bool,
}

/// What whoever has a link says.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LinkUse)]
pub(crate) struct LinkUseInput {
    /// The link's token.
    #[schema(min_length = 1, max_length = 100)]
    token: String,
    /// The address, where the link does not know it.
    #[serde(default)]
    #[schema(max_length = 254, example = "ada@example.com")]
    email: String,
    /// The name of a new person; that of the address when left out.
    #[serde(default)]
    #[schema(max_length = 100, example = "Ada")]
    name: String,
    /// The new password, where the link wants one: 10 to 256 characters, and none that everybody tries
    /// first.
    #[serde(default)]
    #[schema(max_length = 256, example = "correct horse battery")]
    password: String,
}

/// Get the ways in
///
/// How people sign in at this server.
#[utoipa::path(
    get,
    path = "/api/auth/options",
    operation_id = "getSignInOptions",
    tag = "People",
    security(()),
    responses((status = 200, description = "The ways in.", body = SignInOptions))
)]
pub(crate) async fn options(State(app): State<Arc<App>>) -> Json<SignInOptions> {
    Json(app.people().options())
}

/// Sign in
///
/// Begins a session, whose cookie the answer sets. An address may try a few times a minute.
#[utoipa::path(
    post,
    path = "/api/auth/sign-in",
    operation_id = "signIn",
    tag = "People",
    security(()),
    request_body = SignInInput,
    responses(
        (
            status = 200,
            description = "Who is signed in now.",
            body = Me,
            headers(("Set-Cookie" = String, description = "The session."))
        ),
        (
            status = 401,
            description = "Nobody has this address and password (`wrong_password`).",
            body = ErrorBody
        ),
        CrossSite,
        TooManyTries
    )
)]
pub(crate) async fn sign_in(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Body(input): Body<SignInInput>,
) -> Result<Response> {
    let visitor = visitor(&extensions, &headers);
    let session = app.people().sign_in(&input.email, &input.password, &visitor).await?;
    begun(&app, &site, &headers, session).await
}

/// Sign out
///
/// Ends the session of the request, if it has one: at once here, within 5 seconds everywhere.
#[utoipa::path(
    post,
    path = "/api/auth/sign-out",
    operation_id = "signOut",
    tag = "People",
    security((), ("session" = [])),
    responses(
        (status = 204, description = "Nobody is signed in now."),
        CrossSite
    )
)]
pub(crate) async fn sign_out(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response> {
    if let Some(token) = site.token(&headers) {
        app.people().sign_out(token).await?;
    }
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, site.no_cookie())]).into_response())
}

/// Get who is signed in
///
/// The person, their teams, and what they may do in the one that requests act for.
#[utoipa::path(
    get,
    path = "/api/auth/me",
    operation_id = "getMe",
    tag = "People",
    security(("session" = [])),
    responses((status = 200, description = "Who is signed in.", body = Me))
)]
pub(crate) async fn me(State(app): State<Arc<App>>, Person(who): Person) -> Result<Json<Me>> {
    Ok(Json(app.people().me(&who).await?))
}

/// Show what a link asks
///
/// A link from `trapline link`, from the first start or from a mail. Asking changes nothing. Whoever is
/// signed in with the address of an invitation needs no password for it, nor does whoever asked for another
/// address.
#[utoipa::path(
    get,
    path = "/api/auth/link",
    operation_id = "showLink",
    tag = "People",
    params(TokenInput),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "What it asks.", body = LinkBody),
        (status = 404, description = "The link was used, is over or never was.", body = ErrorBody),
        TooManyTries
    )
)]
pub(crate) async fn link(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Params(input): Params<TokenInput>,
) -> Result<Json<LinkBody>> {
    let visitor = known_visitor(&app, &site, &extensions, &headers).await?;
    let request = app.people().link(&input.token, &visitor).await?;
    let purpose = match request.kind {
        LinkKind::FirstOwner => Purpose::FirstOwner,
        LinkKind::Invitation => Purpose::Invitation,
        LinkKind::NewAddress => Purpose::NewAddress,
        LinkKind::Password => Purpose::Password,
        LinkKind::SignUp => Purpose::SignUp,
        LinkKind::Verify => Purpose::Verify,
    };
    Ok(Json(LinkBody {
        purpose,
        wants_password: request.wants_password(),
        is_optional: request.is_optional(),
        email: request.email,
        is_new: request.is_new,
        team: request.team,
        has_password: request.has_password,
    }))
}

/// Use a link
///
/// Does what it is for, and begins a session, whose cookie the answer sets, in the team that the link leads
/// to. A new password ends all others of the person. Whoever is signed in with the address of an invitation
/// joins without a password; with another address it is a 400 (`other_person`). Another address for an account
/// takes that account's session or password. A link works once; one that was refused with 400 still works.
#[utoipa::path(
    post,
    path = "/api/auth/link",
    operation_id = "useLink",
    tag = "People",
    security((), ("session" = [])),
    request_body = LinkUseInput,
    responses(
        (
            status = 200,
            description = "Who is signed in now.",
            body = Me,
            headers(("Set-Cookie" = String, description = "The session."))
        ),
        CrossSite,
        (status = 404, description = "The link was used, is over or never was.", body = ErrorBody),
        (
            status = 409,
            description = "Somebody else changed the same person at the same moment.",
            body = ErrorBody
        ),
        TooManyTries
    )
)]
pub(crate) async fn use_link(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    Body(input): Body<LinkUseInput>,
) -> Result<Response> {
    let visitor = known_visitor(&app, &site, &extensions, &headers).await?;
    let LinkUseInput { token, email, name, password } = input;
    let input = LinkInput { email, name, password };
    let session = app.people().use_link(&token, input, &visitor).await?;
    begun(&app, &site, &headers, session).await
}

/// The cookie of a new session. The one that the browser had before ends.
pub(crate) async fn cookie_of(
    app: &App,
    site: &Site,
    headers: &HeaderMap,
    session: &NewSession,
) -> Result<HeaderValue> {
    if let Some(before) = site.token(headers) {
        app.people().sign_out(before).await?;
    }
    Ok(site.cookie(&session.token))
}

/// Who is signed in now, with the cookie of the new session.
pub(crate) async fn begun(
    app: &App,
    site: &Site,
    headers: &HeaderMap,
    session: NewSession,
) -> Result<Response> {
    let cookie = cookie_of(app, site, headers, &session).await?;
    let me = app.people().me(&session.signed_in).await?;
    Ok(([(header::SET_COOKIE, cookie)], Json(me)).into_response())
}
