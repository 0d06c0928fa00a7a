//! Whole tasks in the web console, by keys alone and on a phone, within what they may cost.

use serde_json::{Value, json};
use trapline_tests::Deployment;

use super::walk;

async fn journey(name: &str) -> Value {
    let server = Deployment::alone(&[]);
    walk(&server, "journeys", &[name, &server.here(server.owners_link())]).await
}

/// Keys and clicks of each task, but for the words that are typed.
#[tokio::test]
async fn a_developer_goes_from_the_link_to_a_code_by_keys_alone() {
    let report = journey("keys").await;
    assert_eq!(report["clicks"], 0);
    assert_eq!(report["costs"], report["budgets"]);
}

#[tokio::test]
async fn a_tester_reads_finds_and_deletes_on_a_phone() {
    let report = journey("phone").await;
    assert_eq!(report["costs"], report["budgets"]);
    assert_eq!(report["sideways"], json!([]));
}
