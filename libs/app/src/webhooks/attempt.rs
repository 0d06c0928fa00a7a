//! One attempt: what is sent, and whether it is still to be sent.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use trapline_model::{Time, WebhookId};
use trapline_store::records::{Delivery, Webhook};
use url::Url;

use super::{Webhooks, sign::signature, target};
use crate::Result;

/// The names that a fault of the answering side has in the log.
pub(super) const DISABLED: &str = "webhook_disabled";
pub(super) const DELETED: &str = "webhook_deleted";
pub(super) const NOT_ALLOWED: &str = "address_not_allowed";

/// A request to be made.
#[derive(Debug)]
pub struct Attempt {
    /// The webhook.
    pub webhook: WebhookId,
    /// Where to.
    pub url: Url,
    /// Every header that the contract names, and the content type.
    pub headers: Vec<(&'static str, String)>,
    /// The payload.
    pub body: Bytes,
    /// From 1 to 8.
    pub number: u32,
    /// When it was signed.
    pub at: Time,
}

/// What the receiver answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// A stable word for the log.
    pub code: &'static str,
    /// Whether another attempt would fail in the same way.
    pub is_final: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How long it took.
    pub took: Duration,
    /// The answer, or why there is none.
    pub result: Result<Reply, Failure>,
}

/// Makes requests to addresses that customers give.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Says why an address can never be called, as far as can be told without asking anybody.
    fn check(&self, url: &Url) -> Result<(), String>;
    /// Makes the request, within the deadline.
    async fn call(&self, attempt: &Attempt) -> Outcome;
}

impl Outcome {
    /// Whether the receiver took it.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.result.is_ok_and(|reply| (200..300).contains(&reply.status))
    }
}

impl Webhooks {
    /// The next request of a delivery, signed now; nothing if the address cannot be called.
    pub(super) fn attempt(
        &self,
        hook: &Webhook,
        delivery: &Delivery,
        body: Bytes,
    ) -> Result<Option<Attempt>> {
        let Ok(url) = target::parse(&hook.url) else { return Ok(None) };
        let secret = self.secret_of(hook)?;
        let at = self.clock.now();
        let timestamp = at.millis().div_euclid(1000);
        Ok(Some(Attempt {
            webhook: hook.id,
            url,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("user-agent", "service-webhooks/1".to_owned()),
                ("x-webhook-event", delivery.event.as_str().to_owned()),
                ("x-webhook-timestamp", timestamp.to_string()),
                ("x-webhook-signature", signature(&secret, timestamp, &body)),
                ("x-webhook-delivery", delivery.id.to_string()),
            ],
            body,
            number: delivery.attempts + 1,
            at,
        }))
    }
}
