//! A process that is killed loses nothing that it had acknowledged, and leaves nothing half done.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_model::Time;
use trapline_store::{
    BlobRef, Column, Group, Job, Key, Kind, Lane, Op, Order, PortError, Ports, Storage, Table,
    Value, When, Writes,
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

static GUARDED: Table = Table { name: "guarded", writes: Writes::Guarded, ..ROWS };

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

fn job(number: i64) -> Job {
    Job { id: number.to_string(), lane: Lane::Mock, attempt: 1, body: number.into() }
}

/// Stores rows, each with its job, until it is killed.
#[tokio::test]
#[ignore = "runs in the other test's child process"]
async fn publisher() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let ports = open(&folder).await;
    let now = Time::from_millis(0);
    for number in 0.. {
        let row = Op::Put { key: key(number), doc: "{}".into(), ttl: None, when: When::Always };
        ports.queue.publish_with(vec![row], vec![(job(number), now)]).await.unwrap();
        println!("kept {number}");
    }
}

/// What a child process said that it had kept before and after this many, when it was killed.
fn killed_after(many: usize, test: &str, folder: &str) -> Vec<i64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut numbers = lines.filter_map(|line| line.strip_prefix("kept ")?.parse().ok());
    let mut kept: Vec<i64> = numbers.by_ref().take(many).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    kept.extend(numbers);
    assert!(kept.len() >= many);
    kept
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path().to_str().unwrap();
    let kept = killed_after(200, "writer", folder);
    let ports = open(folder).await;
    for number in kept {
        assert!(ports.store.get(&key(number)).await.unwrap().is_some(), "row {number}");
        let blob = BlobRef { segment: number.to_string(), offset: 0, len: SIZE, crc: None };
        let bytes = ports.blobs.read(&blob, None).await.unwrap();
        assert!(bytes.iter().all(|byte| *byte == number.to_le_bytes()[0]), "bytes {number}");
    }
}

#[tokio::test]
async fn each_row_has_its_job_after_a_kill() {
    for kill in 0..20 {
        let folder = TempDir::new().unwrap();
        let folder = folder.path().to_str().unwrap();
        let kept = killed_after(10 + kill, "publisher", folder);
        let ports = open(folder).await;
        let jobs = ports.queue.take(Lane::Mock, 100_000, Duration::ZERO).await.unwrap();
        let jobs: Vec<_> = jobs.into_iter().map(|lease| lease.job.body.as_i64().unwrap()).collect();
        assert!(kept.iter().all(|number| jobs.contains(number)), "what was acknowledged is there");
        for number in 0..=i64::try_from(jobs.len()).unwrap() {
            let is_there = ports.store.get(&key(number)).await.unwrap().is_some();
            assert_eq!(jobs.contains(&number), is_there, "number {number} of kill {kill}");
        }
    }
}

#[tokio::test]
async fn a_row_whose_condition_does_not_hold_has_no_job() {
    let folder = TempDir::new().unwrap();
    let ports = open(folder.path().to_str().unwrap()).await;
    ports.store.prepare(&[&GUARDED]).await.unwrap();
    let now = Time::from_millis(0);
    let put = || {
        let unique = Key { table: &GUARDED, ..key(1) };
        let guarded = Op::Put { key: unique, doc: "{}".into(), ttl: None, when: When::Absent };
        let plain = Op::Put { key: key(1), doc: "{}".into(), ttl: None, when: When::Always };
        vec![plain, guarded]
    };
    ports.store.write(put().split_off(1)).await.unwrap();
    let refused = ports.queue.publish_with(put(), vec![(job(1), now)]).await;
    assert!(matches!(refused, Err(PortError::Conflict)), "{refused:?}");
    assert!(ports.store.get(&key(1)).await.unwrap().is_none());
    let jobs = ports.queue.take(Lane::Mock, 9, Duration::ZERO).await.unwrap();
    assert!(jobs.is_empty(), "{jobs:?}");
}
