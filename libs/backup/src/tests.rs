//! Archives of real stores, and what is refused of others.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{fs, path::Path, time::Duration};

use bytes::Bytes;
use serde_json::json;
use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_model::{Envelope, InboxId, MessageId, TeamId, Time};
use trapline_store::{
    BlobRef, Clock, Group, Job, JobDelivery, Lane, Op, Ports, Record as _, Value, When,
    records::{Inbox, MaintenanceTask, Message, Outbox, Progress, TABLES, TaskKind, WorkLease},
    segment::{self, Builder, Class},
};
use uuid::{NoContext, Timestamp, Uuid};

use crate::{
    Archive, ArchiveHead, Backup, BackupError, FORMAT, FileSink, FileSource, Manifest, Part,
    Restore, file_name, is_file_name,
};

fn now() -> Time {
    Time::from_millis(1_800_000_000_000)
}
const HOUR: Duration = Duration::from_hours(1);

struct Site {
    embedded: Embedded,
    ports: Ports,
    clock: Clock,
    _folder: TempDir,
}

async fn site(clock: Clock) -> Site {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
    let embedded = Embedded::open(options).await.unwrap();
    let ports = embedded.ports();
    ports.store.prepare(&TABLES).await.unwrap();
    Site { embedded, ports, clock, _folder: folder }
}

fn inbox(id: InboxId, expires_at: Option<Time>) -> Inbox {
    Inbox {
        id,
        team: TeamId(Uuid::max()),
        name: "Signup".to_owned(),
        project: None,
        max_messages: 10,
        expires_at,
        created_at: now(),
        username: id.to_string(),
        password: "sealed".to_owned(),
    }
}

fn fresh() -> Uuid {
    let seconds = u64::try_from(now().millis() / 1000).unwrap();
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, 0))
}

fn message(blob: &BlobRef) -> Message {
    serde_json::from_value(json!({
        "blob": blob, "subject": "line\nbreak \"and\" quotes", "envelope": Envelope::default()
    }))
    .unwrap()
}

/// An inbox of version 2 with a message, another inbox that ends in an hour, and a message whose inbox is
/// not there.
async fn filled(site: &Site) -> (MessageId, String, Bytes) {
    let (store, ids) = (&site.ports.store, [(); 3].map(|()| InboxId(fresh())));
    let create = |inbox: &Inbox, ttl, when| Op::put(inbox, ttl, when).unwrap();
    store.write(vec![create(&inbox(ids[0], None), None, When::Absent)]).await.unwrap();
    store.write(vec![create(&inbox(ids[0], None), None, When::Version(1))]).await.unwrap();
    let short = inbox(ids[1], Some(now().after(HOUR)));
    store.write(vec![create(&short, Some(HOUR), When::Absent)]).await.unwrap();
    let id = |inbox| MessageId { inbox, uuid: fresh() };
    let (kept, orphan) = (id(ids[0]), id(ids[2]));
    let name = segment::name(Class::Keep, fresh());
    let mut builder = Builder::new();
    let placed = builder.add(&[kept, orphan], b"Subject: x\r\n\r\nhello\r\n").within(&name);
    let bytes = builder.finish();
    let doc = message(&placed).doc("line break").unwrap();
    let row =
        |id| Op::Put { key: Message::row(id), doc: doc.clone(), ttl: None, when: When::Always };
    let rows = vec![row(kept), row(orphan)];
    let (segment, bytes_again) = (name.clone(), bytes.clone());
    let group = Group { segment, bytes: bytes_again, before: Vec::new(), rows, job: None };
    site.ports.intake.commit(group).await.unwrap();
    (kept, name, bytes)
}

fn job(id: &str) -> Job {
    Job { id: id.to_owned(), lane: Lane::Mail, attempt: 1, body: json!({ "mail": id }) }
}

fn head() -> ArchiveHead {
    ArchiveHead {
        format: FORMAT,
        version: "0.1.0".to_owned(),
        mode: "one process".to_owned(),
        started: now(),
        key_id: "01020304".to_owned(),
        has_key: true,
    }
}

async fn back_up(site: &Site, to: &Path, is_shared: bool) -> Result<Manifest, BackupError> {
    let sink = Box::new(FileSink::create(to).map_err(BackupError::Write)?);
    let backup = Backup {
        store: &*site.ports.store,
        blobs: &*site.ports.blobs,
        clock: &site.clock,
        is_shared,
    };
    backup.write(&head(), &[("secret.key", "key\n".to_owned())], sink).await
}

async fn open(path: &Path) -> Result<Archive, BackupError> {
    Archive::open(Box::new(FileSource::open(path).map_err(BackupError::Read)?)).await
}

async fn verify(path: &Path) -> Result<Manifest, BackupError> {
    open(path).await?.verify().await
}

async fn restore(site: &Site, from: &Path) -> Result<Manifest, BackupError> {
    let restore = Restore { ports: &site.ports, clock: &site.clock };
    restore.check_empty().await?;
    let manifest = restore.run(&mut open(from).await?).await?;
    restore.finish().await?;
    Ok(manifest)
}

