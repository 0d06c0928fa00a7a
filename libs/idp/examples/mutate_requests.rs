//! Many mutated requests at mock identity providers: none makes an endpoint panic, hang, fail, grow, send a browser
//! where nobody registered, or write markup of others into a page. Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/calls.rs"]
mod calls;
#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "mutate_requests/judge.rs"]
mod judge;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;
#[path = "mutate_requests/saml.rs"]
mod saml;
#[path = "mutate_requests/seeds.rs"]
mod seeds;
#[path = "mutate_requests/service.rs"]
mod service;

use std::process::ExitCode;

use axum::{
    body::{Body, to_bytes},
    http::{HeaderName, HeaderValue, Method, Request, header},
};
use calls::{Call, Session, Words};
use mutation::{Mutator, Random};
use service::Service;
use tower::ServiceExt as _;

/// Bytes of an answer.
const MAX_ANSWER: usize = 4 << 20;

#[expect(clippy::expect_used, reason = "without its service, a run says nothing")]
fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("there is a runtime");
    let service = runtime.block_on(Service::start());
    let bombs = saml::bombs();
    let mutator = Mutator::new(seeds::all(), seeds::TOKENS);
    campaign::run("requests", &mutator, |input, random| {
        runtime.block_on(check(&service, &bombs, input, random));
    })
}

/// An input names a provider, and has the requests of an application and of a browser.
async fn check(service: &Service, bombs: &[String], input: &[u8], random: &mut Random) {
    let session = Session::of(input);
    let mut words = service.words(&session.name, random);
    for text in &session.calls {
        let call = saml::encoded(session.call(text, &words), bombs, random);
        // What is no request for the HTTP library never comes here.
        if let Some(request) = request_of(call) {
            ask(service, request, &mut words).await;
        }
    }
}

fn request_of(call: Call) -> Option<Request<Body>> {
    let uri =
        if call.query.is_empty() { call.path } else { format!("{}?{}", call.path, call.query) };
    let mut request = Request::builder().method(call.method.as_str()).uri(uri);
    for (name, value) in &call.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            request = request.header(name, value);
        }
    }
    request.body(call.body.into()).ok()
}

#[expect(clippy::expect_used, reason = "an answer that is too long is a fault")]
async fn ask(service: &Service, request: Request<Body>, words: &mut Words) {
    // The page before it shows where the answer goes.
    let is_clicked = request.method() == Method::POST && request.uri().path().ends_with("/login");
    let answer = service.router.clone().oneshot(request).await;
    let answer = answer.unwrap_or_else(|never| match never {});
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, MAX_ANSWER).await.expect("the answer is bounded");
    judge::judge(&head, &body, is_clicked);
    words.remember(&body);
    let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    if let Some((_, query)) = header(header::LOCATION).and_then(|to| to.split_once(['?', '#'])) {
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            words.set(&name, &value);
        }
    }
    if let Some((cookie, _)) = header(header::SET_COOKIE).and_then(|it| it.split_once(';')) {
        words.set("cookie", cookie);
    }
}
