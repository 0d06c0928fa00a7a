//! An application over the embedded adapters, with a clock that the test moves.

use std::{sync::Arc, time::Duration};

use trapline_app::{
    App, FeedEvent, Filter, InboxQuery, Incoming, ListQuery, MasterKey, NewInbox, Outbound, Page,
    Settings,
};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Address, Envelope, Inbox, MessageId, Principal, TeamId, Time};
use trapline_store::{Clock, Op, Ports, When, records::Upgrade};

pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) team: TeamId,
    /// The link of the first start; empty where nobody signs in.
    pub(crate) owners_link: String,
    /// The service itself, acting for the team.
    pub(crate) by: Principal,
    master: MasterKey,
    _embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With these settings.
    pub(crate) async fn set(settings: Settings) -> Self {
        Self::over(|_| {}, settings).await
    }

    /// Over ports that the test changed.
    pub(crate) async fn with(edit: impl FnOnce(&mut Ports)) -> Self {
        Self::over(edit, Settings::default()).await
    }

    /// With a relay.
    pub(crate) async fn with_relay() -> Self {
        Self::relaying(|_| {}).await
    }

    /// With a relay, over ports that the test changed.
    pub(crate) async fn relaying(edit: impl FnOnce(&mut Ports)) -> Self {
        let from = Address { address: "no-reply@mail.example".to_owned(), name: String::new() };
        let outbound = Some(Outbound { from, bounces: None });
        Self::over(edit, Settings { outbound, ..Settings::default() }).await
    }

    /// Over ports that the test changed, with these settings.
    pub(crate) async fn over(edit: impl FnOnce(&mut Ports), settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(options).await.unwrap();
        let mut ports = embedded.ports();
        edit(&mut ports);
        let master = MasterKey::generate().unwrap();
        let app = App::start(ports.clone(), clock.clone(), settings, &master, <_>::default())
            .await
            .unwrap();
        app.upgrades().run().await.unwrap();
        let start = app.installation().start(None).await.unwrap();
        app.installation().shown().await.unwrap();
        let team = start.team;
        Self {
            app,
            ports,
            clock,
            team,
            owners_link: start.owners_link.unwrap_or_default(),
            by: Principal::system(team),
            master,
            _embedded: embedded,
            _folder: folder,
        }
    }

    /// Another process over the same backends.
    pub(crate) async fn another_process(&self) -> Arc<App> {
        self.process_with(|_| {}).await
    }

    /// The same with other settings.
    pub(crate) async fn process_with(&self, edit: impl FnOnce(&mut Settings)) -> Arc<App> {
        let (ports, clock) = (self.ports.clone(), self.clock.clone());
        let mut settings = Settings::default();
        edit(&mut settings);
        App::start(ports, clock, settings, &self.master, <_>::default()).await.unwrap()
    }

    /// Another process over ports that the test changed.
    pub(crate) async fn process_over(&self, ports: Ports) -> Arc<App> {
        let settings = Settings::default();
        App::start(ports, self.clock.clone(), settings, &self.master, <_>::default()).await.unwrap()
    }

    /// Another process, whose machine's clock is another.
    pub(crate) async fn process_by(&self, clock: &Clock) -> Arc<App> {
        let (ports, clock) = (self.ports.clone(), clock.clone());
        App::start(ports, clock, Settings::default(), &self.master, <_>::default()).await.unwrap()
    }

    /// Another process that has this master key.
    pub(crate) async fn process_with_key(&self, key: &MasterKey) -> trapline_app::Result<Arc<App>> {
        let (ports, clock) = (self.ports.clone(), self.clock.clone());
        App::start(ports, clock, Settings::default(), key, <_>::default()).await
    }

    /// Starts the janitor of this process.
    pub(crate) fn start_janitor(&self) -> tokio::task::JoinHandle<()> {
        let app = self.app.clone();
        tokio::spawn(async move { app.maintenance().run_janitor("1").await })
    }

    /// As the data of an earlier release, which no upgrade was made of.
    pub(crate) async fn forget_upgrades(&self) {
        let mark = Op::Delete { key: Upgrade::row(), when: When::Always };
        self.ports.store.write(vec![mark]).await.unwrap();
    }

    pub(crate) async fn inbox(&self, max_messages: u32, lifetime: Option<Duration>) -> Inbox {
        let new =
            NewInbox { max_messages: Some(max_messages), lifetime, ..NewInbox::named("bench") };
        self.app.inboxes().create(&self.by, new).await.unwrap()
    }

    /// Delivers a mail with its own subject, as the SMTP edge would.
    pub(crate) async fn deliver(&self, inbox: &Inbox, subject: &str) -> MessageId {
        let raw = format!("Subject: {subject}\r\nTo: ada@example.com\r\n\r\nhello {subject}\r\n");
        self.deliver_raw(inbox, "app@example.com", raw.into()).await
    }

    /// Delivers these bytes.
    pub(crate) async fn deliver_raw(&self, inbox: &Inbox, from: &str, raw: Vec<u8>) -> MessageId {
        let login =
            self.app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
        let mail = Incoming {
            targets: vec![login.unwrap()],
            envelope: Envelope { from: from.to_owned(), to: vec!["ada@example.com".to_owned()] },
            raw: raw.into(),
        };
        self.app.receive().deliver(mail).await.unwrap()[0]
    }

    pub(crate) async fn list(&self, inbox: &Inbox) -> Page {
        let query = ListQuery { limit: 200, ..ListQuery::default() };
        self.app.messages().list(&self.by, inbox.id, &query).await.unwrap()
    }

    pub(crate) async fn subjects(&self, inbox: &Inbox) -> Vec<String> {
        self.list(inbox).await.messages.into_iter().map(|message| message.subject).collect()
    }
}

/// All inboxes of a team.
pub(crate) async fn inboxes_of(app: &App, by: &Principal) -> Vec<Inbox> {
    app.inboxes().list(by, &InboxQuery::default()).await.unwrap().inboxes
}

/// The payload of an event.
pub(crate) fn json(event: &FeedEvent) -> serde_json::Value {
    serde_json::from_slice(&event.data).unwrap()
}

/// Any message of the inbox.
pub(crate) fn anything() -> Filter {
    Filter::default()
}
