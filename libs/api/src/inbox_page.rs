//! The page that `message.url` of a webhook leads to. It shows a message to whoever has a signed URL. For
//! everybody else it is the web console, or where there is none it tells where to look, in the same words
//! whether inbox and message exist or not.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::{StatusCode, request::Parts},
    response::Response,
    routing::get,
};
use trapline_app::{App, Error as AppError, Signature, escape_html};
use trapline_model::{InboxId, MessageId};

use crate::{Options, error::Result, html_page::SecretPage, state::Api};

const PAGE: SecretPage = SecretPage {
    title: "Trapline",
    style: "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;\
         padding:0 1em;overflow-wrap:anywhere}h1{font-size:1.3em}\
         pre{white-space:pre-wrap;border:1px solid;padding:.6em}\
         iframe{width:100%;height:75vh;border:1px solid;background:#fff}",
    policy: "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    referrer: "no-referrer",
};

/// The page is for people, so it is no part of the document of the API.
pub(crate) fn routes() -> Router<Api> {
    Router::new().route("/inboxes/{id}", get(show))
}

/// What is left out or malformed makes a signature that does not hold.
#[derive(Default)]
struct Query {
    message: Option<String>,
    signature: Option<Signature>,
}

impl Query {
    fn of(query: &str) -> Self {
        let mut read = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let nothing = || Signature { expires: 0, signature: String::new() };
            match &*name {
                "message" => read.message = Some(value.into_owned()),
                "exp" => {
                    let signature = read.signature.get_or_insert_with(nothing);
                    signature.expires = value.parse().unwrap_or_default();
                }
                "sig" => {
                    read.signature.get_or_insert_with(nothing).signature = value.into_owned();
                }
                _ => {}
            }
        }
        read
    }
}

async fn show(
    State(app): State<Arc<App>>,
    Path(inbox): Path<String>,
    RawQuery(query): RawQuery,
    State(options): State<Arc<Options>>,
    request: Parts,
) -> Result<Response> {
    let query = Query::of(&query.unwrap_or_default());
    if query.signature.is_none()
        && let Some(console) = options.console(&request, &app.settings().base_url)
    {
        return Ok(console);
    }
    let inbox: InboxId = inbox.parse().map_err(|_| AppError::NotFound)?;
    let Some(message) = query.message else {
        return Ok(PAGE.answer(StatusCode::OK, &of_inbox(&app, inbox)));
    };
    let message: MessageId = message.parse().map_err(|_| AppError::NotFound)?;
    if message.inbox != inbox {
        return Err(AppError::NotFound.into());
    }
    Ok(match query.signature {
        None => PAGE.answer(StatusCode::OK, &of_message(&app, message)),
        Some(signature) if app.messages().may_see(message, &signature) => {
            PAGE.answer(StatusCode::OK, &framed(message, &signature))
        }
        Some(_) => {
            let over =
                "<p><b>This link is not valid, or no longer: links work for 15 minutes.</b></p>";
            PAGE.answer(StatusCode::FORBIDDEN, &format!("{over}{}", of_message(&app, message)))
        }
    })
}

fn of_inbox(app: &App, inbox: InboxId) -> String {
    format!(
        "<h1>An inbox</h1><p>This is the address of inbox <code>{inbox}</code>. What is in it, and \
         whether it exists, is told to holders of an API key:</p>{}",
        request(app, &format!("/api/inboxes/{inbox}/messages"))
    )
}

fn of_message(app: &App, message: MessageId) -> String {
    format!(
        "<h1>A caught message</h1><p>This is the address of message <code>{message}</code> in inbox \
         <code>{}</code>. What it says, and whether it exists, is told to holders of an API key:</p>\
         {}<p>To see it in a browser, ask for a link that works for 15 minutes:</p>{}",
        message.inbox,
        request(app, &format!("/api/messages/{message}")),
        request(app, &format!("/api/messages/{message}/preview-url"))
    )
}

fn request(app: &App, path: &str) -> String {
    let url = escape_html(&format!("{}{path}", app.settings().base_url));
    format!("<pre>curl -H \"Authorization: Bearer $TRAPLINE_API_KEY\" \"{url}\"</pre>")
}

/// The address is relative, so that it holds under any name of the server and behind a path prefix.
fn framed(message: MessageId, signature: &Signature) -> String {
    let query: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("exp", &signature.expires.to_string())
        .append_pair("sig", &signature.signature)
        .finish();
    let url = escape_html(&format!("../api/messages/{message}/html?{query}"));
    format!(
        "<h1>A caught message</h1><iframe src=\"{url}\" title=\"The message\" \
         sandbox=\"allow-popups allow-popups-to-escape-sandbox\" referrerpolicy=\"no-referrer\">\
         </iframe><p><a href=\"{url}\" rel=\"noreferrer\">The message on a page of its own</a></p>"
    )
}
