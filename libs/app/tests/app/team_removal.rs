//! The end of a team: refused at once, and removed from every table, however often a step is cut off.

use std::{
    collections::HashSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use trapline_app::{
    App, Error, Forbidden, NewInbox, NewKey, NewSession, NewWebhook, SignUp, SignedUp, Visitor,
};
use trapline_model::{Access, Inbox, MessageId, Principal, Role, TeamId, Time};
use trapline_store::{
    Job, Key, Kind, Lane, Op, PortError, Result, RowOwner, Scan, Store, Table, Value, When, Writes,
    by_partition, load,
    records::{self, InboxEntry, Login, Message, SegmentAlias, TABLES},
};
use uuid::{Builder, Uuid};

use crate::{
    doubles::{LayeredStore, StoreLayer},
    support::Bench,
};

/// The write after so many writes it does in part, and does not answer.
struct CutOff {
    store: Arc<dyn Store>,
    left: Arc<AtomicUsize>,
}

#[async_trait]
impl StoreLayer for CutOff {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        if left != 1 {
            return self.store.write(ops).await;
        }
        if let Some(first) = by_partition(ops)?.into_iter().next() {
            self.store.write(first).await?;
        }
        Err(PortError::Timeout)
    }
}

async fn bench() -> (Bench, Arc<AtomicUsize>) {
    let left = Arc::<AtomicUsize>::default();
    let cut = left.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(CutOff { store: ports.store.clone(), left: cut }));
    });
    (bench.await, left)
}

async fn signed_up(app: &App, email: &str) -> NewSession {
    let (email, password) = (email.to_owned(), "correct horse".to_owned());
    let wish = SignUp { email, name: "Ada".to_owned(), password };
    match app.people().sign_up(&wish, &Visitor::default()).await.unwrap() {
        SignedUp::Now(session) => session,
        SignedUp::MailSent => panic!("no mail can be sent"),
    }
}

async fn inbox(bench: &Bench, by: &Principal, name: &str) -> Inbox {
    bench.app.inboxes().create(by, NewInbox::named(name)).await.unwrap()
}

/// The job that was stored, by now.
async fn job(bench: &Bench) -> Job {
    bench.clock.advance(Duration::from_secs(11));
    bench.app.jobs().take(Lane::Housekeeping, 1, Duration::ZERO).await.unwrap().remove(0).job
}

/// An id of its own.
fn id(number: u64) -> Uuid {
    Builder::from_unix_timestamp_millis(1_700_000_000_000 + number, &[7; 10]).into_uuid()
}

fn value(kind: Kind) -> Value {
    match kind {
        Kind::Uuid => Value::Uuid(id(1)),
        Kind::Text => Value::Text("text".to_owned()),
        Kind::Int => Value::Int(1),
    }
}

/// A row of a table, which nobody can read.
fn row_of(table: &'static Table, partition: Vec<Value>) -> Op {
    let sort = table.sort.iter().map(|column| value(column.kind)).collect();
    let when = match table.writes {
        Writes::Plain => When::Always,
        Writes::Guarded => When::Absent,
    };
    Op::Put { key: Key { table, partition, sort }, doc: "{}".to_owned(), ttl: None, when }
}

/// Writes a row of the team into each table of teams, and one of the message into each of messages.
async fn fill_every_table(bench: &Bench, team: TeamId, message: MessageId) {
    for table in TABLES {
        let partition = match (table.owner, table.name) {
            // The parts of these are by the month, and by the inbox.
            (RowOwner::Team, "usage") => vec![Value::Uuid(team.0), Value::Int(202_701)],
            // These have real ones, or stay.
            (RowOwner::Team, "inbox_by_team" | "sso" | "audit" | "audit_by_day" | "audit_days") => {
                continue;
            }
            (RowOwner::Team, _) => vec![Value::Uuid(team.0)],
            (RowOwner::Message, _) => vec![Value::Uuid(message.inbox.0), Value::Uuid(message.uuid)],
            _ => continue,
        };
        bench.ports.store.write(vec![row_of(table, partition)]).await.unwrap();
    }
}

/// The tables that have rows whose keys or documents name one of these ids.
async fn tables_with(bench: &Bench, ids: &[Uuid], words: &[String]) -> HashSet<&'static str> {
    let mut found = HashSet::new();
    for table in TABLES {
        for partition in bench.ports.store.partitions(table).await.unwrap() {
            let (after, until) = (None, None);
            let named = partition.clone();
            let scan = Scan { table, partition, after, until, limit: 10_000, keys_only: false };
            let rows = bench.ports.store.scan(scan).await.unwrap();
            let is_named = rows.iter().any(|row| {
                let mut keys = named.iter().chain(&row.sort);
                keys.any(|key| matches!(key, Value::Uuid(id) if ids.contains(id)))
                    || words.iter().any(|word| row.doc.contains(word))
            });
            found.extend(is_named.then_some(table.name));
        }
    }
    found
}

