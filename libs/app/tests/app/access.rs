//! The master key, API keys, and what a first start makes.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use tokio::sync::Barrier;
use trapline_app::{
    App, Error, InboxQuery, MasterKey, NewKey, NewWebhook, Settings, Unauthenticated,
};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Access, Principal};
use trapline_store::{
    Clock, Key, Op, PortError, Record, Row, Store, When, load,
    records::{ApiKey, FirstRun, Inbox, InboxEntry, SharedSecret, Webhook},
};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

const CANARY: &str = "master_key_check";

fn is_wrong_key<T>(outcome: &trapline_app::Result<T>) -> bool {
    matches!(outcome, Err(Error::WrongMasterKey))
}

#[tokio::test]
async fn a_process_with_another_master_key_does_not_start() {
    let bench = Bench::new().await;
    assert!(is_wrong_key(&bench.process_with_key(&MasterKey::generate().unwrap()).await));
    bench.another_process().await;
}

#[tokio::test]
async fn an_installation_of_an_earlier_release_keeps_its_master_key() {
    let bench = Bench::new().await;
    let delete = Op::Delete { key: SharedSecret::row(CANARY), when: When::Version(1) };
    bench.ports.store.write(vec![delete]).await.unwrap();
    assert!(is_wrong_key(&bench.process_with_key(&MasterKey::generate().unwrap()).await));
    bench.another_process().await;
    assert!(bench.ports.store.get(&SharedSecret::row(CANARY)).await.unwrap().is_some());
}

/// Changes a row of a guarded table.
async fn edit<R: Record>(bench: &Bench, row: Key, edit: impl FnOnce(&mut R)) {
    let (mut record, version) = load::<R>(&*bench.ports.store, &row).await.unwrap().unwrap();
    edit(&mut record);
    let (doc, when) = (record.doc().unwrap(), When::Version(version));
    bench.ports.store.write(vec![Op::Put { key: row, doc, ttl: None, when }]).await.unwrap();
}

#[tokio::test]
async fn a_password_that_does_not_open_is_a_fault_and_no_wrong_password() {
    let bench = Bench::new().await;
    let inbox = bench.inbox(10, None).await;
    let (username, password) = (&inbox.smtp.username, &inbox.smtp.password);
    edit::<Inbox>(&bench, Inbox::row(inbox.id), |row| row.password.clear()).await;
    let row = bench.ports.store.get(&Inbox::row(inbox.id)).await.unwrap().unwrap();
    let entry = InboxEntry::written(&Inbox::of(&row).unwrap(), row.version);
    let (key, doc, when) = (entry.key(), entry.doc().unwrap(), When::Always);
    bench.ports.store.write(vec![Op::Put { key, doc, ttl: None, when }]).await.unwrap();
    let app = bench.another_process().await;
    assert!(is_wrong_key(&app.inboxes().get(&bench.by, inbox.id).await));
    assert!(is_wrong_key(&app.inboxes().list(&bench.by, &InboxQuery::default()).await));
    for tried in [password, "", "another"] {
        assert!(is_wrong_key(&app.access().login(username, tried).await), "{tried}");
        assert!(is_wrong_key(
            &app.access().login_cram_md5(username, "<1@a>", tried.as_bytes()).await
        ));
    }
}

#[tokio::test]
async fn a_signing_secret_that_does_not_open_is_a_fault_where_it_is_shown() {
    let bench = Bench::new().await;
    let url = "https://hooks.example.com/".to_owned();
    let new = NewWebhook { url, inbox: None, events: Vec::new(), enabled: true };
    let hook = bench.app.webhooks().create(&bench.by, new).await.unwrap();
    edit::<Webhook>(&bench, Webhook::row(bench.team, hook.id), |row| row.secret.clear()).await;
    let reader = Principal { access: Access::Read, ..bench.by };
    let shown = async |by: &Principal| bench.app.webhooks().get(by, hook.id).await;
    assert!(is_wrong_key(&shown(&bench.by).await));
    assert!(is_wrong_key(&bench.app.webhooks().list(&bench.by).await));
    assert_eq!(shown(&reader).await.unwrap().secret, None);
}

