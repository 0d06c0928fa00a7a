//! The ways into the web console.

use serde_json::json;
use trapline_tests::{Deployment, token_of};

use super::walk;
use crate::people::SIGN_UP;

#[tokio::test]
async fn people_come_in_by_links_passwords_and_signing_up() {
    let server = Deployment::alone(&SIGN_UP);
    let home = server.api().remove(0);
    let link = &server.here(server.owners_link());
    let report = walk(&server, "people", &["begin", link]).await;
    // Nothing but the page itself has the token of a link.
    assert!(!report["linkUrl"].as_str().unwrap().contains(token_of(link)), "{report:#}");
    assert_eq!(report["badPassword"], "is one that everybody tries first");
    let refusals = ["is your address already", "is not your password"];
    assert_eq!(report["refusals"], json!(refusals));
    assert_eq!(
        (&report["newEmail"], &report["newEmailPasswords"]),
        (&json!("ada@example.com"), &json!(0))
    );
    assert!(!report["newEmailUrl"].as_str().unwrap().contains("token"), "{report:#}");
    assert!(report["forgot"].as_str().unwrap().contains("trapline link"), "{report:#}");
    let turns = &report["turns"];
    assert_eq!((&turns[0], &turns[2]), (&json!("/start"), &json!("/start")));
    assert!(turns[1].as_str().unwrap().starts_with("/inboxes/"), "{report:#}");
    assert_eq!(report["missed"], 0);
    let link = server.command(&["link", "--email", "ada@example.com"]);
    let report = walk(&server, "people", &["again", &server.here(&link)]).await;
    assert_eq!(report["resetEmail"], "ada@example.com");
    let inbox = format!("{home}{}", report["inbox"].as_str().unwrap());
    let ends = [format!("{inbox}/connect"), inbox.clone(), inbox.clone(), inbox];
    assert_eq!(report["ends"], json!(ends));
    assert_eq!(report["endsBySso"], ends[0]);
    assert_eq!((&report["ssoFields"], &report["waits"]), (&json!(1), &json!(true)));
}

#[tokio::test]
async fn an_owner_comes_in_with_nothing_typed_and_sets_a_password_later() {
    let server = Deployment::alone(&[]);
    let link = &server.here(server.owners_link());
    let report = walk(&server, "people", &["later", link]).await;
    assert_eq!(report["badPassword"], "is one that everybody tries first");
    assert_eq!((&report["passwordFields"], &report["stepsLeft"]), (&json!(0), &json!(0)));
}
