//! The lease of a backup: one at a time, and while it is held the janitor of a cluster keeps segments.

use std::time::Duration;

use trapline_model::Time;
use trapline_store::{Clock, Op, PortError, Record as _, Store, When, load, records::WorkLease};
use uuid::{NoContext, Timestamp, Uuid};

use crate::{BackupError, error::ArchiveResult};

/// How long the lease outlives a backup that was killed.
const TTL: Duration = Duration::from_mins(2);
const RENEWAL: Duration = Duration::from_secs(20);

/// The lease, held by this process.
pub(crate) struct BackupLease<'a> {
    store: &'a dyn Store,
    clock: &'a Clock,
    holder: String,
    renewed: Time,
}

impl<'a> BackupLease<'a> {
    /// Takes the lease, unless another process has it.
    pub(crate) async fn take(store: &'a dyn Store, clock: &'a Clock) -> ArchiveResult<Self> {
        let now = clock.now();
        let mut lease = Self { store, clock, holder: holder(now), renewed: now };
        lease.write(When::Absent).await?;
        Ok(lease)
    }

    /// Renews the lease when that is due.
    pub(crate) async fn renew(&mut self) -> ArchiveResult<()> {
        if self.clock.now().since(self.renewed) < RENEWAL {
            return Ok(());
        }
        match load::<WorkLease>(self.store, &WorkLease::row(WorkLease::BACKUP)).await? {
            Some((found, version)) if found.holder == self.holder => {
                self.write(When::Version(version)).await
            }
            // The process stood still for longer than the lease, and segments may be gone.
            _ => Err(BackupError::Busy),
        }
    }

    /// Lets the janitor and other backups go on.
    pub(crate) async fn release(self) -> ArchiveResult<()> {
        let key = WorkLease::row(WorkLease::BACKUP);
        match load::<WorkLease>(self.store, &key).await? {
            Some((found, version)) if found.holder == self.holder => {
                let delete = Op::Delete { key, when: When::Version(version) };
                Ok(self.store.write(vec![delete]).await?)
            }
            _ => Err(BackupError::Busy),
        }
    }

    async fn write(&mut self, when: When) -> ArchiveResult<()> {
        let lease = WorkLease { name: WorkLease::BACKUP.to_owned(), holder: self.holder.clone() };
        let put = Op::Put { key: lease.key(), doc: lease.doc()?, ttl: Some(TTL), when };
        match self.store.write(vec![put]).await {
            Ok(()) => {
                self.renewed = self.clock.now();
                Ok(())
            }
            Err(PortError::Conflict) => Err(BackupError::Busy),
            Err(error) => Err(error.into()),
        }
    }
}

/// A name that no other holder has.
fn holder(now: Time) -> String {
    let seconds = u64::try_from(now.millis() / 1000).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, 0)).to_string()
}
