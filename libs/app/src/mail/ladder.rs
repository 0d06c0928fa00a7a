//! When the next attempt is due.

use std::time::Duration;

/// Somebody waits for mail of the service itself: 51 minutes in all.
pub(super) const MAIL: &[Duration] = &[
    Duration::from_secs(15),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_mins(30),
];

/// The pause after the attempt with this number, from 1; none after the last.
pub(crate) fn pause(ladder: &[Duration], attempt: u32) -> Option<Duration> {
    let rung = usize::try_from(attempt).ok()?.checked_sub(1)?;
    ladder.get(rung).copied()
}
