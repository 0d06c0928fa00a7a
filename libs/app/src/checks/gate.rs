//! How an engine is asked: a few messages at a time, and not at all while it fails.

mod state;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};

use crate::metrics;
use crate::spam_engine::{SpamEngine, SpamEngineFailure, SpamJudgement, SpamMail};
use state::GateState;

/// Messages of this process that are with an engine at the same time.
const AT_ONCE: usize = 8;
/// How long the next one waits for its turn.
const TURN: Duration = Duration::from_secs(2);
/// How long what a ping said holds.
const PINGED: Duration = Duration::from_secs(30);

/// An engine, and how it did.
pub(super) struct EngineGate {
    engine: Arc<dyn SpamEngine>,
    turns: Semaphore,
    state: std::sync::Mutex<GateState>,
    pinged: Mutex<Option<(Instant, bool)>>,
}

impl EngineGate {
    pub(super) fn new(engine: Arc<dyn SpamEngine>) -> Self {
        let (turns, state) = (Semaphore::new(AT_ONCE), std::sync::Mutex::default());
        Self { engine, turns, state, pinged: Mutex::default() }
    }

    pub(super) fn name(&self) -> &'static str {
        self.engine.name()
    }

    /// What the engine says of a message.
    pub(super) async fn judge(&self, mail: &SpamMail) -> Result<SpamJudgement, SpamEngineFailure> {
        let turn = timeout(TURN, self.turns.acquire()).await;
        let _turn = turn.map_err(|_| SpamEngineFailure::Busy)?;
        self.with_state(|state| state.enter(Instant::now()))?;
        let judged = self.engine.judge(mail).await;
        metrics::spam_engine_up(self.name(), judged.is_ok());
        self.with_state(|state| state.leave(judged.as_ref().err().copied(), Instant::now()));
        judged
    }

    /// Whether the engine answers, as it did at most 30 seconds ago.
    pub(super) async fn answers(&self) -> bool {
        let mut pinged = self.pinged.lock().await;
        match *pinged {
            Some((at, answers)) if at.elapsed() < PINGED => answers,
            _ => {
                let answers = self.engine.answers().await;
                metrics::spam_engine_up(self.name(), answers);
                *pinged = Some((Instant::now(), answers));
                answers
            }
        }
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut GateState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
