//! Libraries of other languages as service providers, with all of their checks on.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::process::Command;
use trapline_tests::{Deployment, shared};

use super::{Rp, path_of, provider};
use crate::tools::{run, source, tool};

/// What engines read differently when it is written badly.
const ODD: &str = "& < > \" '\t\n]]> \u{1f600} é";
const EMAIL: &str = "ada@example.com";
const FORGED: &str = "attacker@forged.invalid";

/// What a library made of each sign-in: `refused`, or `accepted` and a name.
async fn outcomes(mut client: Command) -> BTreeMap<String, (String, String)> {
    // They fetch metadata from where the provider says that it is.
    let server = shared();
    let rp = provider(&server).await;
    let user = format!("{}/users/{}", path_of(&rp.idp), rp.user["id"].as_str().unwrap());
    rp.keyed().patch(&user, json!({ "claims": { "odd": ODD } })).await.expect(200);
    client.envs(environment(&server, &rp));
    let report = run(client).await;
    let lines = report.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let pairs =
        lines.map(|line| (text(&line, "case"), (text(&line, "outcome"), text(&line, "detail"))));
    pairs.collect()
}

fn environment(server: &Deployment, rp: &Rp) -> [(&'static str, String); 3] {
    let request = server.rest().request("GET", &path_of(&rp.idp)).build().unwrap();
    let key = request.headers()["authorization"].to_str().unwrap().to_owned();
    [
        ("IDP", request.url().to_string()),
        ("API_KEY", key.trim_start_matches("Bearer ").to_owned()),
        ("ODD", ODD.to_owned()),
    ]
}

fn python(script: &str) -> Command {
    let mut python = Command::new(tool("saml/bin/python"));
    python.arg(source(script));
    python
}

fn node(script: &str) -> Command {
    let mut node = Command::new("node");
    node.env("NODE_PATH", tool("saml/node_modules")).arg(source(script));
    node
}

/// Checks that good sign-ins are accepted, and that of the bad ones only these are: what a library does not
/// look at is told in docs/idp.md.
async fn accepts(client: Command, faults: &[&str]) -> BTreeMap<String, (String, String)> {
    let outcomes = outcomes(client).await;
    let good = [
        "sign both",
        "sign assertion",
        "sign response",
        "begun at the provider",
        "name emailAddress",
        "name persistent",
        "name transient",
        "name unspecified",
        "two certificates",
    ];
    for case in good {
        let (outcome, detail) = &outcomes[case];
        let is_name = match case {
            "name persistent" | "name transient" | "name unspecified" => {
                outcome.starts_with("accepted ") && !outcome.contains('@')
            }
            _ => *outcome == format!("accepted {EMAIL}"),
        };
        assert!(is_name, "{case}: {outcome} {detail}");
    }
    let is_bad = |case: &str| !good.contains(&case) && !case.starts_with("logout");
    let accepted = outcomes.iter().filter(|(case, (outcome, detail))| {
        let name = outcome.trim_start_matches("accepted ");
        // The name was not signed, or was signed with another end.
        assert_ne!(name, FORGED, "{case}: {detail}");
        let is_whole = *case == "comment_in_nameid" && name == format!("{EMAIL}.forged.invalid");
        is_bad(case) && outcome != "refused" && !is_whole
    });
    let accepted: Vec<_> = accepted.map(|(case, _)| case.as_str()).collect();
    assert_eq!(accepted, faults, "{outcomes:#?}");
    outcomes
}

#[tokio::test]
async fn python3_saml() {
    let outcomes = accepts(python("saml/python3_saml_client.py"), &[]).await;
    for case in ["logout begun there", "logout begun here"] {
        assert_eq!(outcomes[case].0, "accepted", "{outcomes:?}");
    }
}

#[tokio::test]
async fn pysaml2() {
    accepts(python("saml/pysaml2_client.py"), &["sha1", "wrong_recipient"]).await;
}

#[tokio::test]
async fn node_saml() {
    let client = node("saml/node_saml_client.cjs");
    let outcomes = accepts(client, &["wrong_destination", "wrong_issuer", "wrong_recipient"]).await;
    for case in ["logout begun there", "logout begun here"] {
        assert_eq!(outcomes[case].0, "accepted", "{outcomes:?}");
    }
}

#[tokio::test]
async fn samlify() {
    // What it returns of a wrapped message is the name that was signed.
    let faults = [
        "replay",
        "signature_only_on_response",
        "signature_wrapping=1",
        "signature_wrapping=2",
        "signature_wrapping=3",
        "signature_wrapping=5",
        "signature_wrapping=6",
        "wrong_audience",
        "wrong_destination",
        "wrong_in_response_to",
        "wrong_recipient",
    ];
    accepts(node("saml/samlify_client.cjs"), &faults).await;
}

fn go(library: &str) -> Command {
    let mut go = Command::new(tool("samlsp"));
    go.arg(library);
    go
}

#[tokio::test]
async fn crewjam_saml() {
    // The forged assertion is in an extension, which it does not read.
    accepts(go("crewjam"), &["signature_wrapping=7"]).await;
}

#[tokio::test]
async fn gosaml2() {
    accepts(go("gosaml2"), &["replay", "wrong_in_response_to"]).await;
}

#[test]
fn the_documentation_shows_the_set_up_that_runs() {
    let documentation = include_str!("../../../../docs/idp.md");
    for name in ["python3_saml_setup.py", "node_saml_setup.cjs"] {
        let shown = std::fs::read_to_string(source(&format!("saml/{name}"))).unwrap();
        assert!(documentation.contains(&shown), "{name}");
    }
}