#[tokio::test]
async fn nothing_of_a_team_is_left_however_often_its_removal_is_cut_off() {
    let (bench, left) = bench().await;
    let app = &bench.app;
    let session = signed_up(app, "ada@example.com").await;
    let by = session.signed_in.principal().unwrap();
    let team = by.team;
    let new =
        NewKey { name: "CI".to_owned(), access: Access::Write, expires_at: None, value: None };
    let (_, key) = app.access().make_key(&by, new).await.unwrap();
    let (full, empty) = (inbox(&bench, &by, "full").await, inbox(&bench, &by, "empty").await);
    let message = bench.deliver(&full, "secret").await;
    app.messages().set_read(&by, message, true).await.unwrap();
    app.inboxes().create_project(&by, "Project".to_owned()).await.unwrap();
    app.teams().invite(&by, "eve@example.com", Role::Member).await.unwrap();
    let hook = NewWebhook {
        url: "https://hooks.example/".to_owned(),
        inbox: None,
        events: Vec::new(),
        enabled: true,
    };
    let hook = app.webhooks().create(&by, hook).await.unwrap();
    let sent = records::DeliveryPayload {
        webhook: hook.id,
        id: trapline_model::DeliveryId(message.uuid),
        payload: "secret".to_owned(),
    };
    let bucket = records::Delivery::bucket(Time::of_uuid(message.uuid));
    let bucket = records::DeliveryBucket { webhook: hook.id, bucket };
    for put in [Op::put(&sent, None, When::Always), Op::put(&bucket, None, When::Always)] {
        bench.ports.store.write(vec![put.unwrap()]).await.unwrap();
    }
    let sso = records::Sso {
        team,
        issuer: "https://login.example".to_owned(),
        client_id: "trapline".to_owned(),
        client_secret: "sealed".to_owned(),
        domains: vec!["example.com".to_owned()],
        enforced: false,
        proven_at: None,
        updated_at: bench.clock.now(),
    };
    let domain = "example.com".to_owned();
    let domain = records::SsoDomain { domain, team, verified_at: bench.clock.now() };
    for put in [Op::put(&sso, None, When::Absent), Op::put(&domain, None, When::Absent)] {
        bench.ports.store.write(vec![put.unwrap()]).await.unwrap();
    }
    app.usage().flush().await;
    fill_every_table(&bench, team, message).await;
    let other = inbox(&bench, &bench.by, "other").await;
    bench.deliver(&other, "theirs").await;

    let name = app.teams().get(&by).await.unwrap().name;
    app.teams().delete(&by, &name).await.unwrap();
    let mut next = Some(job(&bench).await);
    let mut steps = 0;
    while let Some(job) = next {
        // First it is cut off at one of its writes, each time at another.
        left.store(1 + steps % 7, Ordering::SeqCst);
        let cut_off = app.maintenance().housekeep(&job).await;
        assert!(matches!(cut_off, Ok(_) | Err(Error::Unavailable)), "{cut_off:?}");
        left.store(0, Ordering::SeqCst);
        next = app.maintenance().housekeep(&job).await.unwrap();
        steps += 1;
    }
    assert!(app.maintenance().housekeep(&job_again(team)).await.unwrap().is_none());
    let ids = [team.0, full.id.0, empty.id.0, hook.id.0];
    let words = ids.map(|id| TeamId(id).to_string());
    let mut words: Vec<_> = words.into_iter().chain([full.smtp.username, key]).collect();
    words.push("eve@example.com".to_owned());
    let found = tables_with(&bench, &ids, &words).await;
    // The audit log stays for the operator; the session is the person's, and is led on when it is used; the
    // janitor looks at the segment of the message, and finds it dead.
    let kept = ["audit_by_day", "audit_days", "session"];
    assert_eq!(found, HashSet::from(kept), "rows are left");
    let entries = app.audit().latest(&by).await.unwrap();
    assert_eq!(entries[0].action, "team.deleted");
    assert_eq!(bench.list(&other).await.messages.len(), 1);
}

/// A job of the removal that comes once more.
fn job_again(team: TeamId) -> Job {
    let work = serde_json::json!({ "remove_team": { "team": team, "is_last": true } });
    let body = serde_json::json!({ "due": "2027-01-01T00:00:00.000Z", "work": work });
    Job { id: "again".to_owned(), lane: Lane::Housekeeping, attempt: 1, body }
}

