//! Inboxes and deliveries that most tests begin with.

use serde_json::{Value, json};

use crate::{Deployment, Mail, Rest, Smtp};

/// A new inbox.
#[derive(Debug, Clone)]
pub struct Inbox {
    /// The inbox's id.
    pub id: String,
    /// Of its SMTP credentials.
    pub username: String,
    /// Of its SMTP credentials.
    pub password: String,
    /// Mail to it needs no credentials.
    pub address: String,
}

impl Inbox {
    /// The inbox as the API shows it.
    pub fn of(record: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            id: text(&record["id"]),
            username: text(&record["smtp"]["username"]),
            password: text(&record["smtp"]["password"]),
            address: text(&record["address"]),
        }
    }

    /// A path below the inbox, such as `/messages`.
    pub fn path(&self, below: &str) -> String {
        format!("/api/inboxes/{}{below}", self.id)
    }
}

impl Rest {
    /// Makes an inbox.
    pub async fn inbox(&self) -> Inbox {
        self.inbox_with(json!({ "name": "Test" })).await
    }

    /// Makes an inbox from this body.
    pub async fn inbox_with(&self, body: Value) -> Inbox {
        Inbox::of(&self.post("/api/inboxes", body).await.expect(201).json())
    }

    /// A message's record.
    pub async fn message(&self, id: &str) -> Value {
        self.get(&format!("/api/messages/{id}")).await.expect(200).json()
    }

    /// A message's bytes.
    pub async fn raw(&self, id: &str) -> Vec<u8> {
        self.get(&format!("/api/messages/{id}/raw")).await.expect(200).body.to_vec()
    }

    /// The list of an inbox: the total, and the subjects of the first 200, newest first.
    pub async fn subjects(&self, inbox: &Inbox) -> (u64, Vec<String>) {
        let list = self.get(&inbox.path("/messages?limit=200")).await.expect(200).json();
        let subject = |message: &Value| message["subject"].as_str().unwrap().to_owned();
        let messages = list["messages"].as_array().unwrap();
        (list["total"].as_u64().unwrap(), messages.iter().map(subject).collect())
    }
}

/// Delivers a mail into an inbox with its credentials, and returns the message's id.
pub async fn deliver(deployment: &Deployment, inbox: &Inbox, mail: &Mail) -> String {
    deliver_bytes(deployment, inbox, &mail.bytes()).await
}

/// The same, of bytes as they are.
pub async fn deliver_bytes(deployment: &Deployment, inbox: &Inbox, raw: &[u8]) -> String {
    let mut smtp = Smtp::hello(deployment.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let to = "ada@example.test";
    let ids = smtp.transact("app@example.test", &[to], raw).await;
    smtp.quit().await;
    assert_eq!(ids.len(), 1, "one inbox, one message");
    ids.into_iter().next().unwrap()
}
