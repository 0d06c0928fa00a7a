//! Counts and latencies of a run.

use std::{collections::BTreeMap, time::Duration};

use crate::failure::Failure;

/// Slots per power of two: a value is known to within 1/128 of itself.
const SLOTS: u64 = 128;
/// Enough slots for every `u64`.
const LENGTH: usize = 58 * 128;

/// A log-linear histogram of durations in microseconds.
#[derive(Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    count: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; LENGTH], count: 0, max: 0 }
    }
}

impl Histogram {
    /// Adds one duration.
    pub(crate) fn record(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.counts[slot(micros)] += 1;
        self.count += 1;
        self.max = self.max.max(micros);
    }

    /// How many were added.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The longest, in microseconds.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// The duration in microseconds that `permille` of a thousand do not exceed, at most 1/128 too
    /// high; 0 of an empty histogram.
    pub(crate) fn quantile(&self, permille: u64) -> u64 {
        let rank = u128::from(self.count) * u128::from(permille);
        let rank = u64::try_from(rank.div_ceil(1000)).unwrap_or(u64::MAX).max(1);
        let mut seen = 0;
        for (slot, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return highest(slot).min(self.max);
            }
        }
        self.max
    }
}

/// Where a value is counted: exactly below [`SLOTS`], then by its eight leading bits.
fn slot(value: u64) -> usize {
    let shift = u64::from(64 - value.leading_zeros()).saturating_sub(8);
    let index = shift * SLOTS + (value >> shift);
    usize::try_from(index).unwrap_or(LENGTH - 1)
}

/// The highest value that is counted in a slot.
fn highest(slot: usize) -> u64 {
    let slot = slot as u64;
    let shift = (slot / SLOTS).saturating_sub(1);
    let leading = slot - shift * SLOTS;
    let above = u128::from(leading + 1) << shift;
    u64::try_from(above - 1).unwrap_or(u64::MAX)
}

/// What happened in a run.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// Messages that the server answered 250 to.
    pub(crate) accepted: u64,
    /// Bytes of their contents.
    pub(crate) bytes: u64,
    /// From MAIL to the reply after the content; accepted messages only.
    pub(crate) transaction: Histogram,
    /// The same from the connection's first packet, for the first message of a connection.
    pub(crate) with_connect: Histogram,
    /// Connections opened ahead of their first message.
    pub(crate) connect: Histogram,
    /// Accepted messages whose envelope went out in one write.
    pub(crate) pipelined: u64,
    /// Failures by their text.
    pub(crate) errors: BTreeMap<String, u64>,
}

impl Stats {
    /// Counts an accepted message.
    pub(crate) fn accept(&mut self, bytes: usize, took: Duration, with_connect: Option<Duration>) {
        self.accepted += 1;
        self.bytes += bytes as u64;
        self.transaction.record(took);
        if let Some(whole) = with_connect {
            self.with_connect.record(whole);
        }
    }

    /// Counts a failure.
    pub(crate) fn fail(&mut self, failure: Failure) {
        *self.errors.entry(failure.to_string()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::failure::{Cause, Stage};

    fn of(micros: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        micros.into_iter().for_each(|value| histogram.record(Duration::from_micros(value)));
        histogram
    }

    #[test]
    fn an_empty_histogram_is_zero() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.quantile(500), empty.max()), (0, 0, 0));
    }

    #[test]
    fn quantiles_of_small_values_are_exact() {
        let hundred = of(1..=100);
        let quantiles = [0, 500, 950, 990, 1000].map(|permille| hundred.quantile(permille));
        assert_eq!(quantiles, [1, 50, 95, 99, 100]);
        assert_eq!(of([7]).quantile(500), 7);
    }

    #[test]
    fn a_quantile_never_exceeds_the_longest() {
        let histogram = of([1_000_003; 3]);
        assert_eq!((histogram.quantile(500), histogram.max()), (1_000_003, 1_000_003));
    }

    #[test]
    fn failures_are_counted_by_kind() {
        let mut stats = Stats::default();
        for cause in [Cause::Reply(452), Cause::Reply(452), Cause::Timeout] {
            stats.fail(Failure::new(Stage::Rcpt, cause));
        }
        assert_eq!(stats.errors["RCPT: 452"], 2);
        assert_eq!(stats.errors["RCPT: timed out"], 1);
    }

    proptest! {
        #[test]
        fn a_slot_holds_its_values(value: u64) {
            let slot = slot(value);
            prop_assert!(slot < LENGTH);
            prop_assert!(highest(slot) >= value);
            prop_assert!(highest(slot) - value <= value / 128);
            prop_assert!(slot == 0 || highest(slot - 1) < value);
        }
    }
}
