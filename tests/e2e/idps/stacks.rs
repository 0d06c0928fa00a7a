//! Applications that sign people in by client libraries which know nothing of this service, with all of
//! their checks on, and what these refuse. docs/idp.md shows each of them.

mod table;
pub(super) mod web;

use std::collections::HashMap;

use futures_util::future::join_all;
use serde_json::{Value, json};
use trapline_tests::{Answer, Rest, shared};

use super::{
    path_of,
    rp::{Rp, told},
};
use table::{is_of_document, rows};
use web::WebApp;

#[expect(unreachable_pub, reason = "the file is an application's, which has no crate around it")]
#[path = "../../clients/oidc/signin.rs"]
pub(super) mod rust;

/// What an application says to a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The library refuses it.
    Library,
    /// The application that is shown refuses it, and its library would not.
    Application,
    Accepted,
}

/// The libraries, as docs/idp.md names them.
pub(super) const STACKS: [&str; 4] =
    ["openid-client 6.9.0", "Authlib 1.9.10", "go-oidc 3.21.0", "openidconnect 4.1.0"];

enum App {
    Web(WebApp),
    Rust { app: rust::App, signed_in: Option<Box<rust::SignedIn>> },
}

/// A library's verdict with the text that goes with it.
pub(super) type Verdict = (Outcome, String);

impl App {
    async fn start(stack: &str, idp: &Value) -> Self {
        let text = |name: &str| idp[name].as_str().unwrap().to_owned();
        if stack.starts_with("openidconnect") {
            let app = rust::App {
                issuer: text("issuer"),
                client_id: text("clientId"),
                client_secret: text("clientSecret"),
                home: "http://localhost:3000".to_owned(),
            };
            return Self::Rust { app, signed_in: None };
        }
        Self::Web(WebApp::start(stack, idp).await)
    }

    async fn sign_in(&mut self, provider: &Rest) -> Verdict {
        match self {
            Self::Web(app) => app.sign_in(provider).await,
            Self::Rust { app, signed_in } => {
                let done = async {
                    let (url, begun) = app.begin().await?;
                    app.finish(begun, &told(&provider.get(&url).await.expect(303))).await
                };
                let (done, verdict) = verdict(done.await);
                let email = done.as_ref().and_then(|done| done.user.email());
                assert!(email.is_none_or(|email| email.as_str() == "ada@example.com"));
                *signed_in = done.map(Box::new);
                verdict
            }
        }
    }

    async fn refresh(&mut self) -> Verdict {
        match self {
            Self::Web(app) => app.ask("/refresh").await,
            Self::Rust { app, signed_in } => {
                verdict(app.refresh(signed_in.as_mut().unwrap()).await).1
            }
        }
    }

    /// Signs out at the provider too; where the browser is sent to at the end.
    async fn sign_out(&mut self, provider: &Rest) -> String {
        let url = match self {
            Self::Web(app) => app.get("/logout").await.expect(302).header("location").to_owned(),
            Self::Rust { app, signed_in } => {
                app.sign_out(signed_in.as_ref().unwrap()).await.unwrap()
            }
        };
        provider.get(&url).await.expect(303).header("location").to_owned()
    }
}

fn verdict<T>(
    outcome: Result<T, Box<dyn std::error::Error + Send + Sync>>,
) -> (Option<T>, Verdict) {
    match outcome {
        Ok(found) => (Some(found), (Outcome::Accepted, String::new())),
        Err(error) if error.is::<rust::Refused>() => {
            (None, (Outcome::Application, error.to_string()))
        }
        Err(error) => (None, (Outcome::Library, error.to_string())),
    }
}

/// A provider that sends browsers back to applications of this machine.
async fn provider() -> Rp {
    let rp = Rp::new(&shared()).await;
    let home = "http://localhost";
    rp.set(json!({
        "redirectUris": [format!("{home}/callback")], "postLogoutRedirectUris": [format!("{home}/")]
    }))
    .await;
    rp
}

/// Of what it refuses there is no table: it takes seconds to start, and each fault wants a new one.
const SPRING: &str = "Spring Boot 4.0.7";

