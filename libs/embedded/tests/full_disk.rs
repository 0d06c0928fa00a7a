//! A full disk: mail is refused, and everything that frees room still works.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{fs, io::Write as _, path::Path, process::Command};

use tempfile::TempDir;
use trapline_embedded::{Embedded, OpenError, Options};
use trapline_store::{
    Column, Group, Key, Kind, Op, Order, PortError, Ports, Storage, Table, Value, When, Writes,
};

static ROWS: Table = Table {
    name: "rows",
    partition: &[Column { name: "owner", kind: Kind::Int }],
    sort: &[Column { name: "number", kind: Kind::Int }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

const SIZE: usize = 100_000;

/// A file system of 24 MiB, where this user may make one.
struct Small(TempDir);

impl Small {
    fn new() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=24m,mode=700", "trapline-test"];
        let mounted = Command::new("mount").args(mount).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        println!("skipped: only a superuser may mount a small file system");
        None
    }

    fn data(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }

    /// Takes all that is left, as a log beside the data would.
    fn fill(&self) -> std::path::PathBuf {
        let path = self.0.path().join("other");
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
        path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.0.path()).status().unwrap();
    }
}

async fn open(folder: &Path) -> (Embedded, Ports) {
    let embedded = Embedded::open(Options::new(folder)).await.unwrap();
    let ports = embedded.ports();
    ports.store.prepare(&[&ROWS]).await.unwrap();
    (embedded, ports)
}

fn key(number: i64) -> Key {
    Key { table: &ROWS, partition: vec![Value::Int(1)], sort: vec![Value::Int(number)] }
}

fn put(number: i64) -> Op {
    Op::Put { key: key(number), doc: "{}".into(), ttl: None, when: When::Always }
}

async fn mail(ports: &Ports, number: i64, rows: Vec<Op>) -> Result<(), PortError> {
    let (segment, bytes) = (number.to_string(), vec![7; SIZE].into());
    let group = Group { segment, bytes, before: Vec::new(), rows, job: None };
    ports.intake.commit(group).await
}

/// Takes mail until it is refused; how many were taken.
async fn until_full(ports: &Ports, from: i64) -> i64 {
    for number in from.. {
        match mail(ports, number, vec![put(number)]).await {
            Ok(()) => {}
            Err(PortError::StorageFull) => return number,
            Err(error) => panic!("{error}"),
        }
    }
    from
}

async fn delete(ports: &Ports, number: i64) {
    let delete = Op::Delete { key: key(number), when: When::Always };
    ports.store.write(vec![delete]).await.unwrap();
    ports.blobs.remove(&number.to_string()).await.unwrap();
}

#[tokio::test]
async fn mail_is_refused_while_there_is_room_for_what_frees_room() {
    let Some(disk) = Small::new() else { return };
    let (embedded, ports) = open(&disk.data()).await;
    let taken = until_full(&ports, 0).await;
    assert!(taken > 100, "most of the disk is for mail: {taken}");
    assert!(matches!(ports.store.room().await, Err(PortError::StorageFull)));
    // A copy that frees room is taken for longer.
    mail(&ports, 9_999, Vec::new()).await.unwrap();
    ports.blobs.remove("9999").await.unwrap();
    // What else a server writes meanwhile goes on and on, and leaves the room as it is.
    for _ in 0..2_000 {
        ports.store.write(vec![put(-1)]).await.unwrap();
    }
    for number in 0..taken / 2 {
        delete(&ports, number).await;
    }
    let again = until_full(&ports, taken).await - taken;
    assert!(again > taken / 3, "room is used again: {again} of {taken}");
    embedded.close().await;
    // And after a start.
    let (_embedded, ports) = open(&disk.data()).await;
    let (segment, len) = (taken.to_string(), SIZE as u64);
    let blob = trapline_store::BlobRef { segment, offset: 0, len, crc: None };
    assert_eq!(ports.blobs.read(&blob, None).await.unwrap(), vec![7; SIZE]);
    let from = taken + again;
    assert_eq!(until_full(&ports, from).await, from);
    for number in taken..from {
        delete(&ports, number).await;
    }
    assert!(until_full(&ports, from).await > from);
}

#[tokio::test]
async fn others_who_fill_the_disk_leave_room_to_delete_and_to_start() {
    let Some(disk) = Small::new() else { return };
    let (embedded, ports) = open(&disk.data()).await;
    for number in 0..50 {
        mail(&ports, number, vec![put(number)]).await.unwrap();
    }
    let other = disk.fill();
    assert!(matches!(mail(&ports, 50, vec![put(50)]).await, Err(PortError::StorageFull)));
    for number in 0..10 {
        delete(&ports, number).await;
    }
    // Killed, so that the log is still there; then nothing at all is left.
    let mut options = Options::new(disk.data());
    options.cache_bytes = 1 << 20;
    std::mem::forget(embedded);
    let (_second, ports) = open(&disk.data()).await;
    for number in 10..20 {
        delete(&ports, number).await;
    }
    fs::remove_file(other).unwrap();
    mail(&ports, 51, vec![put(51)]).await.unwrap();
}

#[tokio::test]
async fn a_start_without_any_room_says_so() {
    let Some(disk) = Small::new() else { return };
    disk.fill();
    let error = Embedded::open(Options::new(disk.data())).await.err().unwrap();
    assert!(matches!(error, OpenError::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("is full"), "{error}");
    assert!(error.to_string().contains(disk.data().to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn a_start_with_the_reserve_alone_works() {
    let Some(disk) = Small::new() else { return };
    let (embedded, ports) = open(&disk.data()).await;
    for number in 0..50 {
        mail(&ports, number, vec![put(number)]).await.unwrap();
    }
    embedded.close().await;
    assert!(disk.data().join("reserve").metadata().unwrap().len() > 0);
    let other = disk.fill();
    let (embedded, ports) = open(&disk.data()).await;
    for number in 0..50 {
        delete(&ports, number).await;
    }
    fs::remove_file(other).unwrap();
    embedded.sweep(100).await.unwrap();
    assert!(disk.data().join("reserve").metadata().unwrap().len() > 0, "it is kept anew");
}
