//! When an engine is left alone.

use std::time::Duration;

use tokio::time::Instant;

use crate::spam_engine::SpamEngineFailure;

/// Failures in a row after which an engine is left alone, and for how long.
const FAILURES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(10);

/// How an engine did last.
#[derive(Debug, Default)]
pub(super) struct GateState {
    failures: u32,
    last: Option<SpamEngineFailure>,
    closed_until: Option<Instant>,
}

impl GateState {
    /// Lets a message through, or says how the engine failed last. After a pause one goes first.
    pub(super) fn enter(&mut self, now: Instant) -> Result<(), SpamEngineFailure> {
        match self.closed_until {
            Some(until) if now < until => Err(self.last.unwrap_or(SpamEngineFailure::Unreachable)),
            Some(_) => {
                self.closed_until = Some(now + PAUSE);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Takes notice of how it went.
    pub(super) fn leave(&mut self, failure: Option<SpamEngineFailure>, now: Instant) {
        if failure.is_none() {
            *self = Self::default();
            return;
        }
        self.failures += 1;
        self.last = failure;
        if self.failures >= FAILURES {
            self.closed_until = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_close_the_gate_and_one_message_opens_it() {
        let (mut state, now) = (GateState::default(), Instant::now());
        for _ in 0..5 {
            assert_eq!(state.enter(now), Ok(()));
            state.leave(Some(SpamEngineFailure::Timeout), now);
        }
        assert_eq!(state.enter(now), Err(SpamEngineFailure::Timeout));
        let later = now + PAUSE;
        assert_eq!(state.enter(later), Ok(()));
        assert_eq!(state.enter(later), Err(SpamEngineFailure::Timeout));
        state.leave(None, later);
        assert_eq!(state.enter(later), Ok(()));
    }
}
