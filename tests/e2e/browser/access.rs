//! The web console for people who see, hear, point or move less.

use serde_json::json;
use trapline_tests::{Deployment, proofs_are_full};

use super::walk;
use crate::people::SIGN_UP;

/// Each screen and dialog in two looks, light and dark, wide and narrow; in all of them under PROOFS=full.
#[tokio::test]
async fn every_screen_is_accessible_and_fits_a_narrow_window() {
    let server = Deployment::alone(&SIGN_UP);
    let form = if proofs_are_full() { "full" } else { "short" };
    let report = walk(&server, "access", &[form, &server.here(server.owners_link())]).await;
    assert_eq!(report["wrong"], json!([]), "{:#}", report["wrong"]);
    assert_eq!(report["moving"], 0);
}

/// Each screen in the pseudo-language, wide and in what is left of that window at 400 % zoom.
#[tokio::test]
async fn every_screen_fits_in_another_language_and_at_great_zoom() {
    let server = Deployment::alone(&SIGN_UP);
    let report = walk(&server, "languages", &[&server.here(server.owners_link())]).await;
    assert_eq!(report["wrong"], json!([]), "{:#}", report["wrong"]);
    assert!(report["seen"].as_u64().unwrap() > 300, "{report:#}");
}
