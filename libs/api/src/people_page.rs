//! The page behind a one-time link: what it asks, and a button that does it. Browsers get the web console's
//! own page instead, where there is a console.

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawQuery, State},
    http::{Extensions, HeaderMap, StatusCode, header, request::Parts},
    response::Response,
    routing::get,
};
use bytes::Bytes;
use trapline_app::{App, Error as AppError, LinkInput, LinkKind, LinkRequest, escape_html};

use crate::{
    Options,
    auth::{Site, known_visitor, own_pages_only},
    error::Result,
    html_page::{FORM_POLICY, FORM_STYLE, SecretPage, issues_text},
    layers::{self, around},
    people::cookie_of,
    state::Api,
};

/// The address of the page is the secret, so it goes to nobody else. With `no-referrer` browsers would not
/// even tell us that it was our own page that sent the form (Fetch, section 3.2).
static PAGE: SecretPage = SecretPage {
    title: "Trapline",
    style: FORM_STYLE,
    policy: FORM_POLICY,
    referrer: "same-origin",
};

/// What links lead to, by what they are for; each does what its token is for.
const PATHS: [&str; 4] = ["/link", "/reset", "/verify", "/invite"];

/// The page is for people, so it is no part of the document of the API.
pub(crate) fn routes(site: Arc<Site>) -> Router<Api> {
    let errors = around(PAGE.error_layer());
    let layers = (errors, around(layers::request_timeout), around(own_pages_only(site)));
    let routes = PATHS
        .into_iter()
        .fold(Router::new(), |routes, path| routes.route(path, get(show).post(apply)));
    routes.layer(layers)
}

async fn show(
    State(app): State<Arc<App>>,
    State(site): State<Arc<Site>>,
    State(options): State<Arc<Options>>,
    RawQuery(query): RawQuery,
    request: Parts,
) -> Result<Response> {
    if let Some(console) = options.console(&request, &app.settings().base_url) {
        return Ok(console);
    }
    let Parts { extensions, headers, .. } = request;
    let token = field(query.unwrap_or_default().as_bytes(), "token");
    let visitor = known_visitor(&app, &site, &extensions, &headers).await?;
    match app.people().link(&token, &visitor).await {
        Ok(request) => Ok(PAGE.answer(StatusCode::OK, &form(&request, &LinkInput::default(), ""))),
        Err(error) => link_error(error),
    }
}

async fn apply(
    State(app): State<Arc<App>>,
    State(options): State<Arc<Options>>,
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
    extensions: Extensions,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response> {
    let token = field(query.unwrap_or_default().as_bytes(), "token");
    let visitor = known_visitor(&app, &site, &extensions, &headers).await?;
    let input = LinkInput {
        email: field(&body, "email"),
        name: field(&body, "name"),
        password: field(&body, "password"),
    };
    let request = match app.people().link(&token, &visitor).await {
        Ok(request) => request,
        Err(error) => return link_error(error),
    };
    match app.people().use_link(&token, input.clone(), &visitor).await {
        Ok(session) => {
            let cookie = cookie_of(&app, &site, &headers, &session).await?;
            let me = app.people().me(&session.signed_in).await?;
            let mut answer =
                PAGE.answer(StatusCode::OK, &signed_in(&app, &me, options.console.is_some()));
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(answer)
        }
        Err(AppError::Invalid(issues)) => {
            let form = form(&request, &input, &issues_text(&issues));
            Ok(PAGE.answer(StatusCode::BAD_REQUEST, &form))
        }
        Err(error) => link_error(error),
    }
}

fn link_error(error: AppError) -> Result<Response> {
    if !matches!(error, AppError::NotFound) {
        return Err(error.into());
    }
    let body = "<h1>This link does not work any more</h1>\
                <p>It was used, or its time is over. Whoever runs this server makes another one: \
                <code>trapline link</code>.</p>";
    Ok(PAGE.answer(StatusCode::NOT_FOUND, body))
}

/// What the link asks, as a form that is sent to the page's own address.
fn form(request: &LinkRequest, input: &LinkInput, problem: &str) -> String {
    let (title, button) = match (request.kind, &request.team) {
        (_, Some(team)) => (format!("Join the team {}", escape_html(team)), "Join the team"),
        (LinkKind::FirstOwner | LinkKind::Invitation, None) => {
            ("Become the owner of this server's first team".to_owned(), "Sign in as owner")
        }
        (LinkKind::NewAddress, None) => {
            ("Change the address of your account".to_owned(), "Change the address")
        }
        (LinkKind::Password, None) => {
            ("Choose a new password".to_owned(), "Set the password and sign in")
        }
        (LinkKind::SignUp, None) => {
            ("Confirm your address".to_owned(), "Make the account and sign in")
        }
        (LinkKind::Verify, None) => ("Confirm your address".to_owned(), "Confirm the address"),
    };
    let (password, autocomplete) = if request.has_password {
        ("Your password", "current-password")
    } else {
        ("New password, of 10 characters at least", "new-password")
    };
    let problem = match problem {
        "" => String::new(),
        text => format!("<p role=\"alert\"><b>{}</b></p>", escape_html(text)),
    };
    let required = if request.is_optional() { "" } else { " required" };
    let email = match &request.email {
        Some(email) => format!(
            "<label>Address<input type=\"email\" value=\"{}\" autocomplete=\"username\" readonly>\
             </label>",
            escape_html(email)
        ),
        None => format!(
            "<label>Address<input type=\"email\" name=\"email\" value=\"{}\" maxlength=\"254\" \
             autocomplete=\"username\"{required}></label>",
            escape_html(&input.email)
        ),
    };
    let name = if request.is_new {
        format!(
            "<label>Name<input name=\"name\" value=\"{}\" maxlength=\"100\" autocomplete=\"name\">\
             </label>",
            escape_html(&input.name)
        )
    } else {
        String::new()
    };
    let password = if request.wants_password() {
        format!(
            "<label>{password}<input type=\"password\" name=\"password\" minlength=\"10\" \
             maxlength=\"256\" autocomplete=\"{autocomplete}\"{required}></label>"
        )
    } else {
        String::new()
    };
    let later = if request.is_optional() {
        "<p>Address and password can wait. Until you have set them, you come back only by \
         <code>trapline link</code>.</p>"
    } else {
        ""
    };
    format!(
        "<h1>{title}</h1>{problem}{later}<form method=\"post\">{email}{name}{password}\
         <button>{button}</button></form>"
    )
}

/// The console is where the page is, under whatever name the browser knows the server.
fn signed_in(app: &App, me: &trapline_model::Me, has_console: bool) -> String {
    let next = if has_console {
        "<a href=\"./\" autofocus>Open the inboxes</a>".to_owned()
    } else {
        let base_url = escape_html(&app.settings().base_url);
        format!("<a href=\"{base_url}/docs/\">The API of this server</a>")
    };
    let team = me.team.as_ref().map_or("no team", |team| team.name.as_str());
    format!(
        "<h1>Signed in</h1><p>You are signed in as {} ({}).</p>\
         <p>{next}</p>",
        escape_html(&me.person.email),
        escape_html(team)
    )
}

/// A field of a form or a query; empty where it is missing.
pub(crate) fn field(encoded: &[u8], name: &str) -> String {
    let mut fields = form_urlencoded::parse(encoded);
    fields.find(|(field, _)| field == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}