#[tokio::test]
async fn a_deleted_team_is_there_for_nobody() {
    let (bench, _) = bench().await;
    let app = &bench.app;
    let others = bench.another_process().await;
    let session = signed_up(app, "ada@example.com").await;
    let by = session.signed_in.principal().unwrap();
    let new =
        NewKey { name: "CI".to_owned(), access: Access::Write, expires_at: None, value: None };
    let (_, key) = app.access().make_key(&by, new).await.unwrap();
    let inbox = inbox(&bench, &by, "doomed").await;
    let invited = app.teams().invite(&by, "eve@example.com", Role::Member).await.unwrap();
    let invited = invited.link.unwrap().split_once("?token=").unwrap().1.to_owned();
    let preview = bench.deliver(&inbox, "hello").await;
    let name = app.teams().get(&by).await.unwrap().name;

    let visitor = Visitor::default();
    let is_open = async |app: &App| {
        let access = app.access();
        let route = app.receive().route(&inbox.address).await.unwrap();
        let login = access.login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
        let who = app.people().authenticate(&session.token, &visitor).await.unwrap();
        let found = [
            access.authenticate(&key, None).await.is_ok(),
            who.principal().is_some(),
            route.is_ok_and(|target| target.inbox() == inbox.id),
            login.is_ok(),
            app.people().link(&invited, &visitor).await.is_ok(),
            app.messages().get(&by, preview).await.is_ok(),
            app.access().team_exists(by.team).await.unwrap(),
            app.teams().get(&by).await.is_ok(),
        ];
        assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
        found[0]
    };
    assert!(is_open(app).await && is_open(&others).await);
    let target = app.access().login(&inbox.smtp.username, &inbox.smtp.password).await.unwrap();
    let target = target.unwrap();

    let wrong = app.teams().delete(&by, "ada's team").await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    let admin = Principal { role: Role::Admin, ..by };
    let refused = app.teams().delete(&admin, &name).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnerRequired))), "{refused:?}");
    // The job of a request that was cut off waits, and changes nothing.
    let early = app.maintenance().housekeep(&job_again(by.team)).await;
    assert!(matches!(early, Err(Error::Conflict)), "{early:?}");
    assert!(is_open(app).await);

    app.teams().delete(&by, &name).await.unwrap();
    assert!(!is_open(app).await, "at once in this process");
    // Mail that began before is not taken either.
    assert!(app.access().still_open(&target).await.unwrap().is_err());
    assert!(matches!(app.teams().delete(&by, &name).await, Err(Error::NotFound)));
    // What the other process knew it may rely on for 5 seconds by its own watch.
    let late = bench.another_process().await;
    assert!(!is_open(&late).await);
    let me = app.people().authenticate(&session.token, &visitor).await.unwrap();
    let me = app.people().me(&me).await.unwrap();
    assert!((me.team.is_none(), me.teams.is_empty()) == (true, true), "{me:?}");
}

#[tokio::test]
async fn the_first_team_stays() {
    let bench = Bench::new().await;
    let by = Principal::of_person(bench.team, trapline_model::PersonId(id(1)), Role::Owner);
    let refused = bench.app.teams().delete(&by, "My team").await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::FirstTeam))), "{refused:?}");
}

/// Writes so many inboxes as if they were made; quicker than by requests.
async fn many_inboxes(bench: &Bench, team: TeamId, count: u64) {
    let template = inbox(bench, &Principal::system(team), "many").await;
    let row = records::Inbox::row(template.id);
    let template = load::<records::Inbox>(&*bench.ports.store, &row).await;
    let (template, _) = template.unwrap().unwrap();
    let mut ops = Vec::new();
    for number in 1..count {
        let id = trapline_model::InboxId(id(number));
        let inbox = records::Inbox { id, username: format!("many{number}"), ..template.clone() };
        ops.push(Op::put(&InboxEntry::written(&inbox, 1), None, When::Always).unwrap());
        ops.push(Op::put(&Login::of(&inbox), None, When::Always).unwrap());
        ops.push(Op::put(&inbox, None, When::Absent).unwrap());
        if ops.len() >= 3_000 {
            bench.ports.store.write(std::mem::take(&mut ops)).await.unwrap();
        }
    }
    bench.ports.store.write(ops).await.unwrap();
}

async fn owner_of_many(bench: &Bench, count: u64) -> Principal {
    let session = signed_up(&bench.app, "ada@example.com").await;
    let by = session.signed_in.principal().unwrap();
    many_inboxes(bench, by.team, count).await;
    let name = bench.app.teams().get(&by).await.unwrap().name;
    bench.app.teams().delete(&by, &name).await.unwrap();
    by
}

