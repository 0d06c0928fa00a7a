//! An open page of the web console while the server, the network or the clock does something.

use serde_json::{Value, json};
use trapline_tests::proofs_are_full;

use super::{lasting, walk_through};

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
