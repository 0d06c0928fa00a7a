//! When the next attempt to send a mail is due.

use std::time::Duration;

/// Delays between the attempts to send a mail of the service itself, for which somebody waits: 51 minutes
/// in all.
pub(super) const MAIL_BACKOFF: &[Duration] = &[
    Duration::from_secs(15),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_mins(30),
];

/// The delay after the attempt with this number, from 1; `None` after the last.
pub(crate) fn backoff_after(schedule: &[Duration], attempt: u32) -> Option<Duration> {
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    schedule.get(index).copied()
}
