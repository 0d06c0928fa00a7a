#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::iter;

use trapline_embedded::{Embedded, Options};
use trapline_model::Time;
use trapline_store::records::TABLES;
use uuid::Uuid;

use super::*;

struct Bench {
    store: Arc<dyn Store>,
    team: TeamId,
    month: Month,
    _embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
        let store = embedded.ports().store;
        store.prepare(&TABLES).await.unwrap();
        let month = Month::of(Time::from_millis(1_800_000_000_000));
        let team = TeamId(Uuid::from_u128(1));
        Self { store, team, month, _embedded: embedded, _folder: folder }
    }

    fn process(&self) -> MonthlyCounter {
        MonthlyCounter::with_store(self.store.clone(), false)
    }

    fn count(&self, process: &MonthlyCounter, messages: usize) {
        process.count(self.month, iter::repeat_n(self.team, messages));
    }

    async fn used(&self, process: &MonthlyCounter) -> u64 {
        process.used(self.team, self.month).await.unwrap()
    }

    async fn read(&self, process: &MonthlyCounter) -> u64 {
        process.read(self.team, self.month).await.unwrap()
    }
}

#[tokio::test]
async fn a_process_sees_its_own_at_once_and_others_after_they_wrote() {
    let bench = Bench::new().await;
    let (one, two) = (bench.process(), bench.process());
    bench.count(&one, 3);
    assert_eq!((bench.used(&one).await, bench.used(&two).await), (3, 0));
    one.flush().await;
    assert_eq!(bench.read(&two).await, 3, "who reports reads");
    assert_eq!(bench.used(&two).await, 0, "the receiving path does not");
    two.refresh_others().await;
    assert_eq!(bench.used(&two).await, 3);
    bench.count(&two, 4);
    two.flush().await;
    one.refresh_others().await;
    assert_eq!((bench.used(&one).await, bench.used(&two).await), (7, 7));
}

#[tokio::test]
async fn what_nobody_asks_for_is_not_read_again() {
    let bench = Bench::new().await;
    let (one, two) = (bench.process(), bench.process());
    assert_eq!(bench.used(&one).await, 0);
    one.refresh_others().await;
    one.refresh_others().await;
    bench.count(&two, 2);
    two.flush().await;
    assert_eq!(bench.used(&one).await, 2, "it was forgotten, and so is read");
}

#[tokio::test]
async fn nothing_is_counted_twice() {
    let bench = Bench::new().await;
    let process = bench.process();
    for round in 1..=3_u64 {
        bench.count(&process, 5);
        process.flush().await;
        process.flush().await;
        assert_eq!(bench.read(&bench.process()).await, 5 * round);
    }
}

#[tokio::test]
async fn a_process_that_is_alone_goes_on_where_the_last_one_was_killed() {
    let bench = Bench::new().await;
    let alone = || MonthlyCounter::with_store(bench.store.clone(), true);
    let first = alone();
    bench.count(&first, 5);
    first.flush().await;
    bench.count(&first, 2);
    drop(first);
    // The two that were not written are lost.
    let second = alone();
    bench.count(&second, 1);
    assert_eq!(bench.used(&second).await, 6);
    second.flush().await;
    let third = alone();
    bench.count(&third, 1);
    third.flush().await;
    assert_eq!((bench.used(&third).await, bench.read(&third).await), (7, 7));
    let row = Usage::of_month(bench.team, bench.month.number(), 9);
    assert_eq!(bench.store.scan(row).await.unwrap().len(), 1, "one row, however many starts");
}

#[tokio::test]
async fn a_month_begins_at_zero_and_the_last_one_stays() {
    let bench = Bench::new().await;
    let process = bench.process();
    bench.count(&process, 5);
    process.count(bench.month.next(), iter::once(bench.team));
    assert_eq!(process.used(bench.team, bench.month.next()).await.unwrap(), 1);
    process.flush().await;
    assert_eq!(bench.read(&bench.process()).await, 5);
}

#[tokio::test]
async fn counts_of_many_teams_take_bounded_memory_and_are_not_lost() {
    let bench = Bench::new().await;
    let process = bench.process();
    bench.count(&process, 1);
    process.flush().await;
    let teams = (2..CACHE_CAPACITY as u128 + 2).map(|team| TeamId(Uuid::from_u128(team)));
    process.own().extend(teams.map(|team| ((team, bench.month), OwnCount::default())));
    process.flush().await;
    assert!(process.own().len() < CACHE_CAPACITY);
    bench.count(&process, 1);
    assert_eq!(bench.used(&process).await, 2);
    process.flush().await;
    assert_eq!(bench.read(&bench.process()).await, 2);
}

#[tokio::test]
async fn pages_of_rows_are_summed() {
    let bench = Bench::new().await;
    let mut ops = Vec::new();
    for number in 0..=PAGE_ROWS {
        let (team, month) = (bench.team, bench.month.number());
        let usage = Usage { team, month, process: format!("p{number}"), messages: 2 };
        ops.push(Op::put(&usage, None, When::Always).unwrap());
    }
    bench.store.write(ops).await.unwrap();
    assert_eq!(bench.read(&bench.process()).await, 2 * (PAGE_ROWS as u64 + 1));
}
