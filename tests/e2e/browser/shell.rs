//! What is around every screen of the web console.

use serde_json::json;
use trapline_tests::Deployment;

use super::walk;

#[tokio::test]
async fn counts_of_other_inboxes_are_told_by_the_stream_of_the_open_one() {
    let server = Deployment::alone(&[]);
    let report = walk(&server, "shell", &["counts", &server.here(server.owners_link())]).await;
    assert_eq!((&report["looks"], &report["unread"]), (&json!(0), &json!(1)));
}
