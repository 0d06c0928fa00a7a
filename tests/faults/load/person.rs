//! People who sign in at a mock identity provider. Each process has a base URL of its own here, and is an issuer of its
//! own: its tokens are refused by others, also by the one that takes its place. So all steps of a sign-in are at one
//! address, and each further try is at the next process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{Method, RequestBuilder, Url, header};
use serde_json::Value;

use super::{AGAIN, Load, PATIENCE, ledger::Kind};

const PACE: Duration = Duration::from_secs(1);
pub(super) const CALLBACK: &str = "https://app.example/callback";
/// A code verifier and its challenge (RFC 7636, appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// Why a sign-in begins anew: a code whose answer was lost may be used.
enum Trouble {
    Refused,
    Broken,
    Wrong(String),
}

/// Signs in again and again until the round ends.
pub(super) async fn sign_in(load: Arc<Load>, number: usize) {
    while !load.is_stopped() {
        let began = Instant::now();
        for tries in 1.. {
            match once(&load, number + tries).await {
                Ok(()) => {
                    load.ledger.done(Kind::SignIn, number, began, tries);
                    break;
                }
                Err(Trouble::Refused) => load.ledger.refused(),
                Err(Trouble::Broken) => load.ledger.broken(),
                Err(Trouble::Wrong(what)) => load.ledger.wrong(what),
            }
            if load.is_stopped() {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn once(load: &Load, number: usize) -> Result<(), Trouble> {
    let idp = &load.idp;
    let issuer = format!("{}/idp/{}", load.addresses.api(number), idp.slug);
    let at = |method, name: &str| load.http.request(method, format!("{issuer}/{name}"));
    let authorize = at(Method::GET, "authorize").query(&[
        ("client_id", idp.client_id.as_str()),
        ("redirect_uri", CALLBACK),
        ("response_type", "code"),
        ("scope", "openid email"),
        ("state", "a state"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ]);
    let (location, _) = step(authorize, 303).await?;
    let to = Url::parse(&location).map_err(|_| Trouble::Wrong(format!("sent to {location}")))?;
    let told = |name: &str| {
        to.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    if told("error").as_deref() == Some("temporarily_unavailable") {
        return Err(Trouble::Refused);
    }
    let code = told("code").ok_or_else(|| Trouble::Wrong(format!("sent to {location}")))?;
    let token =
        at(Method::POST, "token").basic_auth(&idp.client_id, Some(&idp.client_secret)).form(&[
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
        ]);
    let (_, tokens) = step(token, 200).await?;
    let access = tokens["access_token"].as_str().unwrap_or_default();
    let userinfo = at(Method::GET, "userinfo").bearer_auth(access);
    let (_, user) = step(userinfo, 200).await?;
    let is_right = user["email"] == "ada@example.com";
    is_right.then_some(()).ok_or_else(|| Trouble::Wrong(format!("userinfo tells {user}")))
}

/// Where an answer leads, and its JSON.
async fn step(request: RequestBuilder, wanted: u16) -> Result<(String, Value), Trouble> {
    let answer = request.timeout(PATIENCE).send().await.map_err(|_| Trouble::Broken)?;
    let status = answer.status().as_u16();
    let location = answer.headers().get(header::LOCATION);
    let location = location.and_then(|to| to.to_str().ok()).unwrap_or_default().to_owned();
    let (url, body) = (answer.url().path().to_owned(), answer.bytes().await);
    let body = body.map_err(|_| Trouble::Broken)?;
    match status {
        503 | 429 => Err(Trouble::Refused),
        status if status == wanted => {
            Ok((location, serde_json::from_slice(&body).unwrap_or_default()))
        }
        status => {
            let body = String::from_utf8_lossy(&body).into_owned();
            Err(Trouble::Wrong(format!("{url} answered {status}: {body}")))
        }
    }
}
