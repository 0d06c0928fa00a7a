//! An application over the embedded adapters, with a clock that the test moves.

use std::{sync::Arc, time::Duration};

use trapline_app::{App, Filter, Incoming, ListQuery, MasterKey, NewInbox, Page, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Envelope, Inbox, MessageId, TeamId, Time};
use trapline_store::{Clock, Ports};

pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) team: TeamId,
    master: MasterKey,
    _embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Over ports that the test changed.
    pub(crate) async fn with(edit: impl FnOnce(&mut Ports)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(options).await.unwrap();
        let mut ports = embedded.ports();
        edit(&mut ports);
        let master = MasterKey::generate().unwrap();
        let app =
            App::start(ports.clone(), clock.clone(), Settings::default(), &master, <_>::default())
                .await
                .unwrap();
        let team = app.first_run(None).await.unwrap().team;
        Self { app, ports, clock, team, master, _embedded: embedded, _folder: folder }
    }

    /// Another process over the same backends.
    pub(crate) async fn another_process(&self) -> Arc<App> {
        let (ports, clock) = (self.ports.clone(), self.clock.clone());
        App::start(ports, clock, Settings::default(), &self.master, <_>::default()).await.unwrap()
    }

    pub(crate) async fn inbox(&self, max_messages: u32, life: Option<Duration>) -> Inbox {
        let new = NewInbox { max_messages, life, ..NewInbox::named("bench") };
        self.app.create_inbox(self.team, new).await.unwrap()
    }

    /// Delivers a mail with its own subject, as the SMTP edge would.
    pub(crate) async fn deliver(&self, inbox: &Inbox, subject: &str) -> MessageId {
        let login = self.app.login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
        let raw = format!("Subject: {subject}\r\nTo: ada@example.com\r\n\r\nhello {subject}\r\n");
        let mail = Incoming {
            mailboxes: vec![login.unwrap()],
            envelope: Envelope {
                from: "app@example.com".to_owned(),
                to: vec!["ada@example.com".to_owned()],
            },
            raw: raw.into(),
        };
        self.app.receive(mail).await.unwrap()[0]
    }

    pub(crate) async fn list(&self, inbox: &Inbox) -> Page {
        let query = ListQuery { q: None, unread: false, page: 1, limit: 200 };
        self.app.list(self.team, inbox.id, &query).await.unwrap()
    }

    pub(crate) async fn subjects(&self, inbox: &Inbox) -> Vec<String> {
        self.list(inbox).await.messages.into_iter().map(|message| message.subject).collect()
    }
}

/// Any message of the inbox.
pub(crate) fn anything() -> Filter {
    Filter::default()
}
