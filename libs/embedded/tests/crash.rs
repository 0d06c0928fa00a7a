//! A process that is killed loses nothing that it had acknowledged.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_store::{
    BlobRef, Column, Group, Key, Kind, Op, Order, Ports, Storage, Table, Value, When, Writes,
};

const FOLDER: &str = "TRAPLINE_CRASH_FOLDER";
const SIZE: u64 = 5000;

static ROWS: Table = Table {
    name: "rows",
    partition: &[Column { name: "owner", kind: Kind::Int }],
    sort: &[Column { name: "number", kind: Kind::Int }],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Rows,
    ..Table::PLAIN
};

fn key(number: i64) -> Key {
    Key { table: &ROWS, partition: vec![Value::Int(number % 7)], sort: vec![Value::Int(number)] }
}

async fn open(folder: &str) -> Ports {
    let embedded = Embedded::open(Options::new(folder)).await.unwrap();
    let ports = embedded.ports();
    ports.store.prepare(&[&ROWS]).await.unwrap();
    ports
}

async fn commit(ports: &Ports, number: i64) {
    let row = Op::Put { key: key(number), doc: "{}".into(), ttl: None, when: When::Always };
    let bytes = vec![number.to_le_bytes()[0]; SIZE.try_into().unwrap()].into();
    let (segment, rows) = (number.to_string(), vec![row]);
    let group = Group { segment, bytes, before: Vec::new(), rows, job: None };
    ports.intake.commit(group).await.unwrap();
}

/// Writes until it is killed; says what was acknowledged.
#[tokio::test]
#[ignore = "runs in the other test's child process"]
async fn writer() {
    // Whoever runs the ignored tests too asks for no child process.
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let ports = open(&folder).await;
    let lane = async |lane: i64| {
        for number in 0.. {
            commit(&ports, 4 * number + lane).await;
            println!("kept {}", 4 * number + lane);
        }
    };
    tokio::join!(lane(0), lane(1), lane(2), lane(3));
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path().to_str().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut numbers = lines.filter_map(|line| line.strip_prefix("kept ")?.parse().ok());
    let mut kept: Vec<i64> = numbers.by_ref().take(200).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    kept.extend(numbers);
    assert!(kept.len() >= 200);
    let ports = open(folder).await;
    for number in kept {
        assert!(ports.store.get(&key(number)).await.unwrap().is_some(), "row {number}");
        let blob = BlobRef { segment: number.to_string(), offset: 0, len: SIZE, crc: None };
        let bytes = ports.blobs.read(&blob, None).await.unwrap();
        assert!(bytes.iter().all(|byte| *byte == number.to_le_bytes()[0]), "bytes {number}");
    }
}
