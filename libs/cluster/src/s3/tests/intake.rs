//! The order of a commit, and what is left when a step of it fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use tempfile::TempDir;
use tokio::sync::Mutex;
use trapline_model::Time;
use trapline_store::{
    BlobRef, Blobs as _, Column, Group, Intake as _, Job, Key, Kind, Lane, LaneStats, Lease, Op,
    Order, PortError, Queue, Result, Storage, Table, Value, When, Writes,
};

use crate::s3::{ClusterIntake, RowWriter, Segments};

const SEGMENT: &str = "keep/a.seg";

static PLAIN: Table = table(Writes::Plain);
static GUARDED: Table = table(Writes::Guarded);

const fn table(writes: Writes) -> Table {
    let partition = &[Column { name: "name", kind: Kind::Text }];
    Table {
        name: "rows",
        partition,
        sort: &[],
        order: Order::Ascending,
        writes,
        storage: Storage::Rows,
        ..Table::PLAIN
    }
}

fn row(table: &'static Table, name: &str) -> Op {
    let key = Key { table, partition: vec![Value::Text(name.to_owned())], sort: Vec::new() };
    Op::Put { key, doc: "{}".to_owned(), ttl: None, when: When::Always }
}

fn describe(op: &Op) -> String {
    let verb = if matches!(op, Op::Delete { .. }) { "delete" } else { "put" };
    let Value::Text(name) = &op.key().partition[0] else { panic!("{op:?}") };
    format!("{verb} {name}")
}

/// Stands for the rows and the queue, and notes what was asked of them.
struct Backend {
    segments: Arc<Segments>,
    steps: Mutex<Vec<String>>,
    /// The write that fails, after it was half applied.
    refuse: Option<&'static str>,
    publishes: bool,
    /// Whether a job was published or refused.
    was_published: AtomicBool,
}

#[async_trait]
impl RowWriter for Backend {
    async fn write_unordered(&self, ops: Vec<Op>) -> Result<()> {
        let there = self.segments.segment(SEGMENT).await?.is_some();
        let ops: Vec<_> = ops.iter().map(describe).collect();
        let refused = self.refuse.is_some_and(|op| ops.contains(&op.to_owned()));
        let bytes = if there { "with bytes" } else { "without" };
        self.steps.lock().await.push(format!("{} {bytes}", ops.join(", ")));
        if refused { Err(PortError::Timeout) } else { Ok(()) }
    }
}

#[async_trait]
impl Queue for Backend {
    async fn publish(&self, job: &Job, _: Option<Time>) -> Result<()> {
        self.steps.lock().await.push(format!("publish {}", job.id));
        self.was_published.store(true, Ordering::SeqCst);
        if self.publishes { Ok(()) } else { Err(PortError::Timeout) }
    }

    async fn take(&self, _: Lane, _: usize, _: Duration) -> Result<Vec<Lease>> {
        unreachable!()
    }

    async fn finish(&self, _: Lease) -> Result<()> {
        unreachable!()
    }

    async fn retry(&self, _: Lease, _: &Job, _: Time) -> Result<()> {
        unreachable!()
    }

    async fn extend(&self, _: &Lease) -> Result<()> {
        unreachable!()
    }

    async fn stats(&self, _: Lane) -> Result<LaneStats> {
        unreachable!()
    }
}

struct Bench {
    backend: Arc<Backend>,
    intake: ClusterIntake,
    _folder: TempDir,
}

impl Bench {
    fn new(refuse: Option<&'static str>, publishes: bool) -> Self {
        let folder = TempDir::new().unwrap();
        let segments = Arc::new(super::open(format!("file://{}", folder.path().display())));
        let backend = Arc::new(Backend {
            segments: Arc::clone(&segments),
            steps: Mutex::default(),
            refuse,
            publishes,
            was_published: AtomicBool::new(false),
        });
        let (rows, queue) = (Arc::clone(&backend) as _, Arc::clone(&backend) as _);
        let intake = ClusterIntake::new(segments, rows, queue);
        Self { backend, intake, _folder: folder }
    }

    async fn commit(&self) -> Result<()> {
        let job = Job {
            id: "job".to_owned(),
            lane: Lane::Received,
            attempt: 1,
            body: serde_json::Value::Null,
        };
        let group = Group {
            segment: SEGMENT.to_owned(),
            bytes: Bytes::from_static(b"bytes"),
            before: vec![row(&PLAIN, "chore")],
            rows: vec![row(&PLAIN, "a"), row(&PLAIN, "b")],
            job: Some(job),
        };
        self.intake.commit(group).await
    }

    /// Once the job's turn came, which nobody waits for.
    async fn steps_with_job(&self) -> Vec<String> {
        while !self.backend.was_published.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        self.steps().await
    }

    async fn steps(&self) -> Vec<String> {
        self.backend.steps.lock().await.clone()
    }
}

#[tokio::test]
async fn everything_in_its_order() {
    let bench = Bench::new(None, true);
    bench.commit().await.unwrap();
    let expected = ["put chore without", "put a, put b with bytes", "publish job"];
    assert_eq!(bench.steps_with_job().await, expected);
    let blob = BlobRef { segment: SEGMENT.to_owned(), offset: 0, len: 5, crc: None };
    assert_eq!(bench.backend.segments.read(&blob, None).await.unwrap(), "bytes");
}

#[tokio::test]
async fn a_failed_step_ends_the_commit_and_rows_are_taken_back() {
    let chore = "put chore without";
    let (rows, undo) = ("put a, put b with bytes", "delete a, delete b with bytes");
    let cases: [(&str, &[&str]); 2] = [("put chore", &[chore]), ("put b", &[chore, rows, undo])];
    for (refuse, expected) in cases {
        let bench = Bench::new(Some(refuse), true);
        let answer = bench.commit().await;
        assert!(matches!(answer, Err(PortError::Timeout)), "{refuse}: {answer:?}");
        assert_eq!(bench.steps().await, expected, "{refuse}");
    }
}

#[tokio::test]
async fn bytes_that_cannot_be_stored_leave_no_row() {
    let bench = Bench::new(None, true);
    bench.backend.segments.put(SEGMENT, Bytes::from_static(b"another's")).await.unwrap();
    let answer = bench.commit().await;
    assert!(matches!(answer, Err(PortError::Conflict)), "{answer:?}");
    assert_eq!(bench.steps().await, ["put chore with bytes"]);
}

#[tokio::test]
async fn a_job_that_is_refused_is_left_to_the_outbox() {
    let bench = Bench::new(None, false);
    bench.commit().await.unwrap();
    assert_eq!(bench.steps_with_job().await.len(), 3);
}

#[tokio::test]
async fn guarded_rows_are_refused_before_anything_is_written() {
    let bench = Bench::new(None, true);
    let guarded = || vec![row(&PLAIN, "a"), row(&GUARDED, "b")];
    for (before, rows) in [(guarded(), Vec::new()), (Vec::new(), guarded())] {
        let (segment, bytes) = (SEGMENT.to_owned(), Bytes::from_static(b"bytes"));
        let group = Group { segment, bytes, before, rows, job: None };
        let answer = bench.intake.commit(group).await;
        assert!(matches!(answer, Err(PortError::Misuse(_))), "{answer:?}");
    }
    assert!(bench.steps().await.is_empty());
    assert_eq!(bench.backend.segments.segment(SEGMENT).await.unwrap(), None);
}
