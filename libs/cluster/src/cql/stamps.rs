//! The write times of plain writes, by which the servers decide which of two writes of a row came later.
//!
//! They are given by the client, so that of two writes of this process the later one wins, whichever
//! node takes it and however often it is sent. Machines' clocks differ, so a write must also win over
//! what this process has read: for each partition it is remembered how far the write times of its rows
//! are ahead of this machine's clock. Where clocks agree that is next to nothing.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError},
};

use trapline_store::{Clock, Table, Value};

/// Partitions that are remembered at once, about 5 MB.
const MAX_PARTITIONS: usize = 100_000;
/// Microseconds by which this process's own time may be moved when more are ahead of it.
const MAX_MOVED_MICROS: i64 = 3_600_000_000;

/// Names a partition; two that share a name only get later write times than they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Partition(u64);

impl Partition {
    pub(super) fn of(table: &Table, values: &[Value]) -> Self {
        let mut hasher = DefaultHasher::new();
        (table.name, values).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Gives write times, in microseconds since 1970.
pub(super) struct Stamps {
    clock: Clock,
    state: Mutex<StampState>,
}

#[derive(Default)]
struct StampState {
    /// The latest that was given by this process's own time.
    last: i64,
    /// The latest that was read or given, of partitions where that is ahead of this process's time.
    ahead: HashMap<Partition, i64>,
}

impl Stamps {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// A write time later than all that this process gave to the partition or read in it.
    pub(super) fn next(&self, partition: Partition) -> i64 {
        let now = self.clock.machine_micros();
        let mut state = self.state();
        let own = now.max(state.last.saturating_add(1));
        let ahead = if state.ahead.is_empty() { None } else { state.ahead.remove(&partition) };
        if let Some(ahead) = ahead.filter(|ahead| *ahead >= own) {
            let next = ahead.saturating_add(1);
            state.ahead.insert(partition, next);
            return next;
        }
        state.last = own;
        own
    }

    /// A row of the partition has this write time.
    pub(super) fn saw(&self, partition: Partition, written: i64) {
        let now = self.clock.machine_micros();
        if written < now {
            return;
        }
        let mut state = self.state();
        if written < state.last {
            return;
        }
        if state.ahead.len() >= MAX_PARTITIONS && !state.ahead.contains_key(&partition) {
            state.make_room(now);
        }
        let latest = state.ahead.entry(partition).or_insert(written);
        *latest = written.max(*latest);
    }

    fn state(&self) -> MutexGuard<'_, StampState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StampState {
    /// Forgets partitions by moving this process's own time behind all of them, up to an hour; a clock
    /// that was years ahead must not take every process with it.
    fn make_room(&mut self, now: i64) {
        let bound = now.saturating_add(MAX_MOVED_MICROS);
        let within = self.ahead.values().copied().filter(|written| *written <= bound);
        self.last = self.last.max(within.max().unwrap_or(now));
        self.ahead.retain(|_, written| *written > bound);
        if self.ahead.len() > MAX_PARTITIONS / 2 {
            self.ahead.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trapline_model::Time;

    use super::*;

    const NOW: i64 = 1_800_000_000_000_000;

    fn stamps() -> (Stamps, Clock) {
        let clock = Clock::manual(Time::from_millis(NOW / 1000));
        (Stamps::new(clock.clone()), clock)
    }

    #[test]
    fn each_is_later_than_those_before_whatever_the_clock_does() {
        let (stamps, clock) = stamps();
        let partition = Partition(1);
        let mut last = 0;
        for jump in [0, 300_000, -600_000, 1, -1, 900_000, 0] {
            clock.turn(jump);
            for _ in 0..3 {
                let next = stamps.next(partition);
                assert!(next > last, "{next} after {last}");
                last = next;
            }
        }
        clock.advance(Duration::from_secs(1));
        assert!(stamps.next(Partition(2)) > last);
    }

    #[test]
    fn a_partition_is_written_behind_what_was_read_in_it_and_others_are_not() {
        let (stamps, clock) = stamps();
        let (ahead, other) = (Partition(1), Partition(2));
        let written = NOW + 300_000_000;
        stamps.saw(ahead, written);
        stamps.saw(ahead, written - 5);
        assert_eq!([stamps.next(ahead), stamps.next(ahead)], [written + 1, written + 2]);
        assert_eq!(stamps.next(other), NOW);
        clock.advance(Duration::from_mins(6));
        assert_eq!(stamps.next(ahead), NOW + 360_000_000);
        assert!(stamps.state().ahead.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded_and_nothing_within_an_hour_is_lost() {
        let (stamps, _clock) = stamps();
        let far = NOW + 2 * MAX_MOVED_MICROS;
        stamps.saw(Partition(u64::MAX), far);
        for number in 0..MAX_PARTITIONS as u64 + 10 {
            stamps.saw(Partition(number), NOW + 1000);
        }
        assert!(stamps.state().ahead.len() <= MAX_PARTITIONS);
        for number in [0, 1, MAX_PARTITIONS as u64, MAX_PARTITIONS as u64 + 9] {
            assert!(stamps.next(Partition(number)) > NOW + 1000);
        }
        assert_eq!(stamps.next(Partition(u64::MAX)), far + 1);
        assert!(stamps.next(Partition(u64::MAX - 1)) < NOW + MAX_MOVED_MICROS);
    }
}