fn new_key(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), access: Access::Read, expires_at: None, value: None }
}

async fn is_unknown(app: &App, key: &str) -> bool {
    match app.access().authenticate(key, None).await {
        Ok(_) => false,
        Err(Error::Unauthenticated(Unauthenticated::Unknown)) => true,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn keys_are_listed_and_taken_back() {
    let bench = Bench::new().await;
    let (app, by) = (&bench.app, &bench.by);
    let value = app.access().create_key(by, new_key("ci")).await.unwrap();
    let other = app.access().create_key(by, new_key("other")).await.unwrap();
    assert!(!is_unknown(app, &value).await);
    let keys = app.access().keys(by).await.unwrap();
    let listed: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(listed, ["other", "ci", "First key"], "newest first");
    assert!(keys[1].last_used_at.is_some() && keys[0].last_used_at.is_none());
    let ci = &keys[1];
    assert!(value.starts_with(&ci.prefix) && !ci.is_configured);
    for text in [&ci.id.to_string(), &ci.prefix, &value] {
        let named = app.access().keys_named(by, text).await.unwrap();
        assert_eq!(named.iter().map(|key| key.id).collect::<Vec<_>>(), [ci.id], "{text}");
    }
    for text in ["", "tl_", "ci", &format!("{value}x")] {
        assert!(app.access().keys_named(by, text).await.unwrap().is_empty(), "{text}");
    }

    app.access().revoke_key(by, ci.id).await.unwrap();
    assert!(is_unknown(app, &value).await, "at once in this process");
    assert!(is_unknown(&*bench.another_process().await, &value).await);
    assert!(!is_unknown(app, &other).await);
    assert_eq!(app.access().keys(by).await.unwrap().len(), 2);
    assert!(matches!(app.access().revoke_key(by, ci.id).await, Err(Error::NotFound)));
    let stranger = Principal::system(app.access().create_team("Others").await.unwrap());
    assert!(matches!(app.access().revoke_key(&stranger, keys[0].id).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn the_key_of_the_setting_replaces_the_last_one() {
    let bench = Bench::new().await;
    let (app, by) = (&bench.app, &bench.by);
    let made = app.access().create_key(by, new_key("made")).await.unwrap();
    let settings = ["tl_aaaaaaaaaaaaaaaaaaaaaaaa", "tl_bbbbbbbbbbbbbbbbbbbbbbbb"];
    for (number, value) in settings.iter().enumerate() {
        for _ in 0..2 {
            app.installation().start(Some(value)).await.unwrap();
        }
        for (other, key) in settings.iter().enumerate() {
            assert_eq!(is_unknown(app, key).await, other != number, "{value} {key}");
        }
    }
    app.installation().start(None).await.unwrap();
    assert!(!is_unknown(app, settings[1]).await, "no setting changes nothing");
    app.installation().start(Some(&made)).await.unwrap();
    assert!(is_unknown(app, settings[1]).await, "a key that was there already replaces it too");
    app.installation().start(Some(settings[0])).await.unwrap();
    assert!(!is_unknown(app, &made).await, "it was not made by the setting");
    assert!(matches!(app.installation().start(Some("secret")).await, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn a_key_that_an_earlier_release_made_for_the_setting_is_replaced() {
    let bench = Bench::new().await;
    let app = &bench.app;
    let first = "tl_aaaaaaaaaaaaaaaaaaaaaaaa";
    app.installation().start(Some(first)).await.unwrap();
    let rows = bench.ports.store.scan(ApiKey::of_team(bench.team, 9)).await.unwrap();
    let mut key = ApiKey::of(&rows[0]).unwrap();
    key.origin = None;
    let (doc, when) = (key.doc().unwrap(), When::Always);
    assert!(!doc.contains("origin"), "{doc}");
    let put = Op::Put { key: key.key(), doc, ttl: None, when };
    bench.ports.store.write(vec![put]).await.unwrap();
    app.installation().start(Some("tl_bbbbbbbbbbbbbbbbbbbbbbbb")).await.unwrap();
    assert!(is_unknown(app, first).await);
}

/// Lets two first starts look for an installation before either makes one, and notes what they make.
struct Race {
    store: Arc<dyn Store>,
    both_looked: Barrier,
    looks: Mutex<usize>,
    made: Mutex<Vec<Key>>,
}

#[async_trait]
impl StoreLayer for Race {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn get(&self, key: &Key) -> trapline_store::Result<Option<Row>> {
        let row = self.store.get(key).await;
        if *key == FirstRun::row() {
            let look = {
                let mut looks = self.looks.lock().unwrap();
                *looks += 1;
                *looks
            };
            // Each of the two looks when it is started, and again for its first run.
            if (3..=4).contains(&look) {
                self.both_looked.wait().await;
            }
        }
        row
    }

    async fn write(&self, ops: Vec<Op>) -> trapline_store::Result<()> {
        self.made.lock().unwrap().extend(ops.iter().map(|op| op.key().clone()));
        self.store.write(ops).await
    }
}

#[tokio::test]
async fn two_first_starts_at_once_leave_one_team() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let mut ports = embedded.ports();
    let race = Arc::new(LayeredStore(Race {
        store: ports.store,
        both_looked: Barrier::new(2),
        looks: Mutex::default(),
        made: Mutex::default(),
    }));
    ports.store = race.clone();
    let master = MasterKey::generate().unwrap();
    let start =
        || App::start(ports.clone(), Clock::system(), Settings::default(), &master, <_>::default());
    let (one, two) = (start().await.unwrap(), start().await.unwrap());
    let (one, two) = tokio::join!(one.installation().start(None), two.installation().start(None));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.team, two.team);
    assert_eq!(one.new_key.is_some(), two.new_key.is_none(), "one key is shown");
    let made = race.0.made.lock().unwrap().clone();
    for table in ["team", "project", "inbox_by_id", "inbox_by_team", "login"] {
        let mut left = 0;
        let mut keys: Vec<&Key> = Vec::new();
        for key in made.iter().filter(|key| key.table.name == table) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            left += usize::from(race.0.store.get(key).await.unwrap().is_some());
        }
        assert_eq!(left, 1, "{table}");
    }
}

/// The next write of a key is lost.
struct LosesKey {
    store: Arc<dyn Store>,
    loses: AtomicBool,
}

#[async_trait]
impl StoreLayer for LosesKey {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn write(&self, ops: Vec<Op>) -> trapline_store::Result<()> {
        let is_key = ops.iter().any(|op| op.key().table.name == "api_key");
        if is_key && self.loses.swap(false, Ordering::SeqCst) {
            return Err(PortError::Timeout);
        }
        self.store.write(ops).await
    }
}

#[tokio::test]
async fn a_first_start_that_fails_keeps_no_key_from_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let mut ports = embedded.ports();
    let loses = AtomicBool::new(true);
    ports.store = Arc::new(LayeredStore(LosesKey { store: ports.store, loses }));
    let master = MasterKey::generate().unwrap();
    let app = App::start(ports, Clock::system(), Settings::default(), &master, <_>::default());
    let app = app.await.unwrap();
    app.installation().start(None).await.unwrap_err();
    // Nor does one that was killed before it showed what it made.
    for _ in 0..2 {
        let start = app.installation().start(None).await.unwrap();
        assert!(!is_unknown(&app, &start.new_key.unwrap()).await);
        assert!(start.owners_link.unwrap().contains("/link?token="));
    }
    app.installation().shown().await.unwrap();
    let start = app.installation().start(None).await.unwrap();
    assert_eq!((start.new_key, start.owners_link), (None, None));
    app.installation().shown().await.unwrap();
}
