//! An open page of the web console while the server, the network or the clock does something.

use serde_json::{Value, json};
use trapline_tests::{Deployment, proofs_are_full};

use super::{checked, lasting, walk_through};
use crate::tools::{node, run};

/// In short and in full.
fn form() -> &'static str {
    if proofs_are_full() { "full" } else { "short" }
}

async fn live(part: &str) -> Value {
    let report = walk_through(lasting(&[]).await, "live", &[part, form()]).await;
    assert_eq!(report["wrong"], json!([]), "{:#}", report["wrong"]);
    report
}

/// The server restarts, the stream is cut, the network is away, the clock jumps: the list is that of the API
/// again, without a reload, and a backoff bounds what is asked meanwhile.
#[tokio::test]
async fn a_page_goes_on_by_itself_after_what_interrupts_it() {
    live("interrupted").await;
}

/// Arrivals, deletions and marks from elsewhere in random order, while somebody scrolls and selects.
#[tokio::test]
async fn a_list_under_random_changes_ends_equal_to_the_api() {
    live("random").await;
}

/// A browser has six connections to a host over HTTP/1.1, which ten tabs share.
#[tokio::test]
async fn ten_tabs_of_one_browser_stay_usable() {
    let report = live("tabs").await;
    // Those of the tab in view and of two hidden ones.
    assert_eq!(report["streams"], 3);
}

/// Files of a screen that comes later are asked for again where a server of another build lacks them, and the page
/// looks as it always does. Where nobody has them any more it says so, and is loaded anew by a button only.
#[tokio::test]
async fn a_page_goes_on_between_servers_of_two_builds() {
    let server = Deployment::alone(&[]);
    let mut browser = node("node/builds.cjs");
    browser.arg(server.here(server.owners_link()));
    let report = checked(&run(browser).await);
    assert_eq!((&report["differs"], &report["isSame"]), (&json!([]), &json!(true)), "{report:#}");
    assert_eq!(report["projects"], 3, "{report:#}");
    assert!((4..=8).contains(&report["most"].as_u64().unwrap()), "{report:#}");
    assert!(report["files"].as_u64().unwrap() >= 5, "{report:#}");
}
