//! Addresses that webhooks must not lead to.

use serde_json::json;
use trapline_tests::{Deployment, Mail, Rest, deliver, eventually, is_cluster};

use super::{
    Hook,
    receiver::{Act, Receiver},
};

async fn refuses(rest: &Rest, url: &str) {
    let answer = rest.post("/api/webhooks", json!({ "url": url })).await.error(400);
    assert_eq!(answer.json()["issues"][0]["code"], "address_not_allowed", "{answer}");
}

/// An operator who allowed an address can take that back: what is there already is not called either.
#[tokio::test]
async fn a_cluster_calls_nothing_on_this_machine_unless_it_is_allowed() {
    let mut server = Deployment::alone(&[]);
    let receiver = Receiver::start(&[Act::answer(204)]).await;
    let hook = Hook::new(&server.rest(), &receiver.url()).await;
    deliver(&server, &hook.inbox, &Mail::new("allowed", "x")).await;
    assert_eq!(hook.settled().await["status"], "succeeded");
    server.terminate();
    assert!(server.ended().success());
    server.restart_with(&["--webhook-allow-cidrs", ""]);
    let rest = server.rest();
    // Where instances of a cloud find their credentials; refused in either mode.
    refuses(&rest, "http://169.254.169.254/latest/meta-data/").await;
    let hook = hook.of(rest.clone());
    let delivery = deliver(&server, &hook.inbox, &Mail::new("later", "x")).await;
    let found = eventually("a delivery", async || {
        let newest = hook.deliveries().await.into_iter().next()?;
        (newest["messageId"] == delivery && newest["status"] != "pending").then_some(newest)
    })
    .await;
    // One process stands where its users do, and calls what they run there.
    let (status, error, calls) = if is_cluster() {
        refuses(&rest, &receiver.url()).await;
        (json!("failed"), json!("address_not_allowed"), 1)
    } else {
        (json!("succeeded"), json!(null), 2)
    };
    assert_eq!((&found["status"], &found["error"]), (&status, &error), "{found}");
    assert!(found["nextAttemptAt"].is_null(), "{found}");
    assert_eq!(receiver.requests().len(), calls);
}
