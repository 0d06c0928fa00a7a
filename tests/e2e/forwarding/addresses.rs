//! Nobody gets mail who did not agree to it.

use serde_json::{Value, json};
use trapline_tests::{Mail, deliver, shared};

use super::Team;

#[tokio::test]
async fn an_address_is_confirmed_by_the_link_in_the_letter_that_it_gets() {
    let server = shared();
    let (team, other) = (Team::on(&server), server.anonymous());
    let email = "ada@confirmed.example";
    let added = team.add(email).await;
    assert_eq!((&added["email"], &added["verifiedAt"]), (&json!(email), &Value::Null));
    let inbox = team.rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("early", "x")).await;
    let link = team.link(email).await;
    // Mail scanners open links: that alone confirms nothing.
    let page = other.get(&link).await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"), "{page}");
    assert!(
        page.text().contains(email) && page.text().contains("<form method=\"post\">"),
        "{page}"
    );
    let path = format!("/api/messages/{message}/forward");
    let refused = team.rest.post(&path, json!({ "to": [email] })).await.error(400);
    assert_eq!(refused.issues(), ["to[0]"]);
    assert_eq!(refused.json()["issues"][0]["code"], "not_verified");
    other.post(&link, Value::Null).await.expect(200);
    let addresses = team.rest.get("/api/forward-addresses").await.expect(200).json();
    assert_eq!((&addresses[0]["id"], addresses[0]["verifiedAt"].is_string()), (&added["id"], true));
    other.post(&link, Value::Null).await.expect(404);
    other.get(&link).await.expect(404);
    team.forward(&message, &[email]).await;
    team.when(&message, email, "sent").await;
}

#[tokio::test]
async fn a_letter_is_sent_again_but_not_at_once() {
    let server = shared();
    let team = Team::on(&server);
    let email = "ada@impatient.example";
    team.add(email).await;
    let again = team.rest.post("/api/forward-addresses", json!({ "email": email })).await;
    let wait: u64 = again.error(429).header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait} s");
    team.link(email).await;
    assert_eq!(team.relay.mails(email).len(), 1);
}

#[tokio::test]
async fn a_removed_address_gets_nothing_more() {
    let server = shared();
    let team = Team::on(&server);
    let (stays, goes) = ("ada@stays.example", "bob@goes.example");
    team.agreed(&[stays, goes]).await;
    let inbox = team.inbox(&[stays, goes], Value::Null).await;
    let addresses = team.rest.get("/api/forward-addresses").await.expect(200).json();
    let id = addresses.as_array().unwrap().iter().find(|one| one["email"] == goes).unwrap();
    let path = format!("/api/forward-addresses/{}", id["id"].as_str().unwrap());
    team.rest.delete(&path).await.expect(204);
    let rule = team.rest.get(&inbox.path("/forwarding")).await.expect(200).json();
    assert_eq!(rule["to"], json!([stays]));
    let message = deliver(&server, &inbox, &Mail::new("late", "x")).await;
    team.when(&message, stays, "sent").await;
    assert!(team.forwarded(goes).is_empty());
}

#[tokio::test]
async fn addresses_of_the_service_itself_cannot_be_added() {
    let server = shared();
    let team = Team::on(&server);
    let own = team.rest.inbox().await.address;
    let refused = team.rest.post("/api/forward-addresses", json!({ "email": own })).await;
    assert_eq!(refused.error(400).json()["issues"][0]["code"], "own_address");
}
