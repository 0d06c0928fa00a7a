//! Forwarding in the web console.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Relayed, eventually, relay_flags, shared_relay};

use super::walk;

/// Who agrees to get what is forwarded here, and who never answers.
const AGREES: &str = "phone@forwarding-journey.example";
const WAITS: &str = "silent@forwarding-journey.example";

#[tokio::test]
async fn addresses_agree_and_an_inbox_forwards_to_them() {
    let relay = shared_relay();
    let flags = relay_flags(relay.address());
    let server = Deployment::alone(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    let link = server.here(server.owners_link());
    let arguments = ["relay", &link, AGREES, WAITS];
    let journey = walk(&server, "forwarding", &arguments);
    let agree = async {
        let letter = eventually("a letter with a link", async || {
            relay.mails(AGREES).iter().find_map(Relayed::confirmation)
        });
        server.anonymous().post(&letter.await, Value::Null).await.expect(200);
    };
    let (report, ()) = tokio::join!(journey, agree);
    assert_eq!((&report["waits"], &report["offered"]), (&json!(true), &json!(0)));
    assert_eq!(report["rule"], json!(["On", AGREES, "subject contains “INVOICE”"]));
    let inbox = report["inbox"].as_str().unwrap();
    assert!(report["loses"].as_str().unwrap().ends_with(&format!("1 inbox loses it: {inbox}.")));
    assert_eq!(report["left"], json!([WAITS]));
    let forwarded = eventually("what matches", async || {
        relay.mails(AGREES).into_iter().find(|mail| mail.confirmation().is_none())
    });
    assert!(String::from_utf8_lossy(&forwarded.await.bytes).contains("Your invoice 2"));
}

#[tokio::test]
async fn what_forwarding_lacks_is_said_where_it_is_missed() {
    let server = Deployment::alone(&[]);
    let link = server.here(server.owners_link());
    let report = walk(&server, "forwarding", &["without", &link]).await;
    assert_eq!((&report["adds"], &report["enables"]), (&json!(false), &json!(false)));
}
