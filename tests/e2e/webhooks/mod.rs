//! Mail that arrives reaches an endpoint, signed, and what becomes of it is told.

mod guard;
mod outcomes;
pub(crate) mod receiver;
mod redelivery;

use hmac::{Hmac, KeyInit, Mac};
use receiver::Request;
use serde_json::{Value, json};
use sha2::Sha256;
use trapline_tests::{Inbox, Rest, eventually};

/// A webhook of an inbox of its own.
pub(crate) struct Hook {
    rest: Rest,
    pub(crate) inbox: Inbox,
    path: String,
    secret: String,
}

impl Hook {
    pub(crate) async fn new(rest: &Rest, url: &str) -> Self {
        let body = json!({ "name": "Hooked", "maxMessages": 10_000 });
        let inbox = rest.inbox_with(body).await;
        let hook = json!({ "url": url, "inboxId": inbox.id });
        let hook = rest.post("/api/webhooks", hook).await.expect(201).json();
        let path = format!("/api/webhooks/{}", hook["id"].as_str().unwrap());
        let secret = hook["secret"].as_str().unwrap().to_owned();
        Self { rest: rest.clone(), inbox, path, secret }
    }

    /// The same webhook for another client.
    pub(crate) fn of(self, rest: Rest) -> Self {
        Self { rest, ..self }
    }

    /// The newest 200 deliveries, newest first.
    pub(crate) async fn deliveries(&self) -> Vec<Value> {
        let path = format!("{}/deliveries?limit=200", self.path);
        self.rest.get(&path).await.expect(200).json().as_array().unwrap().clone()
    }

    /// The newest delivery, once an attempt of it has ended or none will be made.
    async fn settled(&self) -> Value {
        eventually("an attempt", async || {
            let newest = self.deliveries().await.into_iter().next()?;
            (newest["status"] != "pending").then_some(newest)
        })
        .await
    }

    /// Sends a delivery's payload again.
    async fn redeliver(&self, delivery: &Value) -> Value {
        let path = format!("{}/deliveries/{}", self.path, delivery["id"].as_str().unwrap());
        self.rest.post(&path, Value::Null).await.expect(200).json()
    }

    /// Whether it was this webhook that signed a request (HMAC, RFC 2104).
    fn signed(&self, request: &Request) -> bool {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).unwrap();
        mac.update(request.header("x-webhook-timestamp").as_bytes());
        mac.update(b".");
        mac.update(&request.body);
        let mac = data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes());
        request.header("x-webhook-signature") == format!("sha256={mac}")
    }
}
