//! Caught mail goes on to people who agreed, through a relay.

mod addresses;
mod failures;
mod gate;
mod loops;
mod messages;
mod outages;

use serde_json::{Value, json};
use trapline_tests::{Deployment, Inbox, Relay, Relayed, Rest, eventually, shared_relay};

/// A team of its own, so that its addresses are nobody else's, and the relay that its mail goes to.
struct Team<'a> {
    server: &'a Deployment,
    rest: Rest,
    relay: Relay,
}

impl<'a> Team<'a> {
    /// On the deployment that tests share.
    fn on(server: &'a Deployment) -> Self {
        let rest = server.client(server.second_team().key());
        Self { server, rest, relay: shared_relay().clone() }
    }

    async fn add(&self, email: &str) -> Value {
        let added = self.rest.post("/api/forward-addresses", json!({ "email": email })).await;
        added.expect(201).json()
    }

    /// The path of the link in the letter to an address, once that is there.
    async fn link(&self, email: &str) -> String {
        eventually("a letter with a link", async || {
            self.relay.mails(email).iter().find_map(Relayed::confirmation)
        })
        .await
    }

    /// Adds addresses whose owners agree.
    async fn agreed(&self, emails: &[&str]) {
        for email in emails {
            self.add(email).await;
        }
        for email in emails {
            let link = self.link(email).await;
            self.server.anonymous().post(&link, Value::Null).await.expect(200);
        }
    }

    /// An inbox that forwards what matches.
    async fn inbox(&self, to: &[&str], matching: Value) -> Inbox {
        let inbox = self.rest.inbox().await;
        let rule = json!({ "enabled": true, "to": to, "match": matching });
        let set = self.rest.send("PUT", &inbox.path("/forwarding"), rule.clone()).await;
        assert_eq!(set.expect(200).json(), rule);
        inbox
    }

    /// Forwards by hand.
    async fn forward(&self, message: &str, to: &[&str]) -> Vec<Value> {
        let path = format!("/api/messages/{message}/forward");
        let answer = self.rest.post(&path, json!({ "to": to })).await.expect(200).json();
        answer.as_array().unwrap().clone()
    }

    async fn forwards(&self, message: &str) -> Vec<Value> {
        let path = format!("/api/messages/{message}/forward");
        self.rest.get(&path).await.expect(200).json().as_array().unwrap().clone()
    }

    /// The forward to an address, once it stands like this.
    async fn when(&self, message: &str, to: &str, status: &str) -> Value {
        eventually(&format!("a forward to {to} that is {status}"), async || {
            let mut forwards = self.forwards(message).await.into_iter();
            forwards.find(|forward| forward["to"] == to && forward["status"] == status)
        })
        .await
    }

    /// What the relay got for an address that is no letter.
    fn forwarded(&self, to: &str) -> Vec<Relayed> {
        let mut mails = self.relay.mails(to);
        mails.retain(|mail| mail.confirmation().is_none());
        mails
    }
}
