//! The small parts that services share. Each service takes those that it may touch, once, when it is
//! made.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trapline_store::{Clock, Ports, Processes};

use crate::{
    AuditLog, CpuPool, FirstSteps, MasterKey, Result, Settings, heartbeats::Heartbeats, ids::Ids,
    inbox_versions::InboxVersions, jobs::Jobs, leases::Leases, limits::Limits, metrics,
    plans::Plans, read_marks::ReadMarks, rows::RowReader, secrets::Secrets,
    storage_room::StorageRoom,
};

/// One of each shared part, and the ports.
pub(crate) struct Parts {
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) ids: Arc<Ids>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) limits: Limits,
    pub(crate) plans: Arc<Plans>,
    pub(crate) jobs: Jobs,
    pub(crate) leases: Leases,
    pub(crate) room: Arc<StorageRoom>,
    pub(crate) versions: Arc<InboxVersions>,
    pub(crate) read_marks: ReadMarks,
    pub(crate) rows: RowReader,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) first_steps: Arc<FirstSteps>,
    pub(crate) heartbeats: Arc<Heartbeats>,
    pub(crate) cpu: Arc<CpuPool>,
    /// Cancelled when the service shuts down.
    pub(crate) shutdown: CancellationToken,
    /// Whether no other process stores anything.
    pub(crate) is_alone: bool,
}

impl Parts {
    /// # Errors
    ///
    /// [`Error::Crypto`](crate::Error::Crypto) when no key can be derived from the master key.
    pub(crate) fn new(
        ports: Ports,
        clock: Clock,
        settings: Settings,
        master: &MasterKey,
        shutdown: CancellationToken,
    ) -> Result<Self> {
        let ports = metrics::measured(ports);
        let (store, is_alone) = (ports.store.clone(), ports.processes == Processes::One);
        let settings = Arc::new(settings);
        let ids = Arc::new(Ids::new(clock.clone()));
        let rows = RowReader::new(store.clone());
        let (audit_ids, audit_rows) = (ids.clone(), rows.clone());
        Ok(Self {
            audit: Arc::new(AuditLog::new(store.clone(), clock.clone(), audit_ids, audit_rows)),
            first_steps: Arc::new(FirstSteps::new(store.clone(), clock.clone())),
            ids,
            plans: Arc::new(Plans::new(store.clone(), settings.clone())),
            secrets: Arc::new(Secrets::new(master)?),
            settings,
            limits: Limits::new(ports.limiter.clone()),
            jobs: Jobs::new(&ports, clock.clone()),
            leases: Leases::new(store.clone()),
            room: Arc::new(StorageRoom::new(store.clone())),
            versions: Arc::new(InboxVersions::new(ports.cache.clone())),
            read_marks: ReadMarks::new(store.clone()),
            rows,
            heartbeats: Arc::new(Heartbeats::new(store, clock.clone(), is_alone)),
            cpu: Arc::new(CpuPool::for_machine()?),
            ports,
            clock,
            shutdown,
            is_alone,
        })
    }
}
