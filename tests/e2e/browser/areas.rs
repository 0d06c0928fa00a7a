//! What the web console has beside mail.

use serde_json::{Value, json};
use trapline_tests::Deployment;

use super::walk;

/// What the browser saw in this area.
async fn visit(area: &str, server: &Deployment) -> Value {
    walk(server, "areas", &[area, &server.here(server.owners_link())]).await
}

#[tokio::test]
async fn webhooks_are_made_tested_and_sent_again() {
    let server = Deployment::alone(&[]);
    let report = visit("webhooks", &server).await;
    assert!(report["refused"].as_str().unwrap().contains("user"), "{report:#}");
    assert!(report["secret"].as_str().unwrap().starts_with("whsec_"), "{report:#}");
    assert_eq!((&report["again"], &report["kept"]), (&report["secret"], &json!([])));
    assert!(!report["subject"].as_str().unwrap().is_empty());
    let received = "message.received";
    assert_eq!(report["seen"], json!(["webhook.test", received, received, received, received]));
    // The test failed, and so did the first attempts; they stay in the log.
    assert_eq!(report["failed"], 3);
    assert!(report["url"].as_str().unwrap().contains("failed=true"), "{report:#}");
}

#[tokio::test]
async fn inboxes_and_projects_are_found_changed_and_deleted() {
    let server = Deployment::alone(&[]);
    let report = visit("inboxes", &server).await;
    assert!(report["url"].as_str().unwrap().ends_with("/inboxes?kind=disposable"), "{report:#}");
    assert!(report["sure"].as_str().unwrap().contains("12 inboxes with 0 messages"));
    assert_eq!(report["kept"], json!([1, 1]));
}

#[tokio::test]
async fn all_inboxes_that_match_are_deleted_however_many_there_are() {
    let server = Deployment::alone(&[]);
    let report = visit("fleet", &server).await;
    for drawn in ["drawn", "drawnAtEnd"] {
        assert!(report[drawn].as_u64().unwrap() < 60, "{report:#}");
    }
    assert!(report["sure"].as_str().unwrap().contains("230 inboxes with all their messages"));
    assert_eq!(report["left"], 1);
}

#[tokio::test]
async fn checks_of_a_message_say_what_is_wrong_with_it() {
    let server = Deployment::alone(&[]);
    let report = visit("checks", &server).await;
    assert_eq!(report["rule"], "GTUBE");
    assert!(report["issues"].as_array().unwrap().contains(&json!("border-radius")), "{report:#}");
    assert!(report["clients"].as_u64().unwrap() > 3 && report["leave"] == 1, "{report:#}");
    assert!(report["spam"].as_str().unwrap().contains("1,000"), "{report:#}");
    assert!(report["url"].as_str().unwrap().ends_with("&tab=checks"), "{report:#}");
}

#[tokio::test]
async fn the_list_is_as_preferences_have_it() {
    let server = Deployment::alone(&[]);
    let report = visit("looks", &server).await;
    assert_eq!(report["heights"], json!([72, 52, 36, 52]));
    assert_eq!((&report["listBeside"], &report["paneBeside"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn first_steps_are_ticked_as_they_are_made() {
    let server = Deployment::alone(&[]);
    let home = server.api().remove(0);
    let report = visit("start", &server).await;
    assert_eq!(report["url"], format!("{home}/webhooks"));
}
