//! Many mails in the web console, worked through by keys.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Relayed, eventually, relay_flags, shared_relay};

use super::walk;

/// Who agreed to get what is forwarded here.
const PHONE: &str = "phone@mail-journey.example";

#[tokio::test]
async fn many_are_deleted_by_keys_and_what_waits_is_not_lost() {
    let server = Deployment::alone(&[]);
    let link = server.here(server.owners_link());
    let report = walk(&server, "mail", &["clean", &link]).await;
    // Keys and clicks; the words of the search are typed besides.
    assert_eq!(report["undo"], json!([4, 0]));
    assert_eq!(report["several"], json!([5, 0]));
    assert_eq!(report["many"], json!([6, 2]));
    let is = |name: &str, left: &[&str]| assert_eq!(report[name], json!(left), "{name}");
    for before in ["undone", "untouched", "afterMany"] {
        is(before, &["Newest", "Deleted", "Kept"]);
    }
    is("afterLeaving", &["Deleted", "Kept"]);
    is("afterSignOut", &["Kept"]);
}

#[tokio::test]
async fn mail_is_found_followed_shared_and_forwarded_by_keys() {
    let relay = shared_relay();
    let flags = relay_flags(relay.address());
    let server = Deployment::alone(&flags.iter().map(String::as_str).collect::<Vec<_>>());
    let rest = server.rest();
    rest.post("/api/inboxes", json!({ "name": "Refunds" })).await.expect(201);
    rest.post("/api/forward-addresses", json!({ "email": PHONE })).await.expect(201);
    let agree = eventually("a letter with a link", async || {
        relay.mails(PHONE).iter().find_map(Relayed::confirmation)
    });
    server.anonymous().post(&agree.await, Value::Null).await.expect(200);
    let link = server.here(server.owners_link());
    let report = walk(&server, "mail", &["find", &link]).await;
    let filter = json!({ "q": "inv", "from": "billing", "attachment": "true" });
    assert_eq!(report["filter"], filter);
    assert_eq!((&report["matching"], &report["paused"]), (&json!(2), &json!(1)));
    // `f`, and Enter to send and to close.
    assert_eq!(report["forward"], json!([3, 0]));
    let mails = relay.mails(PHONE);
    let forwarded = mails.iter().filter(|mail| mail.confirmation().is_none());
    assert_eq!(forwarded.count(), 2);
}
