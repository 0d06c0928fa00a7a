//! One call for each mail, signed; and the same again for whoever asks.

use std::time::Duration;

use serde_json::{Value, json};
use trapline_tests::{Mail, deliver, eventually, shared};

use super::{
    Hook,
    receiver::{Act, Receiver},
};

#[tokio::test]
async fn a_mail_reaches_the_endpoint_once_and_signed() {
    let server = shared();
    let receiver = Receiver::start(&[Act::answer(204)]).await;
    let hook = Hook::new(&server.rest(), &receiver.url()).await;
    let id = deliver(&server, &hook.inbox, &Mail::new("hooked", "x")).await;
    let delivery = hook.settled().await;
    // Long enough for a second call, if there were one.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    let body: Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!((&body["event"], &body["message"]["id"]), (&json!("message.received"), &json!(id)));
    assert!(hook.signed(&requests[0]), "{requests:?}");
    let fields = [
        ("content-type", "application/json"),
        ("user-agent", "service-webhooks/1"),
        ("x-webhook-event", "message.received"),
        ("x-webhook-delivery", delivery["id"].as_str().unwrap()),
    ];
    for (name, value) in fields {
        assert_eq!(requests[0].header(name), value);
    }
}

#[tokio::test]
async fn a_redelivery_makes_up_for_an_outage() {
    let server = shared();
    let receiver = Receiver::start(&[Act::answer(500), Act::answer(204)]).await;
    let hook = Hook::new(&server.rest(), &receiver.url()).await;
    deliver(&server, &hook.inbox, &Mail::new("hooked", "x")).await;
    let first = hook.settled().await;
    assert_eq!((&first["status"], &first["error"]), (&json!("retrying"), &json!("http_5xx")));
    let again = hook.redeliver(&first).await;
    assert_eq!((&again["redeliveryOf"], &again["attempts"]), (&first["id"], &json!(0)));
    let second = hook.settled().await;
    assert_eq!((&second["id"], &second["status"]), (&again["id"], &json!("succeeded")));
    assert_eq!(hook.deliveries().await[1], first, "the first keeps its own ladder");
    let requests = receiver.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
    assert!(requests.iter().all(|request| hook.signed(request)), "{requests:?}");
    assert_eq!(requests[1].header("x-webhook-delivery"), again["id"].as_str().unwrap());
}

#[tokio::test]
async fn a_webhook_that_is_off_is_told_of_nothing() {
    let server = shared();
    let rest = server.rest();
    let receiver = Receiver::start(&[Act::answer(204)]).await;
    let hook = Hook::new(&rest, &receiver.url()).await;
    deliver(&server, &hook.inbox, &Mail::new("before", "x")).await;
    let first = hook.settled().await;
    rest.patch(&hook.path, json!({ "enabled": false })).await.expect(200);
    hook.redeliver(&first).await;
    let refused = hook.settled().await;
    assert_eq!(
        (&refused["status"], &refused["error"]),
        (&json!("failed"), &json!("webhook_disabled"))
    );
    rest.patch(&hook.path, json!({ "enabled": true })).await.expect(200);
    hook.redeliver(&refused).await;
    eventually("a delivery", async || {
        let newest = hook.deliveries().await.into_iter().next()?;
        (newest["status"] == "succeeded" && newest["redeliveryOf"] == refused["id"]).then_some(())
    })
    .await;
    assert_eq!(receiver.requests().len(), 2);
}
