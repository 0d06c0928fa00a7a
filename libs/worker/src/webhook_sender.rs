//! Sends requests of webhooks over HTTP.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;
use trapline_app::{WebhookFailure, WebhookOutcome, WebhookReply, WebhookRequest, WebhookSender};

use crate::{
    outbound::{self, Client, Guard, HeaderName, HeaderValue, Url},
    probe_receiver::ProbeReceiver,
};

/// How long a receiver has to answer.
pub const WEBHOOK_DEADLINE: Duration = Duration::from_secs(10);

/// Sends over the guarded HTTP client.
pub struct HttpWebhookSender {
    guard: Guard,
    client: Client,
    deadline: Duration,
}

impl HttpWebhookSender {
    /// Whatever `guard` refuses is refused when a webhook is made, too; it is the client's own.
    /// The deadline is [`WEBHOOK_DEADLINE`] but in tests.
    #[must_use]
    pub fn new(guard: Guard, client: Client, deadline: Duration) -> Self {
        Self { guard, client, deadline }
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    fn check(&self, url: &Url) -> Result<(), String> {
        self.guard.check(url).map_err(|refusal| refusal.to_string())
    }

    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome {
        let headers = headers_of(request);
        let body = request.body.clone();
        let answer = self.client.post(&request.url, &headers, body, self.deadline).await;
        let now = request.at.after(answer.took);
        let reply = answer.outcome.map(|response| WebhookReply {
            status: response.status,
            retry_after: response.retry_after.map(|after| after.delay(now)),
        });
        let failed = |failure: outbound::OutboundFailure| WebhookFailure {
            code: failure.code(),
            is_final: failure.is_final(),
        };
        WebhookOutcome { took: answer.took, result: reply.map_err(failed) }
    }

    async fn call_probe_receiver(&self, request: &WebhookRequest) -> Result<(), String> {
        let receiver = ProbeReceiver::open().await.map_err(|error| error.to_string())?;
        let (url, headers) = (receiver.url()?, headers_of(request));
        let client = self.client.guarded_by(ProbeReceiver::guard());
        let call = client.post(&url, &headers, request.body.clone(), self.deadline);
        let get = receiver.get(&headers, &request.body);
        let (answer, got) = tokio::join!(call, timeout(self.deadline, get));
        got.map_err(|_| "the receiver got no such request".to_owned())?;
        match answer.outcome {
            Ok(response) if response.status == ProbeReceiver::STATUS => Ok(()),
            Ok(response) => Err(format!("the receiver's answer came as {}", response.status)),
            Err(failure) => Err(failure.code().to_owned()),
        }
    }
}

fn headers_of(request: &WebhookRequest) -> Vec<(HeaderName, HeaderValue)> {
    request.signed_headers().iter().filter_map(header).collect()
}

fn header((name, value): &(&'static str, String)) -> Option<(HeaderName, HeaderValue)> {
    Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
}
