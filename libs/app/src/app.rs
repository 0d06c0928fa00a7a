//! The application: the services, made once over the ports, and the tasks behind them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trapline_store::{Clock, Ports, records};

use crate::{
    AccessControl, Arrivals, AuditLog, BodyMemory, Checks, CpuPool, FirstSteps, Forwarding, Idps,
    Inboxes, Installation, Jobs, LiveUpdates, MailReceiver, Maintenance, MasterKey, Messages,
    Mocks, OutboundMail, People, Plans, Result, Settings, SingleSignOn, Status, Supervisor,
    TeamUsage, Teams, Upgrades, Webhooks,
    access::Logins,
    announce::{LocalCache, follow_invalidations},
    forwarding::RuleRows,
    inboxes::Retention,
    parts::Parts,
    receive::ReceiveUses,
    teams::TeamServices,
};

/// Every use case is a method of one of its services.
pub struct App {
    parts: Parts,
    access: Arc<AccessControl>,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    checks: Checks,
    usage: Arc<TeamUsage>,
    receive: Arc<MailReceiver>,
    live: Arc<LiveUpdates>,
    outbound_mail: Arc<OutboundMail>,
    people: Arc<People>,
    teams: Teams,
    sso: SingleSignOn,
    webhooks: Arc<Webhooks>,
    mocks: Arc<Mocks>,
    forwarding: Arc<Forwarding>,
    idps: Arc<Idps>,
    maintenance: Maintenance,
    status: Arc<Status>,
    arrivals: Arrivals,
    installation: Installation,
    upgrades: Arc<Upgrades>,
    body_memory: BodyMemory,
    mock_memory: BodyMemory,
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
        let SharedServices { logins, retention, access, inboxes, messages, outbound_mail, people } =
            SharedServices::new(&shared)?;
        let checks = Checks::new(&shared, inboxes.clone(), messages.clone());
        let usage = Arc::new(TeamUsage::new(&shared, inboxes.clone()));
        let uses = TeamServices {
            access: access.clone(),
            mail: outbound_mail.clone(),
            people: people.clone(),
        };
        let teams = Teams::new(&shared, uses);
        let sso = SingleSignOn::new(&shared, people.clone());
        let webhooks = Arc::new(Webhooks::new(&shared, inboxes.clone()));
        let mocks = Arc::new(Mocks::new(&shared, webhooks.clone()));
        let forwarding =
            Forwarding::new(&shared, inboxes.clone(), messages.clone(), outbound_mail.clone());
        let forwarding = Arc::new(forwarding);
        let idps = Arc::new(Idps::start(&shared, access.clone(), &tasks));
        let uses = ReceiveUses {
            access: access.clone(),
            inboxes: inboxes.clone(),
            messages: messages.clone(),
            usage: usage.clone(),
            retention: retention.clone(),
            subscribers: vec![webhooks.clone(), forwarding.cache().clone()],
        };
        let receive = Arc::new(MailReceiver::start(&shared, uses, &tasks));
        let upgrades = Arc::new(Upgrades::new(&shared, access.clone(), webhooks.clone()));
        let installation = Installation::new(
            &shared,
            access.clone(),
            inboxes.clone(),
            receive.clone(),
            people.clone(),
            upgrades.clone(),
        );
        let remembered: Vec<Arc<dyn LocalCache>> =
            vec![logins, webhooks.cache().clone(), forwarding.cache().clone()];
        let cleaned = (access.clone(), inboxes.clone(), idps.clone(), mocks.clone());
        let app = Self {
            live: LiveUpdates::start(&shared, inboxes.clone(), messages.clone(), &tasks),
            maintenance: Maintenance::start(&shared, cleaned, &tasks),
            status: Arc::new(Status::new(&shared, inboxes.clone(), messages.clone())),
            arrivals: Arrivals::new(shared.jobs.clone(), webhooks.clone(), forwarding.clone()),
            body_memory: BodyMemory::new(shared.settings.answer_memory),
            mock_memory: BodyMemory::new(shared.settings.mock_memory),
            parts: shared,
            access,
            inboxes,
            messages,
            checks,
            usage,
            receive,
            outbound_mail,
            people,
            teams,
            sso,
            webhooks,
            mocks,
            forwarding,
            idps,
            installation,
            upgrades,
            tasks,
        };
        app.installation.check_master_key().await?;
        app.start_tasks(retention, remembered);
        Ok(Arc::new(app))
    }

    /// Starts what goes on behind the services, beside what they started themselves.
    fn start_tasks(&self, retention: Arc<Retention>, remembered: Vec<Arc<dyn LocalCache>>) {
        let shutdown = &self.parts.shutdown;
        self.tasks.spawn("retention", retention.run(shutdown.clone()));
        self.tasks.spawn("versions", self.parts.versions.clone().run(shutdown.clone()));
        self.tasks.spawn("usage", self.usage.clone().run(shutdown.clone()));
        let changes = follow_invalidations(self.parts.ports.bus.clone(), remembered);
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

    /// Checks of messages.
    #[must_use]
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// What teams use.
    #[must_use]
    pub fn usage(&self) -> &TeamUsage {
        &self.usage
    }

    /// Which plan each team is on.
    #[must_use]
    pub fn plans(&self) -> &Plans {
        &self.parts.plans
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

    /// Mail that the service itself sends.
    #[must_use]
    pub fn outbound_mail(&self) -> &OutboundMail {
        &self.outbound_mail
    }

    /// People, their sessions and one-time links.
    #[must_use]
    pub fn people(&self) -> &People {
        &self.people
    }

    /// Teams: their people, and who is invited.
    #[must_use]
    pub fn teams(&self) -> &Teams {
        &self.teams
    }

    /// Single sign-on of teams.
    #[must_use]
    pub fn sso(&self) -> &SingleSignOn {
        &self.sso
    }

    /// Webhooks and their deliveries.
    #[must_use]
    pub fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    /// Mocks of other providers' APIs.
    #[must_use]
    pub fn mocks(&self) -> &Mocks {
        &self.mocks
    }

    /// Forwarding of messages to confirmed addresses.
    #[must_use]
    pub fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    /// Mock identity providers.
    #[must_use]
    pub fn idps(&self) -> &Arc<Idps> {
        &self.idps
    }

    /// The janitor, housekeeping and health.
    #[must_use]
    pub fn maintenance(&self) -> &Maintenance {
        &self.maintenance
    }

    /// Probes of the service's parts, and what they found.
    #[must_use]
    pub fn status(&self) -> &Arc<Status> {
        &self.status
    }

    /// The jobs of arrived mail.
    #[must_use]
    pub fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    /// Who changed what.
    #[must_use]
    pub fn audit(&self) -> &AuditLog {
        &self.parts.audit
    }

    /// How far teams got in their first steps.
    #[must_use]
    pub fn first_steps(&self) -> &FirstSteps {
        &self.parts.first_steps
    }

    /// The queue of jobs, as job loops see it.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.parts.jobs
    }

    /// What the first start makes, and every start checks.
    #[must_use]
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// The moves of rows of earlier releases.
    #[must_use]
    pub fn upgrades(&self) -> &Upgrades {
        &self.upgrades
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// Cancelled when the service shuts down; every stream and parked wait ends by it.
    #[must_use]
    pub fn shutdown(&self) -> &CancellationToken {
        &self.parts.shutdown
    }

    /// Where work over messages runs that keeps a processor busy.
    #[must_use]
    pub fn cpu(&self) -> &CpuPool {
        &self.parts.cpu
    }

    /// The bound on the memory of large bodies over all HTTP clients.
    #[must_use]
    pub fn body_memory(&self) -> &BodyMemory {
        &self.body_memory
    }

    /// The bound on the memory of requests to mocks over all clients.
    #[must_use]
    pub fn mock_memory(&self) -> &BodyMemory {
        &self.mock_memory
    }

    /// The tasks behind the use cases: what [`Supervisor::first_failure`] names does not work any more.
    #[must_use]
    pub fn tasks(&self) -> &Supervisor {
        &self.tasks
    }

    /// The time by the clock in use.
    #[must_use]
    pub fn now(&self) -> trapline_model::Time {
        self.parts.clock.now()
    }
}

/// The services that most others use.
struct SharedServices {
    logins: Arc<Logins>,
    retention: Arc<Retention>,
    access: Arc<AccessControl>,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    outbound_mail: Arc<OutboundMail>,
    people: Arc<People>,
}

impl SharedServices {
    fn new(shared: &Parts) -> Result<Self> {
        let logins = Arc::new(Logins::new(shared));
        let retention = Arc::new(Retention::new(shared));
        let rules = Arc::new(RuleRows::new(shared.ports.store.clone()));
        let access = Arc::new(AccessControl::new(shared, logins.clone()));
        let inboxes = Arc::new(Inboxes::new(shared, logins.clone(), retention.clone(), rules));
        let messages = Arc::new(Messages::new(shared, inboxes.clone()));
        let outbound_mail = Arc::new(OutboundMail::new(shared));
        let people = Arc::new(People::new(shared, access.clone(), outbound_mail.clone())?);
        Ok(Self { logins, retention, access, inboxes, messages, outbound_mail, people })
    }
}