#[tokio::test]
async fn each_library_signs_in_refreshes_and_signs_out() {
    join_all(STACKS.into_iter().chain([SPRING]).map(async |stack| {
        let rp = provider().await;
        for alg in ["RS256", "ES256"] {
            if (stack, alg) == (SPRING, "ES256") {
                // It takes RS256 alone where nobody gives it a decoder.
                continue;
            }
            rp.set(json!({ "signingAlg": alg })).await;
            let mut app = App::start(stack, &rp.idp).await;
            let signed_in = app.sign_in(rp.rest()).await;
            assert_eq!(signed_in.0, Outcome::Accepted, "{stack} {alg}: {}", signed_in.1);
            let refreshed = app.refresh().await;
            assert_eq!(refreshed.0, Outcome::Accepted, "{stack} {alg}: {}", refreshed.1);
            let home = app.sign_out(rp.rest()).await;
            assert!(home.starts_with("http://localhost:"), "{stack}: {home}");
        }
    }))
    .await;
}

/// One fault after the other, each used by the very next sign-in.
async fn verdicts(stack: &'static str) -> HashMap<String, Verdict> {
    let rp = provider().await;
    let mut app = App::start(stack, &rp.idp).await;
    let mut found = HashMap::new();
    let catalogue = shared().rest().get("/api/idp-faults").await.expect(200).json();
    let is_of_oidc =
        |fault: &&Value| fault["protocols"].as_array().unwrap().contains(&"oidc".into());
    for fault in catalogue.as_array().unwrap().iter().filter(is_of_oidc) {
        let mut fault = table::fault(fault);
        let name = fault["scenario"].as_str().unwrap().to_owned();
        let is_of_document = is_of_document(&name);
        if is_of_document {
            // Until it is removed, for an application that knows none of the documents yet; and what it
            // knows then is no good to the next sign-in.
            fault["times"] = Value::Null;
            app = App::start(stack, &rp.idp).await;
        }
        rp.ask_for(fault).await;
        let mut verdict = app.sign_in(rp.rest()).await;
        if name == "refresh_refused" {
            assert_eq!(verdict.0, Outcome::Accepted, "{stack}: {}", verdict.1);
            verdict = app.refresh().await;
        }
        found.insert(name, verdict);
        rp.keyed().delete(&format!("{}/faults", path_of(&rp.idp))).await.expect(204);
        if is_of_document {
            app = App::start(stack, &rp.idp).await;
        }
    }
    // An application that has just seen the keys looks for new ones, or does not.
    assert_eq!(app.sign_in(rp.rest()).await.0, Outcome::Accepted, "{stack}");
    rp.ask_for(json!({ "scenario": "rotate_now" })).await;
    found.insert(table::ROTATED_SOON.to_owned(), app.sign_in(rp.rest()).await);
    found
}

#[tokio::test]
async fn libraries_refuse_what_the_documentation_says() {
    let found = join_all(STACKS.map(verdicts)).await;
    table::check(&rows(&found));
    let path = |name: &str| crate::tools::source(&format!("oidc/{name}"));
    let page = table::page();
    for name in ["signin.mjs", "signin.py", "signin.go", "signin.rs", "SignIn.java"] {
        let shown = std::fs::read_to_string(path(name)).unwrap();
        assert!(page.contains(&shown), "docs/idp.md does not show {name} as it is");
    }
}

#[test]
fn the_libraries_have_the_versions_that_the_documentation_names() {
    let pinned = [
        ("package.json", "\"openid-client\": \"6.9.0\""),
        ("requirements.txt", "Authlib==1.9.10 "),
        ("go.mod", "github.com/coreos/go-oidc/v3 v3.21.0\n"),
        ("pom.xml", "<version>4.0.7</version>"),
        ("../../../Cargo.lock", "name = \"openidconnect\"\nversion = \"4.1.0\"\n"),
    ];
    for (file, version) in pinned {
        let text = std::fs::read_to_string(crate::tools::source(&format!("oidc/{file}"))).unwrap();
        assert!(text.contains(version), "{version} in {file}");
    }
}

/// What an answer of an application means.
fn outcome(answer: &Answer) -> Verdict {
    let outcome = match answer.status {
        200 => Outcome::Accepted,
        401 => Outcome::Library,
        403 => Outcome::Application,
        _ => panic!("{answer}"),
    };
    (outcome, answer.text().to_owned())
}
