//! The audit log: every change has its entry, first of all, and a refused one has none.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::Mutex;
use trapline_app::{Error, InboxChange, InboxQuery, NewInbox, NewKey, NewWebhook, WebhookChange};
use trapline_model::{Access, ActorKind, AuditEntry, Forwarding, Principal};
use trapline_store::{
    Key, Op, PortError, Ports, Record as _, Row, Scan, Store, Value, When, records,
};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

async fn latest(bench: &Bench) -> Vec<AuditEntry> {
    bench.app.audit().latest(&bench.by).await.unwrap()
}

async fn actions(bench: &Bench) -> Vec<String> {
    latest(bench).await.into_iter().map(|entry| entry.action).collect()
}

/// Somebody with an API key, at an address.
async fn key_holder(bench: &Bench, access: Access) -> Principal {
    let new = NewKey { name: "CI".to_owned(), access, expires_at: None, value: None };
    let value = bench.app.access().create_key(&bench.by, new).await.unwrap();
    let address = Some(IpAddr::from([192, 0, 2, 7]));
    bench.app.access().authenticate(&value, address).await.unwrap()
}

fn hook() -> NewWebhook {
    NewWebhook {
        url: "http://hooks.example/".to_owned(),
        inbox: None,
        events: vec![],
        enabled: true,
    }
}

#[tokio::test]
async fn an_entry_says_who_did_what_to_what_from_where() {
    let bench = Bench::new().await;
    let by = key_holder(&bench, Access::Write).await;
    let inbox = bench.app.inboxes().create(&by, NewInbox::named("Checkout")).await.unwrap();
    let entry = latest(&bench).await.remove(0);
    assert_eq!((entry.action.as_str(), entry.at), ("inbox.created", bench.clock.now()));
    assert_eq!((entry.actor.kind, entry.actor.name.as_str()), (ActorKind::Key, "CI"));
    assert_eq!(entry.address.as_deref(), Some("192.0.2.7"));
    assert_eq!((entry.target.kind.as_str(), entry.target.name.as_str()), ("inbox", "Checkout"));
    assert_eq!(entry.target.id, inbox.id.to_string());
    let made = latest(&bench).await.pop().unwrap();
    assert_eq!((made.actor.kind, made.actor.id, made.address), (ActorKind::System, None, None));
}

#[tokio::test]
async fn changes_are_told_newest_first_and_marks_and_mail_are_not() {
    let bench = Bench::with_relay().await;
    let start = actions(&bench).await;
    assert_eq!(start, ["api_key.created", "inbox.created", "project.created"]);
    let (app, by) = (&bench.app, &bench.by);
    let project = app.inboxes().create_project(by, "One".to_owned()).await.unwrap();
    let inbox = bench.inbox(10, None).await;
    let message = bench.deliver(&inbox, "mail").await;
    app.messages().set_read(by, message, true).await.unwrap();
    app.messages().mark_all_read(by, inbox.id).await.unwrap();
    app.messages().delete(by, message).await.unwrap();
    app.messages().empty(by, inbox.id).await.unwrap();
    bench.deliver(&inbox, "mail").await;
    app.messages().empty(by, inbox.id).await.unwrap();
    let change = InboxChange { project: Some(Some(project.id)), ..InboxChange::default() };
    app.inboxes().update(by, inbox.id, change).await.unwrap();
    app.inboxes().rotate_password(by, inbox.id).await.unwrap();
    app.forwarding().set_rule(by, inbox.id, Forwarding::default()).await.unwrap();
    app.inboxes().rename_project(by, project.id, "Two".to_owned()).await.unwrap();
    app.inboxes().delete_project(by, project.id).await.unwrap();
    app.inboxes().delete(by, inbox.id).await.unwrap();
    let hook = app.webhooks().create(by, hook()).await.unwrap();
    app.webhooks().update(by, hook.id, WebhookChange::default()).await.unwrap();
    app.webhooks().delete(by, hook.id).await.unwrap();
    app.forwarding().add_address(by, "ada@example.com").await.unwrap();
    let address = app.forwarding().addresses(by).await.unwrap().remove(0);
    app.forwarding().delete_address(by, address.id).await.unwrap();
    let key = app.access().keys(by).await.unwrap().remove(0);
    app.access().revoke_key(by, key.id).await.unwrap();
    let mut told = actions(&bench).await;
    told.truncate(told.len() - start.len());
    told.reverse();
    let wanted = [
        "project.created",
        "inbox.created",
        "message.deleted",
        "inbox.emptied",
        "inbox.updated",
        "inbox.credentials_rotated",
        "forwarding.updated",
        "project.renamed",
        "project.deleted",
        "inbox.deleted",
        "webhook.created",
        "webhook.updated",
        "webhook.deleted",
        "forward_address.added",
        "forward_address.deleted",
        "api_key.revoked",
    ];
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn a_look_at_a_secret_is_told_once_an_hour() {
    let bench = Bench::new().await;
    let writer = key_holder(&bench, Access::Write).await;
    let reader = key_holder(&bench, Access::Read).await;
    let hook = bench.app.webhooks().create(&bench.by, hook()).await.unwrap();
    let before = latest(&bench).await.len();
    for _ in 0..3 {
        bench.app.webhooks().list(&reader).await.unwrap();
        bench.app.webhooks().get(&reader, hook.id).await.unwrap();
        bench.app.webhooks().get(&bench.by, hook.id).await.unwrap();
    }
    assert_eq!(latest(&bench).await.len(), before);
    for _ in 0..3 {
        bench.app.webhooks().list(&writer).await.unwrap();
        bench.app.webhooks().get(&writer, hook.id).await.unwrap();
    }
    let told = latest(&bench).await;
    assert_eq!(told.len(), before + 2);
    assert!(told[..2].iter().all(|entry| entry.action == "webhook.secret_read"));
    assert_eq!(told[0].target.id, hook.id.to_string());
    assert_eq!(told[1].target.kind, "team");
}

#[tokio::test]
async fn the_latest_200_of_400_days_are_listed_of_the_own_team_only() {
    let bench = Bench::new().await;
    let other = Principal::system(bench.app.access().create_team("Other").await.unwrap());
    for number in 0..150 {
        bench.app.inboxes().create_project(&bench.by, format!("Old {number}")).await.unwrap();
    }
    let month = Duration::from_hours(31 * 24);
    bench.clock.advance(month);
    for number in 0..100 {
        bench.app.inboxes().create_project(&bench.by, format!("New {number}")).await.unwrap();
    }
    let told = latest(&bench).await;
    let names: Vec<_> = told.iter().map(|entry| entry.target.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[199]), (200, "New 99", "Old 50"));
    assert!(bench.app.audit().latest(&other).await.unwrap().is_empty());
    bench.clock.advance(Duration::from_hours(369 * 24));
    assert_eq!(latest(&bench).await.len(), 100);
    bench.clock.advance(month);
    assert!(latest(&bench).await.is_empty());
}

