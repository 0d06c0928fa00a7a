//! Who repeats a wait that is answered 408, and that none repeats one that is answered 200.

use tokio::process::Command;
use trapline_tests::{Deployment, Inbox};

use crate::tools::{node, run};

/// Waits that ended without a message.
const TIMED_OUT: &str = "trapline_waits_total{outcome=\"timed_out\"}";

fn url(server: &Deployment, inbox: &Inbox, on_timeout: &str) -> String {
    let path = inbox.path(&format!("/messages/wait?timeout=1&onTimeout={on_timeout}"));
    format!("{}{path}", server.api()[0])
}

/// Runs a client that waits once, and tells how often the server was asked.
async fn asked(server: &Deployment, client: Command) -> u64 {
    let before = server.metric(TIMED_OUT).await;
    run(client).await;
    server.metric(TIMED_OUT).await - before
}

/// Chromium repeats a request that is answered 408 over a connection that was used before.
#[tokio::test]
async fn chromium_repeats_a_408_and_no_200() {
    let server = Deployment::with(&["--metrics-token", "metrics"]);
    let inbox = server.rest().inbox().await;
    let wait = |on_timeout| {
        let mut client = node("node/fetch.cjs");
        client.args([&server.api()[0], server.team().key(), &url(&server, &inbox, on_timeout)]);
        client
    };
    assert!(asked(&server, wait("408")).await > 1);
    assert_eq!(asked(&server, wait("200")).await, 1);
}

#[tokio::test]
async fn curl_with_retries_repeats_a_408_and_no_200() {
    let server = Deployment::with(&["--metrics-token", "metrics"]);
    let inbox = server.rest().inbox().await;
    let wait = |on_timeout| {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--retry", "1", "--retry-delay", "1", "-H"]);
        curl.arg(format!("Authorization: Bearer {}", server.team().key()));
        curl.arg(url(&server, &inbox, on_timeout));
        curl
    };
    assert_eq!(asked(&server, wait("408")).await, 2);
    assert_eq!(asked(&server, wait("200")).await, 1);
}
