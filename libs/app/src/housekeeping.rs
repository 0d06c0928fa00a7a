//! Housekeeping jobs: what a request started and need not wait for.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId};
use trapline_store::{
    Job, Key, Lane, Lease, Op, When,
    records::{Inbox, InboxState, Mark, Message},
};

use crate::{App, Error, Result, jobs, metrics};

/// Jobs taken at a time.
const AT_ONCE: usize = 16;
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(1);
/// The longest sleep between two looks at the lane, which is also how often the loop shows that
/// it lives.
const LOOK: Duration = Duration::from_secs(10);
const MAX_ATTEMPTS: u32 = 10;
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Longer than a process may rely on what it knows of a login: mail that one still took for the
/// inbox goes too.
const PURGE_AFTER: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    /// Remove what an inbox held, once the inbox itself is gone.
    Purge { team: TeamId, inbox: InboxId },
}

/// Stores the job that removes the inbox's messages.
pub(crate) async fn schedule_purge(app: &App, inbox: &Inbox) -> Result<()> {
    let work = Work::Purge { team: inbox.team, inbox: inbox.id };
    let due = app.now().after(PURGE_AFTER);
    let job = jobs::job(Lane::Housekeeping, format!("purge:{}", inbox.id), 1, work, due)?;
    Ok(app.schedule(&job).await?)
}

/// Works on the housekeeping lane until shutdown, and shows that it lives under `instance`.
pub async fn run_housekeeping(app: Arc<App>, instance: String) {
    let work = async {
        loop {
            app.beat("worker", &instance).await;
            app.housekeeping_round().await;
        }
    };
    app.shutdown.run_until_cancelled(work).await;
}

impl App {
    async fn housekeeping_round(&self) {
        match self.ports.queue.take(Lane::Housekeeping, AT_ONCE, LOOK).await {
            Ok(leases) => {
                for lease in leases {
                    self.housekeep(lease).await;
                }
            }
            Err(error) => {
                tracing::error!(%error, "the job queue does not answer");
                tokio::time::sleep(PAUSE_AFTER_FAULT).await;
            }
        }
    }

    async fn housekeep(&self, lease: Lease) {
        let outcome = match jobs::work(&lease.job) {
            Ok(Work::Purge { team, inbox }) => self.purge_deleted(team, inbox).await,
            Err(error) => {
                tracing::error!(%error, job.id = lease.job.id, "a job does not decode");
                Ok(())
            }
        };
        metrics::job_done(Lane::Housekeeping, outcome.is_ok());
        let ended = match outcome {
            Ok(()) => self.job_done(lease).await,
            Err(error) => self.try_again(lease, &error).await,
        };
        if let Err(error) = ended {
            tracing::warn!(%error, "a job's end was not stored; it will run again");
        }
    }

    async fn try_again(&self, lease: Lease, error: &Error) -> trapline_store::Result<()> {
        let Job { id, lane, attempt, .. } = &lease.job;
        if *attempt >= MAX_ATTEMPTS {
            tracing::error!(%error, job.id = id, "a job was given up");
            return self.job_done(lease).await;
        }
        tracing::warn!(%error, job.id = id, "a job is tried again");
        let due = self.now().after(RETRY_AFTER);
        let work: Work = jobs::work(&lease.job)?;
        let next = jobs::job(*lane, id.clone(), attempt + 1, work, due)?;
        self.job_again(lease, &next).await
    }

    async fn purge_deleted(&self, team: TeamId, inbox: InboxId) -> Result<()> {
        if self.ports.store.get(&Inbox::row(team, inbox)).await?.is_some() {
            return Err(Error::Conflict);
        }
        self.purge(inbox).await
    }

    /// Removes every row that an inbox held.
    pub(crate) async fn purge(&self, inbox: InboxId) -> Result<()> {
        let every = |row: fn(trapline_model::MessageId) -> Key| Op::DeleteUntil {
            until: row(trapline_model::MessageId { inbox, uuid: uuid::Uuid::max() }),
        };
        let mut ops = vec![every(Message::row), every(Mark::row)];
        let state = InboxState::row(inbox);
        if let Some(row) = self.ports.store.get(&state).await? {
            ops.push(Op::Delete { key: state, when: When::Version(row.version) });
        }
        self.ports.store.write(ops).await?;
        self.changed(inbox).await;
        Ok(())
    }
}
