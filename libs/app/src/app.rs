//! The application: the services, made once over the ports, and the tasks behind them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trapline_store::{Clock, Ports, records};

use crate::{
    AccessControl, AnswerMemory, CpuPool, Inboxes, LiveUpdates, MailReceiver, Maintenance,
    MasterKey, Messages, Result, Settings, Supervisor,
    access::Logins,
    announce::{Remembered, follow_changes},
    forwarding,
    ids::Ids,
    inboxes::Retention,
    jobs::Jobs,
    leases::Leases,
    limits::Limits,
    mail,
    parts::Parts,
    receive::{ArrivalSubscriber, ReceiveUses},
    rows::Unreadable,
    secrets::Secrets,
    storage_room::StorageRoom,
    versions::Versions,
    webhooks,
};

/// Every use case is a method of one of its services.
pub struct App {
    /// What webhooks, forwarding and outbound mail use, which have no service of their own yet.
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) ids: Arc<Ids>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) limits: Limits,
    pub(crate) jobs: Jobs,
    pub(crate) leases: Leases,
    pub(crate) room: Arc<StorageRoom>,
    cpu: Arc<CpuPool>,
    shutdown: CancellationToken,
    pub(crate) access: Arc<AccessControl>,
    pub(crate) inboxes: Arc<Inboxes>,
    pub(crate) messages: Arc<Messages>,
    pub(crate) receive: MailReceiver,
    live: Arc<LiveUpdates>,
    maintenance: Maintenance,
    pub(crate) webhooks: webhooks::Shared,
    pub(crate) forwarding: forwarding::Shared,
    pub(crate) mail: mail::Shared,
    pub(crate) unreadable: Unreadable,
    answers: AnswerMemory,
    tasks: Supervisor,
}

impl App {
    /// Prepares the tables and starts the tasks behind the use cases; they end with `shutdown`, at
    /// which parked waits and streams end too.
    ///
    /// # Errors
    ///
    /// [`Error::WrongMasterKey`](crate::Error::WrongMasterKey) when secrets are there that this master
    /// key does not open.
    pub async fn start(
        ports: Ports,
        clock: Clock,
        settings: Settings,
        master: &MasterKey,
        shutdown: CancellationToken,
    ) -> Result<Arc<Self>> {
        ports.store.prepare(&records::TABLES).await?;
        let shared = Parts::new(ports, clock, settings, master, shutdown)?;
        let tasks = Supervisor::new(shared.shutdown.clone());
        let webhooks = webhooks::Shared::new(&shared.ports);
        let forwarding = forwarding::Shared::new(&shared.ports);
        let logins = Arc::new(Logins::new(&shared));
        let retention = Arc::new(Retention::new(&shared));
        let rules = Arc::new(forwarding::RuleRows::new(shared.ports.store.clone()));
        let access = Arc::new(AccessControl::new(&shared, logins.clone()));
        let inboxes = Arc::new(Inboxes::new(&shared, logins.clone(), retention.clone(), rules));
        let messages = Arc::new(Messages::new(&shared, inboxes.clone()));
        let subscribers: Vec<Arc<dyn ArrivalSubscriber>> =
            vec![webhooks.hooks.clone(), forwarding.rules.clone()];
        let uses = ReceiveUses {
            access: access.clone(),
            inboxes: inboxes.clone(),
            messages: messages.clone(),
            retention: retention.clone(),
            subscribers,
        };
        let remembered: Vec<Arc<dyn Remembered>> =
            vec![logins, webhooks.hooks.clone(), forwarding.rules.clone()];
        let app = Self {
            receive: MailReceiver::start(&shared, uses, &tasks),
            live: LiveUpdates::start(&shared, inboxes.clone(), messages.clone(), &tasks),
            maintenance: Maintenance::start(&shared, access.clone(), inboxes.clone(), &tasks),
            answers: AnswerMemory::new(shared.settings.answer_memory),
            mail: mail::Shared::default(),
            ports: shared.ports,
            clock: shared.clock,
            ids: shared.ids,
            secrets: shared.secrets,
            settings: shared.settings,
            limits: shared.limits,
            jobs: shared.jobs,
            leases: shared.leases,
            room: shared.room,
            cpu: shared.cpu,
            shutdown: shared.shutdown,
            access,
            inboxes,
            messages,
            webhooks,
            forwarding,
            unreadable: Unreadable::default(),
            tasks,
        };
        app.check_master_key().await?;
        app.start_tasks(retention, shared.versions, remembered);
        Ok(Arc::new(app))
    }

    /// Starts what goes on behind the services, beside what they started themselves.
    fn start_tasks(
        &self,
        retention: Arc<Retention>,
        versions: Arc<Versions>,
        remembered: Vec<Arc<dyn Remembered>>,
    ) {
        let shutdown = &self.shutdown;
        self.tasks.spawn("retention", retention.run(shutdown.clone()));
        self.tasks.spawn("versions", versions.run(shutdown.clone()));
        let changes = follow_changes(self.ports.bus.clone(), remembered);
        let shutdown = shutdown.clone();
        self.tasks.spawn("changes", async move {
            shutdown.run_until_cancelled(changes).await;
        });
    }

    /// Teams, API keys and credentials.
    #[must_use]
    pub fn access(&self) -> &AccessControl {
        &self.access
    }

    /// Inboxes and projects.
    #[must_use]
    pub fn inboxes(&self) -> &Inboxes {
        &self.inboxes
    }

    /// Messages of inboxes.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The receiving path.
    #[must_use]
    pub fn receive(&self) -> &MailReceiver {
        &self.receive
    }

    /// Event streams and waits.
    #[must_use]
    pub fn live(&self) -> &Arc<LiveUpdates> {
        &self.live
    }

    /// The janitor, housekeeping and health.
    #[must_use]
    pub fn maintenance(&self) -> &Maintenance {
        &self.maintenance
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Cancelled when the service shuts down; every stream and parked wait ends by it.
    #[must_use]
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Where work over messages runs that keeps a processor busy.
    #[must_use]
    pub fn cpu(&self) -> &CpuPool {
        &self.cpu
    }

    /// The memory that large bodies may take over all HTTP clients.
    #[must_use]
    pub fn answers(&self) -> &AnswerMemory {
        &self.answers
    }

    /// The tasks behind the use cases: what [`Supervisor::broken`] names does not work any more.
    #[must_use]
    pub fn tasks(&self) -> &Supervisor {
        &self.tasks
    }

    /// The time by the clock in use.
    #[must_use]
    pub fn now(&self) -> trapline_model::Time {
        self.clock.now()
    }
}
