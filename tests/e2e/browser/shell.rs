//! What is around every screen of the web console.

use serde_json::json;
use trapline_tests::{Deployment, is_cluster};

use super::walk;

#[tokio::test]
async fn counts_of_other_inboxes_are_told_by_the_stream_of_the_open_one() {
    let server = Deployment::alone(&[]);
    let report = walk(&server, "shell", &["counts", &server.here(server.owners_link())]).await;
    assert_eq!((&report["looks"], &report["unread"]), (&json!(0), &json!(1)));
}

#[tokio::test]
async fn what_is_typed_while_the_palette_is_fetched_goes_to_the_palette() {
    let server = Deployment::alone(&[]);
    let report = walk(&server, "shell", &["palette", &server.here(server.owners_link())]).await;
    assert_eq!((&report["typed"], &report["dialogs"]), (&json!("web"), &json!(1)));
    assert!(report["found"].as_str().unwrap().contains("Go to webhooks"), "{report:#}");
}

#[tokio::test]
async fn nobody_signs_out_where_nobody_signs_in() {
    // Where there are several processes, somebody signs in.
    if is_cluster() {
        return;
    }
    let server = Deployment::alone(&["--sign-in", "none"]);
    let home = server.api().remove(0);
    let report = walk(&server, "shell", &["open", &home]).await;
    assert_eq!(report["signsOut"], 0);
}
