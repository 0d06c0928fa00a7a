//! An application with everything that works on webhooks, and a clock that the test moves.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use trapline_app::{
    App, Incoming, MasterKey, NewInbox, NewWebhook, Settings, WebhookChange, WebhookSender,
};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Delivery, Envelope, Inbox, Principal, Webhook};
use trapline_store::{Clock, Lane};
use trapline_worker::{
    HttpWebhookSender, JobHandler, ReceivedMail, WebhookDeliveries,
    outbound::{Client, Guard, GuardOptions},
    run_lane,
};

pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Clock,
    by: Principal,
    embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// Receivers have `deadline` to answer.
    pub(crate) async fn new(deadline: Duration) -> Self {
        Self::guarded(deadline, GuardOptions { allow_private: true, ..<_>::default() }).await
    }

    pub(crate) async fn guarded(deadline: Duration, options: GuardOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Receivers look at their own clocks.
        let clock = Clock::manual(Clock::system().now());
        let embedded = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(embedded).await.unwrap();
        let (master, settings) = (MasterKey::generate().unwrap(), Settings::default());
        let ports = embedded.ports();
        let app = App::start(ports, clock.clone(), settings, &master, <_>::default()).await;
        let app = app.unwrap();
        let guard = Guard::new(options);
        let client = Client::new(guard.clone(), &[]).unwrap();
        let sender: Arc<dyn WebhookSender> =
            Arc::new(HttpWebhookSender::new(guard, client, deadline));
        let handlers: [Arc<dyn JobHandler>; 3] = [
            Arc::new(WebhookDeliveries::new(app.clone(), sender.clone())),
            Arc::new(WebhookDeliveries::slow(app.clone(), sender)),
            Arc::new(ReceivedMail::new(app.clone())),
        ];
        for handler in handlers {
            tokio::spawn(run_lane(app.clone(), handler, "test".to_owned()));
        }
        let by = Principal::system(app.installation().start(None).await.unwrap().team);
        Self { app, clock, by, embedded, _folder: folder }
    }

    /// An inbox, and a webhook that is told of its mail only.
    pub(crate) async fn hook(&self, url: &str) -> (Inbox, Webhook) {
        let inbox = self.app.inboxes().create(&self.by, NewInbox::named("Inbox")).await.unwrap();
        let new = NewWebhook {
            url: url.to_owned(),
            inbox: Some(inbox.id),
            events: Vec::new(),
            enabled: true,
        };
        let hook = self.app.webhooks().create(&self.by, new).await.unwrap();
        (inbox, hook)
    }

    /// Moves a webhook to another port of this machine.
    pub(crate) async fn point(&self, hook: &Webhook, port: u16) {
        let url = Some(format!("http://127.0.0.1:{port}/"));
        let change = WebhookChange { url, ..<_>::default() };
        self.app.webhooks().update(&self.by, hook.id, change).await.unwrap();
    }

    pub(crate) async fn deliver(&self, inbox: &Inbox) {
        let login =
            self.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
        let mail = Incoming {
            targets: vec![login.unwrap()],
            envelope: Envelope {
                from: "app@example.com".to_owned(),
                to: vec!["ada@example.com".to_owned()],
            },
            raw: "Subject: Grüße\r\nTo: ada@example.com\r\n\r\nhello\r\n".into(),
        };
        self.app.receive().deliver(mail).await.unwrap();
    }

    pub(crate) async fn log(&self, hook: &Webhook) -> Vec<Delivery> {
        self.app.webhooks().deliveries(&self.by, hook.id, 200).await.unwrap()
    }

    /// The webhook's deliveries once they all are as asked for.
    pub(crate) async fn when(
        &self,
        hook: &Webhook,
        count: usize,
        are: impl Fn(&Delivery) -> bool,
    ) -> Vec<Delivery> {
        loop {
            let log = self.log(hook).await;
            if log.len() == count && log.iter().all(&are) {
                return log;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether no job is being worked on. A clock that is moved before would take its lease away.
    async fn is_at_rest(&self) -> bool {
        let queue = self.embedded.ports().queue;
        let stats = Lane::ALL.map(|lane| queue.stats(lane));
        join_all(stats).await.into_iter().all(|stats| stats.unwrap().leased == 0)
    }

    /// The only delivery, once so many attempts have ended and no job is worked on.
    pub(crate) async fn after(&self, hook: &Webhook, attempts: u32) -> Delivery {
        let ended = |delivery: &Delivery| delivery.attempts >= attempts;
        let delivery = self.when(hook, 1, |delivery| ended(delivery)).await.remove(0);
        while !self.is_at_rest().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        delivery
    }
}

/// The value of `X-Webhook-Signature`, worked out apart from the code that makes it.
pub(crate) fn signature(secret: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    format!("sha256={}", data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()))
}
