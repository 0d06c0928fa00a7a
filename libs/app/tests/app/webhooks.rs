//! Webhooks over the embedded adapters, with receivers that answer from a script and a clock that moves.

mod attempts;
mod backlog;
mod deliveries;
mod fan_out;
mod invariants;
mod log;
mod losses;
mod world;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio::sync::{mpsc, oneshot};
use trapline_app::{
    App, Job, Lane, Lease, NewWebhook, WebhookFailure, WebhookOutcome, WebhookReply,
    WebhookRequest, WebhookSender,
};
use trapline_model::{Delivery, DeliveryStatus, Webhook};

use crate::support::Bench;

/// Long enough for a job that is due; a clock that stands still makes no other.
const LOOK: Duration = Duration::from_millis(30);

fn outcome(status: u16, retry_after: Option<Duration>) -> WebhookOutcome {
    WebhookOutcome {
        took: Duration::from_millis(7),
        result: Ok(WebhookReply { status, retry_after }),
    }
}

fn answer(status: u16) -> WebhookOutcome {
    outcome(status, None)
}

fn failure(code: &'static str, is_final: bool) -> WebhookOutcome {
    WebhookOutcome { took: Duration::from_secs(10), result: Err(WebhookFailure { code, is_final }) }
}

/// What reached a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    url: String,
    number: u32,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Call {
    fn of(request: &WebhookRequest) -> Self {
        Self {
            url: request.url.to_string(),
            number: request.attempt,
            headers: request.signed_headers(),
            body: String::from_utf8(request.body.to_vec()).unwrap(),
        }
    }

    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Whether the signature is the secret's, worked out apart from the code that makes it.
    fn is_signed_with(&self, secret: &str) -> bool {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(format!("{}.{}", self.header("x-webhook-timestamp"), self.body).as_bytes());
        let hex = data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes());
        self.header("x-webhook-signature") == format!("sha256={hex}")
    }
}

impl Bench {
    async fn hook(&self) -> Webhook {
        self.hook_with(|_| {}).await
    }

    async fn hook_with(&self, edit: impl FnOnce(&mut NewWebhook)) -> Webhook {
        let mut new = NewWebhook {
            url: "https://receiver.example/hook".to_owned(),
            inbox: None,
            events: Vec::new(),
            enabled: true,
        };
        edit(&mut new);
        self.app.webhooks().create(&self.by, new).await.unwrap()
    }

    /// Fans out what arrived.
    async fn fan_out(&self) {
        for lease in self.app.jobs().take(Lane::Received, 100, LOOK).await.unwrap() {
            self.app.arrivals().start(&lease.job).await.unwrap();
            self.app.jobs().complete(lease).await.unwrap();
        }
    }

    /// Does what is due now, and returns the calls that it made.
    async fn call_due(&self, mut answer: impl FnMut(&Call) -> WebhookOutcome) -> Vec<Call> {
        let mut calls = Vec::new();
        loop {
            let mut leases = self.app.jobs().take(Lane::Webhook, 100, LOOK).await.unwrap();
            leases.extend(self.app.jobs().take(Lane::WebhookSlow, 100, LOOK).await.unwrap());
            if leases.is_empty() {
                return calls;
            }
            for lease in leases {
                let next = deliver(&self.app, &lease.job, |call| {
                    calls.push(call.clone());
                    Some(answer(call))
                });
                match next.await.unwrap() {
                    Some(next) => self.app.jobs().reschedule(lease, &next).await.unwrap(),
                    None => self.app.jobs().complete(lease).await.unwrap(),
                }
            }
        }
    }

    /// The only job that is due.
    async fn due_job(&self) -> Lease {
        let mut leases = self.app.jobs().take(Lane::Webhook, 9, LOOK).await.unwrap();
        assert_eq!(leases.len(), 1);
        leases.remove(0)
    }

    async fn log(&self, hook: &Webhook) -> Vec<Delivery> {
        self.app.webhooks().deliveries(&self.by, hook.id, 200).await.unwrap()
    }

    /// The only delivery of a webhook.
    async fn delivery(&self, hook: &Webhook) -> Delivery {
        let mut log = self.log(hook).await;
        assert_eq!(log.len(), 1, "{log:?}");
        log.remove(0)
    }

    async fn status(&self, hook: &Webhook) -> (Option<DeliveryStatus>, Option<String>) {
        let hook = self.app.webhooks().get(&self.by, hook.id).await.unwrap();
        (hook.last_status, hook.last_error)
    }
}

/// Does what a job of the webhook lanes asks for. The process ends, and nothing is returned, where there
/// is no answer.
async fn deliver(
    app: &App,
    job: &Job,
    mut answer: impl FnMut(&Call) -> Option<WebhookOutcome>,
) -> Option<Option<Job>> {
    let (caller, mut asked) = Asking::new();
    let mut delivering = std::pin::pin!(app.webhooks().deliver(job, &caller));
    loop {
        tokio::select! {
            next = &mut delivering => return Some(next.unwrap()),
            Some((call, reply)) = asked.recv() => reply.send(answer(&call)?).unwrap(),
        }
    }
}

type Asked = (Call, oneshot::Sender<WebhookOutcome>);

/// Asks the test how a call is answered.
struct Asking(mpsc::UnboundedSender<Asked>);

impl Asking {
    fn new() -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (asking, asked) = mpsc::unbounded_channel();
        (Self(asking), asked)
    }
}

#[async_trait]
impl WebhookSender for Asking {
    fn check(&self, _: &url::Url) -> Result<(), String> {
        Ok(())
    }

    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome {
        let (reply, answer) = oneshot::channel();
        self.0.send((Call::of(request), reply)).unwrap();
        answer.await.unwrap()
    }

    async fn call_probe_receiver(&self, _: &WebhookRequest) -> Result<(), String> {
        Ok(())
    }
}

/// Answers test events, and remembers them.
struct Script(WebhookOutcome, Mutex<Vec<Call>>);

#[async_trait]
impl WebhookSender for Script {
    fn check(&self, url: &url::Url) -> Result<(), String> {
        if url.host_str() == Some("10.0.0.1") { Err("it is private".to_owned()) } else { Ok(()) }
    }

    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome {
        self.1.lock().unwrap().push(Call::of(request));
        self.0
    }

    async fn call_probe_receiver(&self, _: &WebhookRequest) -> Result<(), String> {
        Ok(())
    }
}

fn scripted(app: &App, outcome: WebhookOutcome) -> Arc<Script> {
    let script = Arc::new(Script(outcome, Mutex::default()));
    app.webhooks().set_sender(script.clone());
    script
}
