//! The application: the ports, and what the use cases share.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use trapline_store::{Clock, Ports, records};

use crate::{
    AnswerMemory, CpuPool, MasterKey, Result, Settings, Supervisor,
    attempts::Attempts,
    catch_all::CatchAll,
    feed, forwarding,
    health::Beats,
    ids::Ids,
    logins,
    looks::Looks,
    mail,
    receive::{Announcer, Committer, Interested, Receiver},
    retention::Retention,
    room::Room,
    rows::Unreadable,
    secrets::Secrets,
    skew::Skew,
    streams::Streams,
    versions::Versions,
    webhooks,
    writers::Writers,
};

/// How long a process may rely on what it knows of a key or a login that another one may change.
const KNOWN_FOR: Duration = Duration::from_secs(5);
const KNOWN_AT_MOST: u64 = 10_000;

/// Every use case is a method of this.
pub struct App {
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) ids: Arc<Ids>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) settings: Settings,
    pub(crate) receiver: Receiver,
    pub(crate) retention: Arc<Retention>,
    pub(crate) room: Room,
    pub(crate) versions: Arc<Versions>,
    pub(crate) skew: Arc<Skew>,
    pub(crate) cpu: CpuPool,
    pub(crate) streams: Arc<Streams>,
    pub(crate) looks: Arc<Looks>,
    /// Changes when mail may be stored here that nobody announced.
    pub(crate) losses: watch::Receiver<u64>,
    pub(crate) beats: Beats,
    pub(crate) payloads: feed::Payloads,
    pub(crate) logins: Cache<String, Arc<records::Inbox>>,
    pub(crate) keys: Cache<String, Arc<records::ApiKeyByHash>>,
    pub(crate) attempts: Attempts,
    pub(crate) answers: AnswerMemory,
    pub(crate) key_uses: Cache<trapline_model::ApiKeyId, ()>,
    pub(crate) webhooks: webhooks::Shared,
    pub(crate) forwarding: forwarding::Shared,
    pub(crate) mail: mail::Shared,
    pub(crate) catch_all: CatchAll,
    pub(crate) unreadable: Unreadable,
    pub(crate) shutdown: CancellationToken,
    pub(crate) tasks: Supervisor,
}

impl App {
    /// Prepares the tables and starts the tasks behind the use cases; they end with `shutdown`, at
    /// which parked waits and streams end too. [`Error::WrongMasterKey`](crate::Error::WrongMasterKey)
    /// when secrets are there that this master key does not open.
    pub async fn start(
        ports: Ports,
        clock: Clock,
        settings: Settings,
        master: &MasterKey,
        shutdown: CancellationToken,
    ) -> Result<Arc<Self>> {
        ports.store.prepare(&records::TABLES).await?;
        let ids = Arc::new(Ids::new(clock.clone()));
        let versions = Arc::new(Versions::new(ports.cache.clone()));
        let retention = Arc::new(Retention::new(ports.clone(), clock.clone(), versions.clone()));
        let webhooks = webhooks::Shared::new(&ports);
        let forwarding = forwarding::Shared::new(&ports);
        let tasks = Supervisor::new(shutdown.clone());
        let streams = Streams::new(settings.max_streams, settings.max_streams_per_team);
        let losses = watch_writers(&ports, &clock, &streams, &tasks, &shutdown);
        let committer = Committer {
            ports: ports.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
            retention: retention.clone(),
            versions: versions.clone(),
            interested: Interested {
                hooks: webhooks.hooks.clone(),
                rules: forwarding.rules.clone(),
            },
            announcer: Announcer::new(ports.bus.clone()),
            in_flight: settings.groups_in_flight,
        };
        let app = Self {
            receiver: Receiver::start(committer, &tasks),
            secrets: Arc::new(Secrets::new(master)?),
            cpu: CpuPool::for_machine()?,
            looks: Looks::new(ports.store.clone(), streams.clone()),
            streams,
            losses,
            beats: Beats::default(),
            payloads: feed::Payloads::default(),
            logins: Cache::builder().max_capacity(KNOWN_AT_MOST).time_to_live(KNOWN_FOR).build(),
            keys: Cache::builder().max_capacity(KNOWN_AT_MOST).time_to_live(KNOWN_FOR).build(),
            attempts: Attempts::new(KNOWN_AT_MOST, KNOWN_FOR),
            answers: AnswerMemory::new(settings.answer_memory),
            key_uses: Cache::builder()
                .max_capacity(KNOWN_AT_MOST)
                .time_to_live(Duration::from_mins(1))
                .build(),
            webhooks,
            forwarding,
            mail: mail::Shared::default(),
            catch_all: CatchAll::new(KNOWN_FOR),
            unreadable: Unreadable::default(),
            skew: Arc::new(Skew::new(ports.store.clone(), clock.clone())),
            ports,
            clock,
            ids,
            settings,
            retention,
            room: Room::default(),
            versions,
            shutdown,
            tasks,
        };
        app.check_master_key().await?;
        app.start_tasks();
        Ok(Arc::new(app))
    }

    /// Starts what goes on behind the use cases, beside the committer.
    fn start_tasks(&self) {
        self.tasks.spawn("retention", self.retention.clone().run(self.shutdown.clone()));
        self.tasks.spawn("versions", self.versions.clone().run(self.shutdown.clone()));
        self.tasks.spawn("clock skew", self.skew.clone().run(self.shutdown.clone()));
        let (hooks, rules) = (self.webhooks.hooks.clone(), self.forwarding.rules.clone());
        let (bus, logins) = (self.ports.bus.clone(), self.logins.clone());
        let changes = logins::follow_changes(bus, logins, hooks, rules);
        let shutdown = self.shutdown.clone();
        self.tasks.spawn("changes", async move {
            shutdown.run_until_cancelled(changes).await;
        });
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

/// Starts watching the processes that store mail, where there are others than this one.
fn watch_writers(
    ports: &Ports,
    clock: &Clock,
    streams: &Arc<Streams>,
    tasks: &Supervisor,
    shutdown: &CancellationToken,
) -> watch::Receiver<u64> {
    let (losses, lost) = watch::channel(0);
    if !ports.queue.durable() {
        let (store, streams) = (ports.store.clone(), streams.clone());
        let writers = Writers { store, streams, clock: clock.clone(), losses };
        let shutdown = shutdown.clone();
        tasks.spawn("writers", async move {
            shutdown.run_until_cancelled(writers.run()).await;
        });
    }
    lost
}
