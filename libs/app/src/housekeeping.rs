//! Housekeeping jobs: what a request started and need not wait for.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, TeamId};
use trapline_store::{
    Job, Key, Lane, Op, When,
    records::{Inbox, InboxState, Mark, Message},
};

use crate::{App, Error, Result, janitor, jobs};

/// Longer than a process may rely on what it knows of a login: mail that one still took for the
/// inbox goes too.
const PURGE_AFTER: Duration = Duration::from_secs(10);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Work {
    /// Remove what an inbox held, once the inbox itself is gone.
    Purge {
        team: TeamId,
        inbox: InboxId,
        /// Its SMTP user name; jobs of older releases have none.
        #[serde(default)]
        username: Option<String>,
    },
}

/// Stores the job that removes the inbox's messages.
pub(crate) async fn schedule_purge(app: &App, inbox: &Inbox) -> Result<()> {
    let username = Some(inbox.username.clone());
    let work = Work::Purge { team: inbox.team, inbox: inbox.id, username };
    let due = app.now().after(PURGE_AFTER);
    let job = jobs::job(Lane::Housekeeping, format!("purge:{}", inbox.id), 1, work, due)?;
    Ok(app.schedule(&job).await?)
}

impl App {
    /// Does a job of [`Lane::Housekeeping`]. A purge conflicts for as long as the inbox is there: the
    /// request that deletes it stores this job first.
    pub async fn housekeep(&self, job: &Job) -> Result<()> {
        match jobs::work(job)? {
            Work::Purge { team, inbox, username } => {
                self.purge_deleted(team, inbox, username.as_deref()).await
            }
        }
    }

    pub(crate) async fn purge_deleted(
        &self,
        team: TeamId,
        inbox: InboxId,
        username: Option<&str>,
    ) -> Result<()> {
        if self.ports.store.get(&Inbox::row(inbox)).await?.is_some() {
            return Err(Error::Conflict);
        }
        // What a change at the same moment wrote again, or a crash left behind.
        self.remove_leftovers(team, inbox, username).await?;
        self.remove_rule(team, inbox).await?;
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
        self.mark_segments(inbox).await?;
        self.ports.store.write(ops).await?;
        self.changed(inbox).await;
        Ok(())
    }

    /// Plans a look at the segments of an inbox whose messages are about to be removed.
    pub(crate) async fn mark_segments(&self, inbox: InboxId) -> Result<()> {
        let store = &*self.ports.store;
        let segments = janitor::segments_in(store, inbox, None).await?;
        Ok(jobs::write_all(store, janitor::marks(&segments, self.now())?).await?)
    }
}
