#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use futures_util::{FutureExt as _, future::join_all};
use rusqlite::{Connection, params};
use tempfile::TempDir;
use trapline_store::Lane;

use super::*;
use crate::values::sql;

struct Fixture {
    writer: Writer,
    lanes: Arc<LaneWakeups>,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let connection = Connection::open(folder.path().join("db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap_or_default();
        connection.execute_batch("CREATE TABLE t (n INTEGER UNIQUE)").unwrap();
        let lanes = Arc::new(LaneWakeups::default());
        let durability = Durability::Power;
        let checkpoints = Connection::open(folder.path().join("db")).unwrap();
        let writer = Writer::start(
            connection,
            checkpoints,
            durability,
            Clock::system(),
            lanes.clone(),
            Disk::of(folder.path(), 0),
        )
        .unwrap();
        Self { writer, lanes, folder }
    }

    async fn insert(&self, numbers: &'static [i64]) -> Result<()> {
        let work = move |transaction: &Transaction<'_>| {
            transaction.atomically(|| {
                let mut statement = transaction.statement("INSERT INTO t VALUES (?)")?;
                numbers.iter().try_for_each(|n| statement.execute([n]).map(drop)).map_err(sql)
            })
        };
        self.writer.run(true, 0, work).await
    }

    fn stored(&self) -> Vec<i64> {
        let connection = Connection::open(self.folder.path().join("db")).unwrap();
        let mut statement = connection.prepare("SELECT n FROM t ORDER BY n").unwrap();
        statement.query_map(params![], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

#[tokio::test]
async fn a_failure_does_not_undo_its_neighbours() {
    let fixture = Fixture::new();
    let writes: [&[i64]; 4] = [&[1, 2], &[3, 1], &[4, 5], &[6, 6]];
    let answers = join_all(writes.map(|numbers| fixture.insert(numbers))).await;
    assert!(matches!(
        &answers[..],
        [Ok(()), Err(PortError::Conflict), Ok(()), Err(PortError::Conflict)]
    ));
    assert_eq!(fixture.stored(), [1, 2, 4, 5]);
}

#[tokio::test]
async fn what_fails_leaves_nothing_alone_or_beside_others() {
    let half = |number: i64| {
        move |transaction: &Transaction<'_>| {
            transaction.all_or_nothing(|| {
                transaction.wake(Lane::Mail);
                transaction
                    .statement("INSERT INTO t VALUES (?)")?
                    .execute([number])
                    .map_err(sql)?;
                Err::<(), _>(PortError::Conflict)
            })
        }
    };
    let fixture = Fixture::new();
    let alone = fixture.writer.run(true, 0, half(1)).await;
    assert!(matches!(alone, Err(PortError::Conflict)), "{alone:?}");
    assert!(fixture.stored().is_empty());
    let beside = fixture.writer.run(true, 0, half(3));
    let (one, beside, two) = tokio::join!(fixture.insert(&[2]), beside, fixture.insert(&[4]));
    assert!(matches!((one, two), (Ok(()), Ok(()))));
    assert!(matches!(beside, Err(PortError::Conflict)), "{beside:?}");
    assert_eq!(fixture.stored(), [2, 4]);
}

#[tokio::test]
async fn a_rolled_back_transaction_fails_for_all_and_the_next_works() {
    let fixture = Fixture::new();
    let broken = fixture.writer.run(true, 0, |transaction| transaction.execute_batch("ROLLBACK"));
    let (before, broken) = tokio::join!(fixture.insert(&[1]), broken);
    assert!(matches!(broken, Err(PortError::Unavailable(_))), "{broken:?}");
    let kept: &[i64] = if before.is_ok() { &[1] } else { &[] };
    assert_eq!(fixture.stored(), kept);
    fixture.insert(&[2]).await.unwrap();
    assert!(fixture.stored().contains(&2));
}

#[tokio::test]
async fn a_lane_is_rung_after_the_commit() {
    let fixture = Fixture::new();
    let woken = fixture.lanes.of(Lane::Mail).notified();
    let work = |transaction: &Transaction<'_>| {
        transaction.wake(Lane::Mail);
        Ok(())
    };
    fixture.writer.run(false, 0, work).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), woken).await.unwrap();
}

#[tokio::test]
async fn a_write_whose_caller_left_is_committed() {
    let fixture = Fixture::new();
    let (go_on, held) = std::sync::mpsc::channel::<()>();
    // As long as the writer is held, nothing that is handed in meanwhile can be done.
    let holding = fixture.writer.run(true, 0, move |_| held.recv().map_err(PortError::unavailable));
    let (held, ()) = tokio::join!(holding, async {
        assert!(fixture.insert(&[1]).now_or_never().is_none(), "nobody waits for the answer");
        go_on.send(()).unwrap();
    });
    held.unwrap();
    fixture.insert(&[2]).await.unwrap();
    assert_eq!(fixture.stored(), [1, 2]);
}

#[tokio::test]
async fn the_end_of_the_thread_is_told() {
    let fixture = Fixture::new();
    fixture.insert(&[1]).await.unwrap();
    let ended = fixture.writer.ended();
    let breaks = |_: &Transaction<'_>| -> Result<()> { panic!("as planned") };
    assert!(fixture.writer.run(true, 0, breaks).await.is_err());
    ended.await;
    assert!(!fixture.writer.is_open());
    assert_eq!(fixture.stored(), [1]);
}
