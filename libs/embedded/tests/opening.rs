//! Opening, closing, and cleaning a folder.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{fs, path::Path, time::Duration};

use tempfile::TempDir;
use trapline_embedded::{Durability, Embedded, OpenError, Options};
use trapline_model::Time;
use trapline_store::{
    Clock, Column, Group, Job, Key, Kind, Lane, Op, Order, PortError, Scan, Storage, Table, Value,
    When, Writes,
};

static NOTES: Table = Table {
    name: "order",
    partition: &[Column { name: "group", kind: Kind::Int }],
    sort: &[Column { name: "select", kind: Kind::Int }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

async fn open(folder: &Path) -> Embedded {
    let embedded = Embedded::open(Options::new(folder)).await.unwrap();
    embedded.ports().store.prepare(&[&NOTES]).await.unwrap();
    embedded
}

fn put(number: i64, doc: &str, ttl: Option<Duration>) -> Op {
    let key = Key { table: &NOTES, partition: vec![Value::Int(1)], sort: vec![Value::Int(number)] };
    Op::Put { key, doc: doc.to_owned(), ttl, when: When::Always }
}

async fn rows(embedded: &Embedded) -> usize {
    let scan = Scan {
        table: &NOTES,
        partition: vec![Value::Int(1)],
        after: None,
        until: None,
        limit: 100_000,
        keys_only: true,
    };
    embedded.ports().store.scan(scan).await.unwrap().len()
}

/// The error's text, which an operator reads.
async fn refusal(folder: &Path) -> (OpenError, String) {
    let error = Embedded::open(Options::new(folder)).await.err().unwrap();
    let text = error.to_string();
    (error, text)
}

#[tokio::test]
async fn data_is_there_after_closing_and_opening() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("a/b");
    let embedded = open(&data).await;
    embedded.ports().store.write(vec![put(1, "{}", None)]).await.unwrap();
    let job = Job { id: "a".into(), lane: Lane::Mail, attempt: 1, body: 1.into() };
    embedded.ports().queue.publish(&job, None).await.unwrap();
    embedded.close().await;
    let embedded = open(&data).await;
    assert_eq!(rows(&embedded).await, 1);
    let leases = embedded.ports().queue.take(Lane::Mail, 9, Duration::from_secs(9)).await.unwrap();
    assert_eq!(leases[0].job, job);
}

#[tokio::test]
async fn a_job_of_a_process_that_is_gone_is_due_at_once_twice() {
    let folder = TempDir::new().unwrap();
    let job = Job { id: "a".into(), lane: Lane::Mail, attempt: 1, body: 1.into() };
    let mut found = Vec::new();
    for start in 0..4 {
        let embedded = open(folder.path()).await;
        embedded.release_leases().await.unwrap();
        let queue = embedded.ports().queue;
        if start == 0 {
            queue.publish(&job, None).await.unwrap();
        }
        found.push(queue.take(Lane::Mail, 9, Duration::from_millis(50)).await.unwrap().len());
        embedded.close().await;
    }
    assert_eq!(found, [1, 1, 1, 0], "the one that may have ended the process waits for its lease");
}

#[tokio::test]
async fn closing_commits_what_waits_and_refuses_what_comes() {
    let folder = TempDir::new().unwrap();
    let embedded = open(folder.path()).await;
    let ports = embedded.ports();
    let writes: Vec<_> = (0..200)
        .map(|number| {
            let store = ports.store.clone();
            tokio::spawn(async move { store.write(vec![put(number, "{}", None)]).await })
        })
        .collect();
    tokio::task::yield_now().await;
    embedded.close().await;
    let mut kept = 0;
    for write in writes {
        kept += usize::from(write.await.unwrap().is_ok());
    }
    let late = ports.store.write(vec![put(999, "{}", None)]).await;
    assert!(matches!(late, Err(PortError::Unavailable(_))), "{late:?}");
    assert!(ports.store.ping().await.is_err());
    assert!(!folder.path().join("trapline.db-wal").metadata().is_ok_and(|wal| wal.len() > 0));
    assert_eq!(rows(&open(folder.path()).await).await, kept);
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_reads_the_database_in_a_folder_that_was_there() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let files = ["trapline.db", "trapline.db-wal", "trapline.db-shm"];
    for of in ["a new folder", "an earlier release"] {
        let embedded = open(folder.path()).await;
        for file in files {
            let path = folder.path().join(file);
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{of} {file}");
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        embedded.close().await;
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let mut refused = vec![file.join("data"), file];
    if cfg!(target_os = "linux") {
        // Not even a superuser can write there.
        refused.extend(["/proc/self".into(), "/proc/trapline".into()]);
    }
    for path in refused {
        let (error, text) = refusal(&path).await;
        assert!(matches!(error, OpenError::Folder { .. }), "{error:?}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let folder = TempDir::new().unwrap();
    open(folder.path()).await.close().await;
    let file = folder.path().join("trapline.db");
    let other = rusqlite::Connection::open(&file).unwrap();
    other.pragma_update(None, "user_version", 7).unwrap();
    drop(other);
    let (error, text) = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Newer { found: 7, known: 2, .. }), "{error:?}");
    assert!(text.contains("newer release (schema 7, this one knows up to 2)"), "{text}");
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("trapline.db"), "this is not a database. ".repeat(500)).unwrap();
    let (error, text) = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Database { .. }), "{error:?}");
    assert!(text.contains("not a database"), "{text}");
}

#[tokio::test]
async fn a_sweep_removes_the_expired_up_to_its_limit() {
    let folder = TempDir::new().unwrap();
    let clock = Clock::manual(Time::from_millis(1_790_000_000_000));
    let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
    let embedded = Embedded::open(options).await.unwrap();
    let store = embedded.ports().store;
    store.prepare(&[&NOTES]).await.unwrap();
    let minute = Some(Duration::from_mins(1));
    store.write((0..700).map(|number| put(number, "{}", minute)).collect()).await.unwrap();
    store
        .write(vec![put(701, "{}", None), put(702, "{}", minute.map(|minute| 2 * minute))])
        .await
        .unwrap();
    assert_eq!(embedded.sweep(1000).await.unwrap(), 0);
    clock.advance(Duration::from_secs(61));
    assert_eq!(embedded.sweep(600).await.unwrap(), 600);
    assert_eq!(embedded.sweep(600).await.unwrap(), 100);
    assert_eq!(embedded.sweep(600).await.unwrap(), 0);
    assert_eq!(rows(&embedded).await, 2);
}

#[tokio::test]
async fn removed_bytes_go_back_to_the_file_system() {
    let folder = TempDir::new().unwrap();
    let options = Options { durability: Durability::Process, ..Options::new(folder.path()) };
    let embedded = Embedded::open(options).await.unwrap();
    let ports = embedded.ports();
    for number in 0..10 {
        let (segment, bytes) = (number.to_string(), vec![7; 1 << 20].into());
        let (before, rows) = (Vec::new(), Vec::new());
        let group = Group { segment, bytes, before, rows, job: None };
        ports.intake.commit(group).await.unwrap();
    }
    for number in 0..10 {
        ports.blobs.remove(&number.to_string()).await.unwrap();
    }
    for _ in 0..5 {
        embedded.sweep(100).await.unwrap();
    }
    embedded.close().await;
    let size = fs::metadata(folder.path().join("trapline.db")).unwrap().len();
    assert!(size < 4 << 20, "{size} bytes are left of 10 MB");
}