/// What a writer of a cluster that is killed leaves: partitions are written in the order given.
struct Killed {
    /// How many partitions of a write are still written; `None` for all.
    left: Arc<Mutex<Option<usize>>>,
    writes: Arc<Mutex<Vec<Vec<&'static str>>>>,
    inner: Arc<dyn Store>,
}

#[async_trait]
impl StoreLayer for Killed {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn write(&self, ops: Vec<Op>) -> Result<(), PortError> {
        let names = ops.iter().map(|op| op.key().table.name).collect();
        self.writes.lock().await.push(names);
        let Some(left) = *self.left.lock().await else { return self.inner.write(ops).await };
        let parts = trapline_store::by_partition(ops)?.into_iter().take(left);
        self.inner.write(parts.flatten().collect()).await?;
        Err(PortError::Timeout)
    }
}

async fn killed(
    left: Arc<Mutex<Option<usize>>>,
    writes: Arc<Mutex<Vec<Vec<&'static str>>>>,
) -> Bench {
    Bench::with(|ports| {
        let inner = ports.store.clone();
        ports.store = Arc::new(LayeredStore(Killed { left, writes, inner }));
    })
    .await
}

#[tokio::test]
async fn no_change_is_there_without_its_entry_wherever_the_writer_was_killed() {
    let (left, writes) = (Arc::new(Mutex::new(None)), Arc::default());
    let bench = killed(left.clone(), writes).await;
    let mut complete = false;
    for parts in 0..8 {
        let (name, before) = (format!("Inbox {parts}"), latest(&bench).await.len());
        *left.lock().await = Some(parts);
        let made = bench.app.inboxes().create(&bench.by, NewInbox::named(&name)).await;
        *left.lock().await = None;
        assert!(made.is_err());
        let list = bench.app.inboxes().list(&bench.by, &InboxQuery::default()).await.unwrap();
        let there = list.inboxes.iter().any(|inbox| inbox.name == name);
        let told = latest(&bench).await.len() > before;
        assert!(told || !there, "{parts}");
        complete |= there;
    }
    assert!(complete, "all parts of one were written");
}

/// What audit costs: one row in the write of the change, and no write of its own.
#[tokio::test]
async fn an_entry_is_one_row_in_the_write_of_its_change() {
    let writes = Arc::new(Mutex::new(Vec::new()));
    let bench = killed(Arc::default(), writes.clone()).await;
    writes.lock().await.clear();
    let hour = Some(Duration::from_hours(1));
    let inbox = bench.inbox(10, hour).await;
    bench.deliver(&inbox, "one").await;
    bench.app.inboxes().delete(&bench.by, inbox.id).await.unwrap();
    let writes = writes.lock().await;
    let told: Vec<_> = writes.iter().filter(|write| write.contains(&"audit_by_day")).collect();
    let wanted: [&[&str]; 2] = [
        &["audit_by_day", "inbox_by_team", "login", "maintenance_task", "inbox_by_id"],
        &["audit_by_day", "inbox_by_id", "login", "inbox_by_team"],
    ];
    assert_eq!(told, wanted, "{writes:?}");
}

