//! An application with everything that sends mail, and a clock that the test moves.

use std::{sync::Arc, time::Duration};

use trapline_app::{App, Incoming, MasterKey, NewInbox, Outbound, Relay, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_model::{
    Address, Envelope, Forward, ForwardStatus, Forwarding, Inbox, MessageId, Principal,
};
use trapline_relay_testkit::{MailServer, Received};
use trapline_store::{Clock, Lane, Queue};
use trapline_worker::{
    ForwardMessage, JobHandler, ReceivedMail, RelayOptions, SendMail, SmtpRelay, run_lane,
};

/// How often, and for how long, a test looks for what is to happen.
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: usize = 4_000;

pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Clock,
    pub(crate) by: Principal,
    queue: Arc<dyn Queue>,
    _embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// With the relay at this port.
    pub(crate) async fn new(port: u16) -> Self {
        Self::with(RelayOptions::new("127.0.0.1", port)).await
    }

    pub(crate) async fn with(options: RelayOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Clock::system().now());
        let embedded = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(embedded).await.unwrap();
        let from = Address { address: "no-reply@mail.example".to_owned(), name: String::new() };
        let outbound = Some(Outbound { from, bounces: None });
        let settings = Settings { outbound, ..Settings::default() };
        let (master, ports) = (MasterKey::generate().unwrap(), embedded.ports());
        let queue = ports.queue.clone();
        let app = App::start(ports, clock.clone(), settings, &master, <_>::default()).await;
        let app = app.unwrap();
        let relay: Arc<dyn Relay> = Arc::new(SmtpRelay::new(options).unwrap());
        let handlers: [Arc<dyn JobHandler>; 3] = [
            Arc::new(SendMail::new(app.clone(), relay.clone())),
            Arc::new(ForwardMessage::new(app.clone(), relay)),
            Arc::new(ReceivedMail::new(app.clone())),
        ];
        for handler in handlers {
            tokio::spawn(run_lane(app.clone(), handler, "test".to_owned()));
        }
        let by = Principal::system(app.installation().start(None).await.unwrap().team);
        Self { app, clock, by, queue, _embedded: embedded, _folder: folder }
    }

    /// Adds an address whose owner opens the link that the server got.
    pub(crate) async fn agreed(&self, server: &MailServer, email: &str) {
        let before = server.received().len();
        self.app.forwarding().add_address(&self.by, email).await.unwrap();
        let mail = arrived(server, before + 1).await.pop().unwrap();
        self.app.forwarding().confirm(&token_of(&mail), None).await.unwrap();
    }

    /// An inbox that forwards all its mail.
    pub(crate) async fn inbox(&self, to: &[&str]) -> Inbox {
        let inbox = self.app.inboxes().create(&self.by, NewInbox::named("Inbox")).await.unwrap();
        let to = to.iter().map(|to| (*to).to_owned()).collect();
        let rule = Forwarding { enabled: true, to, matching: None };
        self.app.forwarding().set_rule(&self.by, inbox.id, rule).await.unwrap();
        inbox
    }

    pub(crate) async fn deliver(&self, inbox: &Inbox, raw: &[u8]) -> MessageId {
        let login =
            self.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
        let envelope =
            Envelope { from: "app@example.com".to_owned(), to: vec!["eve@example.com".to_owned()] };
        let raw = raw.to_vec().into();
        let mail = Incoming { targets: vec![login.unwrap()], envelope, raw };
        self.app.receive().deliver(mail).await.unwrap()[0]
    }

    /// Until the only mail of the service itself waits for its next attempt.
    pub(crate) async fn mail_is_put_off(&self) {
        for _ in 0..PATIENCE {
            if self.queue.stats(Lane::Mail).await.unwrap().delayed == 1 {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("{:?}", self.queue.stats(Lane::Mail).await)
    }

    /// The forward to an address once it stands like this.
    pub(crate) async fn when(
        &self,
        message: MessageId,
        to: &str,
        status: ForwardStatus,
    ) -> Forward {
        let is_it = |forward: &&Forward| forward.to == to && forward.status == status;
        for _ in 0..PATIENCE {
            let forwards = self.app.forwarding().forwards(&self.by, message).await.unwrap();
            if let Some(forward) = forwards.iter().find(is_it) {
                return forward.clone();
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("{:?}", self.app.forwarding().forwards(&self.by, message).await)
    }
}

/// What a server got, once that is so many mails.
pub(crate) async fn arrived(server: &MailServer, count: usize) -> Vec<Received> {
    for _ in 0..PATIENCE {
        let received = server.received();
        if received.len() >= count {
            return received;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("{} of {count} mails: {:?}", server.received().len(), server.received())
}

/// The token of the link in a mail.
pub(crate) fn token_of(mail: &Received) -> String {
    let message = mail.text();
    let (_, body) = message.split_once("Content-Transfer-Encoding: base64\r\n\r\n").unwrap();
    let body = body.split("\r\n--").next().unwrap().replace("\r\n", "");
    let text = String::from_utf8(data_encoding::BASE64.decode(body.as_bytes()).unwrap()).unwrap();
    let (_, token) = text.split_once("confirm?token=").unwrap();
    token.split_whitespace().next().unwrap().to_owned()
}