async fn listed(bench: &Bench, team: TeamId) -> usize {
    let mut count = 0;
    for scan in InboxEntry::of_team(team) {
        count += bench.ports.store.scan(Scan { keys_only: true, ..scan }).await.unwrap().len();
    }
    count
}

#[tokio::test]
async fn a_step_of_a_removal_is_short() {
    let (bench, _) = bench().await;
    let by = owner_of_many(&bench, 250).await;
    let mut next = Some(job(&bench).await);
    let (mut before, mut steps) = (listed(&bench, by.team).await, 0);
    assert_eq!(before, 250);
    while let Some(job) = next {
        next = bench.app.maintenance().housekeep(&job).await.unwrap();
        let after = listed(&bench, by.team).await;
        assert!(before - after <= 100, "{} inboxes in a step", before - after);
        (before, steps) = (after, steps + 1);
    }
    assert_eq!(before, 0);
    assert!(steps >= 4, "{steps}");
}

/// The segment that a message is in.
async fn segment_of(bench: &Bench, id: MessageId) -> String {
    let row = bench.ports.store.get(&Message::row(id)).await.unwrap().unwrap();
    Message::of(&row).unwrap().blob.segment
}

/// Whoever they are beside: most of a segment may be other teams'.
#[tokio::test]
async fn the_bytes_of_a_deleted_team_are_gone_within_a_day() {
    let (bench, _) = bench().await;
    let app = &bench.app;
    let by = signed_up(app, "ada@example.com").await.signed_in.principal().unwrap();
    let (doomed, kept) = (inbox(&bench, &by, "doomed").await, bench.inbox(100, None).await);
    let large = format!("Subject: kept\r\n\r\n{}\r\n", "others".repeat(10_000)).into_bytes();
    // Mails that come at the same time share a segment.
    let mails = join_all((0..8).map(|_| async {
        let (ours, others) = (
            bench.deliver(&doomed, "doomed"),
            bench.deliver_raw(&kept, "b@example.com", large.clone()),
        );
        tokio::join!(ours, others)
    }));
    let (ours, others): (Vec<_>, Vec<_>) = mails.await.into_iter().unzip();
    let (mut of_ours, mut of_others) = (HashSet::new(), HashSet::new());
    for (ours, others) in ours.into_iter().zip(&others) {
        of_ours.insert(segment_of(&bench, ours).await);
        of_others.insert(segment_of(&bench, *others).await);
    }
    assert!(of_ours.intersection(&of_others).count() > 0, "{of_ours:?} {of_others:?}");
    let name = app.teams().get(&by).await.unwrap().name;
    app.teams().delete(&by, &name).await.unwrap();
    let mut next = Some(job(&bench).await);
    while let Some(job) = next {
        next = app.maintenance().housekeep(&job).await.unwrap();
    }
    for _ in 0..24 {
        bench.clock.advance(Duration::from_hours(1));
        app.maintenance().run_due().await.unwrap();
    }
    for segment in of_ours {
        assert_eq!(bench.ports.blobs.segment(&segment).await.unwrap(), None, "{segment}");
    }
    for id in others {
        assert_eq!(app.messages().get(&bench.by, id).await.unwrap().subject, "kept");
        // Where they were moved to, if they were.
        let alias = SegmentAlias::row(&segment_of(&bench, id).await);
        let alias = load::<SegmentAlias>(&*bench.ports.store, &alias).await.unwrap();
        let Some(moved) = alias.and_then(|(alias, _)| alias.moved.into_iter().next()) else {
            continue;
        };
        let bytes = bench.ports.blobs.segment(&moved.to.segment).await.unwrap().unwrap();
        let holds = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        assert!(holds(b"others") && !holds(b"doomed"));
    }
}

/// Memory of this process, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Takes a minute or two, and measures the whole process; so it runs alone.
#[tokio::test]
#[ignore = "100,000 inboxes: `cargo test -p trapline-app --test app -- --ignored --test-threads 1 hundred_thousand`"]
async fn the_removal_of_a_hundred_thousand_inboxes_takes_little_memory() {
    let (bench, _) = bench().await;
    let by = owner_of_many(&bench, 100_000).await;
    let mut next = Some(job(&bench).await);
    let (before, mut most, mut steps) = (memory(), 0, 0);
    while let Some(job) = next {
        next = bench.app.maintenance().housekeep(&job).await.unwrap();
        (most, steps) = (most.max(memory()), steps + 1);
    }
    assert_eq!(listed(&bench, by.team).await, 0);
    let grown = most.saturating_sub(before);
    assert!(grown <= 64 << 20, "{grown} bytes more in {steps} steps");
}
