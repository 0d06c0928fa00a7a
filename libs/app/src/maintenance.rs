//! Maintenance: what the service does for itself. The janitor, housekeeping jobs, and health. It uses
//! access, inboxes, identity providers and mocks, and nothing uses it.

mod health;
mod janitor;
mod skew;
mod team_removal;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trapline_store::{Blobs, Clock, Intake, Job, Queue, Store, records::WorkLease};

use crate::{
    Result, Supervisor,
    access::AccessControl,
    heartbeats::Heartbeats,
    idps::Idps,
    ids::Ids,
    inboxes::Inboxes,
    jobs::{self, HousekeepingWork, Jobs},
    leases::Leases,
    mocks::Mocks,
    parts::Parts,
    storage_room::StorageRoom,
};
pub use health::Health;
use skew::ClockSkew;

/// The janitor, housekeeping and health.
pub struct Maintenance {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    blobs: Arc<dyn Blobs>,
    intake: Arc<dyn Intake>,
    clock: Clock,
    ids: Arc<Ids>,
    room: Arc<StorageRoom>,
    heartbeats: Arc<Heartbeats>,
    jobs: Jobs,
    skew: Arc<ClockSkew>,
    /// Overdue jobs at which the deep health check fails.
    max_overdue_jobs: u64,
    shutdown: CancellationToken,
    /// Whether no other process stores anything. The store is one database then; what that
    /// gives is named below.
    is_alone: bool,
    access: Arc<AccessControl>,
    inboxes: Arc<Inboxes>,
    idps: Arc<Idps>,
    mocks: Arc<Mocks>,
    leases: Leases,
}

impl Maintenance {
    /// Also starts measuring how far this machine's clock is from the store's.
    pub(crate) fn start(
        parts: &Parts,
        (access, inboxes, idps, mocks): (Arc<AccessControl>, Arc<Inboxes>, Arc<Idps>, Arc<Mocks>),
        tasks: &Supervisor,
    ) -> Self {
        let skew = Arc::new(ClockSkew::new(parts.ports.store.clone(), parts.clock.clone()));
        tasks.spawn("clock skew", skew.clone().run(parts.shutdown.clone()));
        Self {
            store: parts.ports.store.clone(),
            queue: parts.ports.queue.clone(),
            blobs: parts.ports.blobs.clone(),
            intake: parts.ports.intake.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            room: parts.room.clone(),
            heartbeats: parts.heartbeats.clone(),
            jobs: parts.jobs.clone(),
            skew,
            max_overdue_jobs: parts.settings.max_overdue_jobs,
            shutdown: parts.shutdown.clone(),
            is_alone: parts.is_alone,
            access,
            inboxes,
            idps,
            mocks,
            leases: parts.leases.clone(),
        }
    }

    /// Does a job of [`Lane::Housekeeping`](crate::Lane::Housekeeping). Returns the one that goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`](crate::Error::Conflict) for as long as the inbox, provider or team is there that was to
    /// be removed: the request that deletes it stores this job first.
    pub async fn housekeep(&self, job: &Job) -> Result<Option<Job>> {
        match jobs::work(job)? {
            HousekeepingWork::Purge { team, inbox, username } => {
                self.inboxes.purge_deleted(team, inbox, username.as_deref()).await.map(|()| None)
            }
            HousekeepingWork::RemoveIdp { team, idp, slug, epoch } => {
                self.idps.remove_deleted(team, idp, &slug, epoch).await.map(|()| None)
            }
            HousekeepingWork::RemoveTeam { team, is_last } => {
                self.remove_some_of_team(team, is_last).await
            }
            HousekeepingWork::RemoveMock { of } => {
                let is_more = self.mocks.remove_some(of).await?;
                let next = || jobs::mock_removal(of, self.clock.now());
                Ok(is_more.then(next).transpose()?)
            }
            HousekeepingWork::TrimMock { of, provider } => {
                self.mocks.trim(of, &provider).await.map(|()| None)
            }
            HousekeepingWork::Probe => self.heartbeats.record_probe(job).await.map(|()| None),
        }
    }

    /// Whether rows of several partitions are written in one commit, all or none.
    fn commits_partitions_together(&self) -> bool {
        self.is_alone
    }

    /// Whether a backup is under way, for which segments stay that it has still to read. One process is
    /// backed up from a copy.
    async fn backup_is_running(&self) -> Result<bool> {
        if self.is_alone {
            return Ok(false);
        }
        let lease = WorkLease::row(WorkLease::BACKUP);
        Ok(self.store.get(&lease).await?.is_some())
    }

    /// Whether removed rows are gone at once. Elsewhere their tombstones are read for hours.
    fn forgets_removed_rows(&self) -> bool {
        self.is_alone
    }

    /// Whether a segment and the rows of its messages are written in one commit. Elsewhere rows of a young
    /// segment may be still to come.
    fn commits_bytes_with_rows(&self) -> bool {
        self.is_alone
    }
}
