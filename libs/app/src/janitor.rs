//! The janitor: does what is due, hour by hour, and scans nothing that is not.
//!
//! The work is cut into shards. A process works on the shards that it holds a lease of, and takes no
//! more of them than its share among the processes that live.

mod chores;
mod expiry;
mod outbox;
mod room;
mod segments;
mod shard;

use std::{sync::Arc, time::Duration};

use trapline_store::records::SHARDS;

use crate::{App, Error, Result};
use shard::Shard;

const PAUSE: Duration = Duration::from_secs(5);

pub(crate) use segments::first_visit;

/// Does what is due until shutdown. `holder` tells this process from the others; a process that
/// starts again under its old name goes on at once.
pub async fn run_janitor(app: Arc<App>, holder: String) {
    let mut shards: Vec<_> = (0..SHARDS).map(|number| Shard::of(number, &holder)).collect();
    let rounds = async {
        loop {
            if let Err(error) = app.janitor_round(&mut shards).await {
                tracing::warn!(%error, "the janitor goes on in its next round");
            }
            app.clock.sleep(PAUSE).await;
        }
    };
    app.shutdown.run_until_cancelled(rounds).await;
    for shard in &mut shards {
        if let Err(error) = shard.give_up(&app).await {
            tracing::debug!(%error, "a lease runs out by itself");
        }
    }
}

impl App {
    async fn janitor_round(&self, shards: &mut [Shard]) -> Result<()> {
        let workers = self.living("worker").await?.max(1);
        let fair = shards.len().div_ceil(workers);
        let mut held = shards.iter().filter(|shard| shard.is_held(self.now())).count();
        for shard in shards {
            let number = shard.number;
            if let Err(error) = self.shard_round(shard, fair, &mut held).await {
                tracing::warn!(%error, shard = number, "the janitor goes on with the next shard");
            }
        }
        match self.room.is_full().then(|| self.room_for_more()) {
            Some(room) => room.await.or_else(|error| match error {
                Error::StorageFull => Ok(()),
                error => Err(error),
            }),
            None => Ok(()),
        }
    }

    async fn shard_round(&self, shard: &mut Shard, fair: usize, held: &mut usize) -> Result<()> {
        match (shard.is_held(self.now()), *held) {
            (true, held_now) if held_now > fair => {
                *held -= 1;
                return shard.give_up(self).await;
            }
            (false, held_now) if held_now >= fair => return Ok(()),
            (false, _) if shard.may_work(self).await? => *held += 1,
            (false, _) => return Ok(()),
            (true, _) => {}
        }
        // First what somebody waits for.
        let repaired = self.repair_shard(shard).await;
        self.tidy_shard(shard).await?;
        if self.room.is_full() {
            self.make_room(shard).await?;
        }
        repaired
    }

    /// One round over every chore that is due now, whoever else does the same. Returns how many were
    /// done.
    pub async fn tidy(&self) -> Result<usize> {
        let mut done = 0;
        for number in 0..SHARDS {
            done += self.tidy_shard(&mut Shard::unshared(number)).await?;
        }
        Ok(done)
    }
}
