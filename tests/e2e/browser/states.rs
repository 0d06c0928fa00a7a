//! What the web console's screens show while something is missing, refused, or out of order.

use serde_json::json;
use trapline_tests::proofs_are_full;

use super::{lasting, walk_through};

/// Each screen in each state that it can be in, by a real cause; what was not as it should be is told. The short
/// form takes one screen of each kind where all of them share what is shown.
#[tokio::test]
async fn every_screen_says_what_is_missing_refused_or_out_of_order() {
    // So few inboxes a minute that somebody makes one too many.
    let flags = ["--sign-up", "true", "--upgrade-url", "https://plans.example/"];
    let bounds = ["--sign-in-rate", "0", "--inbox-rate", "20"];
    let server = lasting(&[flags.as_slice(), &bounds].concat()).await;
    let form = if proofs_are_full() { "full" } else { "short" };
    let report = walk_through(server, "states", &[form]).await;
    assert_eq!(report["wrong"], json!([]), "{:#}", report["wrong"]);
}
