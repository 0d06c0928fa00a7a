//! Bounds log lines that an outage would repeat with every request.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Time between two lines of the same kind.
const MIN_INTERVAL: Duration = Duration::from_mins(1);

/// A line that is written once a minute at most.
pub(crate) struct LogThrottle(Mutex<ThrottleState>);

struct ThrottleState {
    written: Option<Instant>,
    left_out: u64,
}

impl LogThrottle {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(ThrottleState { written: None, left_out: 0 }))
    }

    /// Whether to write the line now: if so, how many were left out since the last.
    pub(crate) fn due(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.written.is_some_and(|written| written.elapsed() < MIN_INTERVAL) {
            state.left_out += 1;
            return None;
        }
        state.written = Some(Instant::now());
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_line_a_minute_tells_how_many_were_left_out() {
        let line = LogThrottle::new();
        assert_eq!([line.due(), line.due(), line.due()], [Some(0), None, None]);
        tokio::time::advance(MIN_INTERVAL).await;
        assert_eq!([line.due(), line.due()], [Some(2), None]);
    }
}
