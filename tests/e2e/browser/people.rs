//! The ways into the web console.

use serde_json::{Value, json};
use trapline_tests::{Deployment, token_of};

use super::requests;
use crate::{
    people::SIGN_UP,
    tools::{node, run},
};

/// What the browser saw on this journey of `clients`, where nothing went wrong.
pub(super) async fn walk(journey: &str, arguments: &[&str], home: &str) -> Value {
    let mut browser = node(journey);
    browser.args(arguments);
    let report = run(browser).await;
    let report: Value = serde_json::from_str(&report).expect(&report);
    for nothing in ["errors", "violations"] {
        assert_eq!(report[nothing], json!([]), "{nothing}");
    }
    for request in requests(&report) {
        assert!(request.starts_with(home), "{request}");
    }
    report
}

#[tokio::test]
async fn people_come_in_by_links_passwords_and_signing_up() {
    let server = Deployment::alone(&SIGN_UP);
    let home = server.api().remove(0);
    let link = &server.here(server.owners_link());
    let report = walk("node/people.cjs", &["begin", link], &home).await;
    // Nothing but the page itself has the token of a link.
    assert!(!report["linkUrl"].as_str().unwrap().contains(token_of(link)), "{report:#}");
    assert_eq!(report["badPassword"], "is one that everybody tries first");
    assert!(report["forgot"].as_str().unwrap().contains("trapline link"), "{report:#}");
    let link = server.command(&["link", "--email", "ada@example.com"]);
    let report = walk("node/people.cjs", &["again", &server.here(&link)], &home).await;
    assert_eq!(report["resetEmail"], "ada@example.com");
    let inbox = format!("{home}{}", report["inbox"].as_str().unwrap());
    let ends = [format!("{inbox}/connect"), inbox.clone(), inbox.clone(), inbox];
    assert_eq!(report["ends"], json!(ends));
    assert_eq!((&report["ssoFields"], &report["waits"]), (&json!(1), &json!(true)));
}