#[tokio::test]
async fn what_was_backed_up_is_restored() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    let (id, segment, bytes) = filled(&from).await;
    // Tasks about one segment that are due at two times, and jobs: one that waits and one that is late.
    for minutes in [1, 2] {
        let due = now().after(Duration::from_mins(minutes));
        let task = TaskKind::CheckSegment { visits: 7, aliases: Vec::new() };
        let task = MaintenanceTask::new(due, segment.clone(), task);
        from.ports.store.write(vec![task.planned().unwrap()]).await.unwrap();
    }
    from.ports.queue.publish(&job("late"), None).await.unwrap();
    from.ports.queue.publish(&job("waits"), Some(now().after(48 * HOUR))).await.unwrap();
    let passed = trapline_store::records::Position::behind(now());
    let progress = Progress { name: "jobs:1".to_owned(), position: passed };
    let put = Op::put(&progress, None, When::Always).unwrap();
    from.ports.store.write(vec![put]).await.unwrap();
    from.embedded.put_jobs_into_outbox().await.unwrap();
    let file = folder.path().join(file_name(now()));
    let written = back_up(&from, &file, false).await.unwrap();
    assert_eq!((written.rows["message"], written.segments, written.missing), (2, 1, 0));
    assert!(!written.rows.contains_key("progress"));
    assert_eq!(verify(&file).await.unwrap(), written);
    // Two hours later the disposable inbox is past its time.
    let to = site(Clock::manual(now().after(2 * HOUR))).await;
    assert_eq!(restore(&to, &file).await.unwrap(), written);
    let store = &to.ports.store;
    let row = store.get(&Message::row(id)).await.unwrap().unwrap();
    assert_eq!(row.doc, from.ports.store.get(&Message::row(id)).await.unwrap().unwrap().doc);
    assert_eq!(to.ports.blobs.segment(&segment).await.unwrap().unwrap(), bytes);
    assert_eq!(store.get(&Inbox::row(id.inbox)).await.unwrap().unwrap().version, 2);
    let messages = store.partitions(Message::TABLE).await.unwrap();
    assert_eq!(messages, [vec![Value::Uuid(id.inbox.0)]], "whose inbox is gone is gone");
    assert_eq!(store.partitions(Inbox::TABLE).await.unwrap().len(), 1);
    assert_eq!(store.get(&WorkLease::row(WorkLease::RESTORE)).await.unwrap(), None);
    let leases = to.ports.queue.take(Lane::Mail, 9, Duration::ZERO).await.unwrap();
    assert_eq!(leases.iter().map(|lease| lease.job.clone()).collect::<Vec<_>>(), [job("late")]);
    assert_eq!(to.ports.queue.stats(Lane::Mail).await.unwrap().delayed, 1);
    let tasks = store.walk(MaintenanceTask::TABLE, None, 9).await.unwrap().rows;
    let soon = to.clock.now().after(Duration::from_mins(10));
    let dues = tasks.iter().map(|task| MaintenanceTask::of(&task.row).unwrap().due);
    assert_eq!(dues.filter(|due| (to.clock.now()..=soon).contains(due)).count(), 2);
}

/// In a cluster jobs go through the outbox, where the janitor finds those that are late.
#[tokio::test]
async fn jobs_are_restored_into_an_outbox() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    let row = Outbox { due: now().before(HOUR), job: job("late") };
    from.ports.store.write(vec![row.put().unwrap()]).await.unwrap();
    let file = folder.path().join("a.tar");
    back_up(&from, &file, true).await.unwrap();
    let mut to = site(Clock::manual(now().after(HOUR))).await;
    to.ports.job_delivery = JobDelivery::ThroughOutbox;
    restore(&to, &file).await.unwrap();
    let rows = to.ports.store.walk(Outbox::TABLE, None, 9).await.unwrap().rows;
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(Outbox::of(&row.row).unwrap(), Outbox { due: now().after(HOUR), job: job("late") });
}

#[tokio::test]
async fn only_an_empty_installation_is_restored_into() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    filled(&from).await;
    let file = folder.path().join("a.tar");
    back_up(&from, &file, false).await.unwrap();
    let refused = restore(&from, &file).await.unwrap_err();
    assert!(matches!(refused, BackupError::NotEmpty("inbox_by_id")), "{refused}");
    // One that was cut off is not empty either, and says so in the lease.
    let to = site(Clock::manual(now())).await;
    let cut = Restore { ports: &to.ports, clock: &to.clock };
    cut.run(&mut open(&file).await.unwrap()).await.unwrap();
    assert!(to.ports.store.get(&WorkLease::row(WorkLease::RESTORE)).await.unwrap().is_some());
    assert!(matches!(restore(&to, &file).await, Err(BackupError::NotEmpty(_))));
}