#[tokio::test]
async fn a_change_that_is_refused_has_no_entry() {
    struct Refusing(Arc<dyn Store>);
    #[async_trait]
    impl StoreLayer for Refusing {
        fn inner(&self) -> &dyn Store {
            &*self.0
        }

        async fn write(&self, ops: Vec<Op>) -> Result<(), PortError> {
            let refused = |op: &Op| op.key().table == records::Webhook::TABLE;
            if !ops.iter().any(refused) {
                return self.0.write(ops).await;
            }
            // As a cluster does it: what comes before the refused partition is there.
            self.0.write(ops.into_iter().filter(|op| !refused(op)).collect()).await?;
            Err(PortError::Conflict)
        }
    }
    let layer = |ports: &mut Ports| {
        ports.store = Arc::new(LayeredStore(Refusing(ports.store.clone())));
    };
    let bench = Bench::with(layer).await;
    let before = actions(&bench).await;
    let refused = bench.app.webhooks().create(&bench.by, hook()).await;
    assert!(matches!(refused, Err(Error::Conflict)), "{refused:?}");
    assert_eq!(actions(&bench).await, before);
}

/// Counts scans.
struct Counted(Arc<dyn Store>, Arc<AtomicUsize>);

#[async_trait]
impl StoreLayer for Counted {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>, PortError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.inner().scan(scan).await
    }
}

#[tokio::test]
async fn the_log_of_a_team_that_changes_little_takes_a_bounded_number_of_reads() {
    let scans = Arc::<AtomicUsize>::default();
    let count = scans.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(Counted(ports.store.clone(), count)));
    })
    .await;
    for number in 0..230 {
        bench.clock.advance(Duration::from_hours(24));
        bench.app.inboxes().create_project(&bench.by, format!("Day {number}")).await.unwrap();
    }
    scans.store(0, Ordering::SeqCst);
    let told = latest(&bench).await;
    assert_eq!((told.len(), told[0].target.name.as_str()), (200, "Day 229"));
    assert_eq!(told[199].target.name, "Day 30");
    let scans = scans.load(Ordering::SeqCst);
    assert!(scans <= 1 + 200 + 16 + 15, "the days, theirs, some at once, earlier months: {scans}");
}

#[tokio::test]
async fn entries_of_an_earlier_release_are_listed_in_their_place() {
    let bench = Bench::new().await;
    bench.app.inboxes().create_project(&bench.by, "Before".to_owned()).await.unwrap();
    let before = latest(&bench).await.remove(0);
    // The earlier release had the same rows by the month.
    let month = records::AuditRecord::months(bench.team, bench.clock.now(), 1).next().unwrap();
    let record = records::AuditRecord { team: bench.team, entry: before.clone() };
    let Op::Put { doc, ttl, when, .. } = Op::put(&record, None, When::Always).unwrap() else {
        panic!("a put")
    };
    let sort = vec![Value::Uuid(before.id.0)];
    let key = Key { table: month.table, partition: month.partition, sort };
    let delete = Op::Delete { key: record.key(), when: When::Always };
    bench.ports.store.write(vec![Op::Put { key, doc, ttl, when }, delete]).await.unwrap();
    bench.clock.advance(Duration::from_secs(1));
    bench.app.inboxes().create_project(&bench.by, "After".to_owned()).await.unwrap();
    let told = latest(&bench).await;
    let names: Vec<_> = told.iter().map(|entry| entry.target.name.as_str()).collect();
    assert_eq!(names[..2], ["After", "Before"]);
    // What the operator reads begins with the entries by the day.
    let names: Vec<_> = kept(&bench).await.into_iter().map(|entry| entry.target.name).collect();
    assert_eq!((names[0].as_str(), names.last().unwrap().as_str()), ("After", "Before"));
}

/// All that the operator reads of the team's log, page by page.
async fn kept(bench: &Bench) -> Vec<AuditEntry> {
    let mut log = bench.app.audit().kept(bench.team).await.unwrap();
    let mut all = Vec::new();
    while let Some(page) = log.next_page().await.unwrap() {
        assert!(page.len() <= 500, "{}", page.len());
        all.extend(page);
    }
    all
}

#[tokio::test]
async fn the_operator_reads_the_whole_log_newest_first() {
    let bench = Bench::new().await;
    let old = kept(&bench).await;
    let project = async |number: usize| {
        bench.app.inboxes().create_project(&bench.by, number.to_string()).await.unwrap();
    };
    // A day that takes several pages, and one beside it.
    for number in 0..1001 {
        project(number).await;
    }
    bench.clock.advance(Duration::from_hours(24));
    project(1001).await;
    let all = kept(&bench).await;
    let names: Vec<_> = all.iter().map(|entry| entry.target.name.clone()).collect();
    let wanted: Vec<_> = (0..=1001).rev().map(|number| number.to_string()).collect();
    assert_eq!(names[..1002], wanted);
    assert_eq!(all[1002..], old);
}
