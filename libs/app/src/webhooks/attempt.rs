//! One attempt: the request, who signs it, and how it may end.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use trapline_model::Time;
use trapline_store::records::{Delivery, Webhook};
use url::Url;

use super::{Webhooks, sign::SecretSigner, webhook_url};
use crate::Result;

/// Why a delivery ends without a request, as the log names it.
pub(super) const DISABLED: &str = "webhook_disabled";
pub(super) const DELETED: &str = "webhook_deleted";
pub(super) const NOT_IN_PLAN: &str = "feature_unavailable";
pub(super) const NOT_ALLOWED: &str = "address_not_allowed";

/// A request that is to be signed and sent to an address that a customer gave.
pub struct WebhookRequest {
    /// Where it is sent.
    pub url: Url,
    /// Every header but those of the signature.
    pub headers: Vec<(&'static str, String)>,
    /// The payload.
    pub body: Bytes,
    /// Signs it.
    pub signer: Box<dyn RequestSigner>,
    /// The time of the signature.
    pub at: Time,
    /// Which attempt it is, from 1.
    pub attempt: u32,
}

impl WebhookRequest {
    /// All headers, with those of the signature.
    #[must_use]
    pub fn signed_headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = self.headers.clone();
        headers.extend(self.signer.headers(self.at, &self.body));
        headers
    }
}

/// Proves to a receiver who sent a request. Each kind of webhook has its own contract.
pub trait RequestSigner: Send + Sync {
    /// The headers that sign a body which is sent at this time.
    fn headers(&self, at: Time, body: &[u8]) -> Vec<(&'static str, String)>;
}

/// What the receiver answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookReply {
    /// The HTTP status.
    pub status: u16,
    /// The delay that the receiver asks for (`Retry-After`).
    pub retry_after: Option<Duration>,
}

/// Why a request got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookFailure {
    /// A stable word for the log.
    pub code: &'static str,
    /// Whether another attempt would fail in the same way.
    pub is_final: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookOutcome {
    /// Time from the start of the request to the answer or the failure.
    pub took: Duration,
    /// The answer, or the failure.
    pub result: Result<WebhookReply, WebhookFailure>,
}

/// Sends requests to addresses that customers give.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Checks an address as far as can be told without asking anybody.
    ///
    /// # Errors
    ///
    /// Why the address can never be called, in words.
    fn check(&self, url: &Url) -> Result<(), String>;
    /// Signs and sends the request, within the sender's deadline.
    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome;
    /// Sends the request to a receiver of the sender's own, in place of the address in it, by the same
    /// way as any other but for what forbids the address.
    ///
    /// # Errors
    ///
    /// Why the receiver did not get it as it was sent, in words.
    async fn call_probe_receiver(&self, request: &WebhookRequest) -> Result<(), String>;
}

impl WebhookOutcome {
    /// Whether the receiver answered with a status of 200 to 299.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.result.is_ok_and(|reply| (200..300).contains(&reply.status))
    }
}

impl Webhooks {
    /// The next request of a delivery, to be signed with the time of now; nothing if the address cannot
    /// be called.
    pub(super) fn request(
        &self,
        hook: &Webhook,
        delivery: &Delivery,
        body: Bytes,
    ) -> Result<Option<WebhookRequest>> {
        let Ok(url) = webhook_url::parse(&hook.url) else { return Ok(None) };
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", "service-webhooks/1".to_owned()),
            ("x-webhook-event", delivery.event.as_str().to_owned()),
            ("x-webhook-delivery", delivery.id.to_string()),
        ];
        let signer = Box::new(SecretSigner::new(self.secret_of(hook)?));
        let (at, attempt) = (self.clock.now(), delivery.attempts + 1);
        Ok(Some(WebhookRequest { url, headers, body, signer, at, attempt }))
    }
}
