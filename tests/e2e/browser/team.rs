//! The team's screens of the web console, and those of one's own account.

use serde_json::json;
use trapline_tests::Deployment;

use super::walk;
use crate::people::SIGN_UP;

/// Nothing of a secret stays in the page once its dialog is closed, and each role sees what it may use.
#[tokio::test]
async fn a_team_is_run_and_an_account_kept_in_the_browser() {
    // The journey signs in more often than a person does in a minute.
    let server = Deployment::alone(&[SIGN_UP.as_slice(), &["--sign-in-rate", "0"]].concat());
    let report = walk(&server, "team", &[&server.here(server.owners_link())]).await;
    let is = |name: &str, wanted: serde_json::Value| assert_eq!(report[name], wanted, "{name}");
    is("refused", json!("nobody"));
    for stays in ["linkStays", "keyStays", "passwordStays"] {
        is(stays, json!(false));
    }
    for holds in ["keyShown", "curl"] {
        is(holds, json!(true));
    }
    is("keyWorks", json!(200));
    is("upgrades", json!(0));
    assert_eq!(report["entry"]["target"]["name"], "CI");
    assert!(!report["joinUrl"].as_str().unwrap().contains("token"), "{report:#}");
    let title = "Admins and the owner of the team may; they also give that role.";
    is("memberPlaces", json!(["Members", "Plan", "Settings"]));
    is("memberInvites", json!([true, title]));
    is("memberSees", json!([1, 1, 1]));
    is("formerOwnerDeletes", json!(false));
    is("deletesUnnamed", json!(false));
    is("teamAfter", json!("My team"));
    is("sessions", json!([2, 1]));
    is("helpWithoutKeys", json!(0));
}
