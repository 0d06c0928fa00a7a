//! Runs the engine until what it changes is written.

use std::time::Duration;

use tokio::time::sleep;
use trapline_mocks::{Chance, Loaded, Want, Write};
use trapline_store::PortError;

use super::{Mocks, load::Reads, opened::OpenedMock, send::job_of_call};
use crate::{Error, Result, metrics, secrets::random};

/// How often a run may ask for more rows.
const MAX_ROUNDS: usize = 8;
/// How often the engine is run on fresh rows, when others change the same ones.
const MAX_TRIES: u32 = 16;
/// Longest pause before the second try, in milliseconds; it doubles with each, to the longest of all. Many calls at once
/// that take numbers of one counter come one after the other.
const PAUSE_MS: u64 = 4;
const MAX_PAUSE_MS: u64 = 256;

/// What a run of the engine came to.
pub(super) struct EngineRun<T> {
    pub(super) done: T,
    pub(super) writes: Vec<Write>,
    /// Whether something is sent, or done later.
    pub(super) goes_on: bool,
}

/// A run, or what has to be read for it.
pub(super) type EngineRunOrWants<T> = std::result::Result<EngineRun<T>, Vec<Want>>;

impl Mocks {
    /// Runs the engine until what it changes is written; on fresh rows when somebody else wrote them first.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] when others were quicker each time, and when the store does not answer.
    pub(super) async fn run_and_commit<T: Send>(
        &self,
        mock: &OpenedMock,
        run: impl Fn(&Loaded, &Chance) -> EngineRunOrWants<T> + Send + Sync,
    ) -> Result<T> {
        let mut turn = None;
        for attempt in 1..=MAX_TRIES {
            let (EngineRun { done, writes, goes_on }, reads) = self.run(mock, &run).await?;
            if writes.is_empty() {
                return Ok(done);
            }
            let job = || job_of_call(mock.mock.team, mock.of(), mock.id, attempt, self.now());
            let (job, rows) = (goes_on.then(job).transpose()?, writes.len());
            match self.commit(mock.of(), &reads, writes, job).await {
                Ok(()) => {
                    self.note_written(mock, rows).await;
                    return Ok(done);
                }
                Err(PortError::Conflict) => {
                    metrics::mock_conflict();
                    // From now on those of one process take turns, so that few meet at the store.
                    if turn.is_none() {
                        turn = Some(self.turns.lock(mock.mock.id.0).await);
                        continue;
                    }
                    let most = (PAUSE_MS << (attempt - 1)).min(MAX_PAUSE_MS);
                    let pause = u64::from(u16::from_be_bytes(random())) % most;
                    sleep(Duration::from_millis(pause)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    async fn run<T: Send>(
        &self,
        mock: &OpenedMock,
        run: &(impl Fn(&Loaded, &Chance) -> EngineRunOrWants<T> + Send + Sync),
    ) -> Result<(EngineRun<T>, Reads)> {
        let (chance, mut reads) = (Chance::new(random()), Reads::default());
        for _ in 0..MAX_ROUNDS {
            match run(&reads.loaded, &chance) {
                Ok(done) => return Ok((done, reads)),
                Err(wants) => self.read(mock.of(), wants, &mut reads).await?,
            }
        }
        Err(Error::Unavailable)
    }
}