/// One backup of a cluster at a time; the lease of one that was killed ends by itself.
#[tokio::test]
async fn a_shared_store_has_one_backup_at_a_time() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    filled(&from).await;
    let lease = WorkLease { name: WorkLease::BACKUP.to_owned(), holder: "killed".to_owned() };
    let put = Op::put(&lease, Some(Duration::from_mins(2)), When::Absent).unwrap();
    from.ports.store.write(vec![put]).await.unwrap();
    let file = folder.path().join("a.tar");
    let refused = back_up(&from, &file, true).await.unwrap_err();
    assert!(matches!(refused, BackupError::Busy), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of it");
    from.clock.advance(Duration::from_mins(3));
    back_up(&from, &file, true).await.unwrap();
    let lease = WorkLease::row(WorkLease::BACKUP);
    assert_eq!(from.ports.store.get(&lease).await.unwrap(), None);
}

/// A segment that was lost before the backup is no reason to lose the others.
#[tokio::test]
async fn what_was_lost_before_is_counted() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    let (_, lost, _) = filled(&from).await;
    filled(&from).await;
    from.ports.blobs.remove(&lost).await.unwrap();
    let file = folder.path().join("a.tar");
    let written = back_up(&from, &file, false).await.unwrap();
    assert_eq!((written.segments, written.missing), (1, 1));
    assert_eq!(verify(&file).await.unwrap(), written);
}

#[tokio::test]
async fn damage_is_found_with_its_place() {
    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    filled(&from).await;
    let file = folder.path().join("a.tar");
    let written = back_up(&from, &file, false).await.unwrap();
    let whole = fs::read(&file).unwrap();
    let spoilt = folder.path().join("spoilt.tar");
    for at in (0..written.bytes).step_by(61) {
        let mut bytes = whole.clone();
        bytes[usize::try_from(at).unwrap()] ^= 0x20;
        fs::write(&spoilt, &bytes).unwrap();
        let found = verify(&spoilt).await;
        let is_refused = matches!(
            &found,
            Err(BackupError::Damaged { .. } | BackupError::CutOff { .. } | BackupError::Foreign)
        );
        assert!(
            is_refused || matches!(found, Err(BackupError::UnknownTable { .. })),
            "{at}: {found:?}"
        );
    }
    for length in (1..whole.len()).step_by(509) {
        fs::write(&spoilt, &whole[..length]).unwrap();
        let found = verify(&spoilt).await;
        let end_is_missing = length as u64 > written.bytes;
        let is_refused = matches!(found, Err(BackupError::CutOff { .. }));
        assert!(is_refused || end_is_missing, "{length}: {found:?}");
    }
    let place = |needle: &[u8]| whole.windows(needle.len()).position(|it| it == needle).unwrap();
    for (needle, wanted) in [
        (&b"hello"[..], "a message has another checksum, in segments/keep/"),
        (b"line break", "the rows have another checksum, in rows/message/000001.jsonl"),
    ] {
        let mut bytes = whole.clone();
        bytes[place(needle)] ^= 1;
        fs::write(&spoilt, &bytes).unwrap();
        let told = verify(&spoilt).await.unwrap_err().to_string();
        assert!(told.contains(wanted), "{told}");
    }
}

#[tokio::test]
async fn other_files_and_later_releases_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.tar");
    for (text, wanted) in [
        ("PK\u{3}\u{4} not a tar file at all".repeat(40), "this is not an archive"),
        (String::new(), "cut off"),
        ("\0".repeat(1024), "this is not an archive"),
    ] {
        fs::write(&file, text).unwrap();
        let told = verify(&file).await.unwrap_err().to_string();
        assert!(told.contains(wanted), "{told}");
    }
    let header = |name: &str, text: &str| {
        let mut bytes = crate::tar::header(name, text.len() as u64, 0).to_vec();
        bytes.extend(text.as_bytes());
        bytes.extend(vec![0; crate::tar::padding(text.len() as u64)]);
        bytes
    };
    fs::write(&file, header("archive.json", "{\"format\":9,\"version\":\"4.0.0\"}")).unwrap();
    let told = verify(&file).await.unwrap_err().to_string();
    assert!(told.contains("format 9 of Trapline 4.0.0, and this release reads formats up to 1"));
    let mut bytes = header("archive.json", &serde_json::to_string(&head()).unwrap());
    bytes.extend(header("rows/letters/000001.jsonl", "\n"));
    fs::write(&file, bytes).unwrap();
    let told = verify(&file).await.unwrap_err().to_string();
    assert!(told.contains("rows of the table letters, which this release does not know"), "{told}");
}

#[tokio::test]
async fn an_archive_is_private_and_there_only_when_it_is_whole() {
    use std::os::unix::fs::MetadataExt as _;

    let (from, folder) = (site(Clock::manual(now())).await, tempfile::tempdir().unwrap());
    let file = folder.path().join("sub").join(file_name(now()));
    assert!(is_file_name("trapline-20270115T080000.000Z.tar"));
    assert_eq!(file.file_name().unwrap(), "trapline-20270115T080000.000Z.tar");
    drop(FileSink::create(&file).unwrap());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 0);
    back_up(&from, &file, false).await.unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let again = back_up(&from, &file, false).await.unwrap_err();
    assert!(matches!(again, BackupError::Write(_)), "an archive is never written over");
    let mut archive = open(&file).await.unwrap();
    let Some(Part::Key { name, text }) = archive.next().await.unwrap() else { panic!("no key") };
    assert_eq!((name.as_str(), text.as_str()), ("secret.key", "key\n"));
}
