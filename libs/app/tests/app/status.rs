//! Probes of the service's parts: outages that are really caused, and 90 days of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use trapline_app::{
    Error, InboxQuery, Incoming, PlanLimit, Probe, ProbeMail, QueueProbe, Status, StorageProbe,
};
use trapline_model::{
    Component, Envelope, Principal, ServiceState, ServiceStatus, StatusIncident, TeamId,
};
use trapline_store::{
    Job, Lane, PortError, Record, Result as PortResult, Row, Scan, Store,
    records::{CheckSample, Incident, UptimeDay, day_of},
};

use crate::{
    doubles::{LayeredStore, StoreLayer, as_in_a_cluster},
    support::Bench,
};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// Goes well as long as the test says so.
struct Switched(Component, AtomicBool);

impl Switched {
    fn new(component: Component) -> Arc<Self> {
        Arc::new(Self(component, AtomicBool::new(true)))
    }

    fn works(&self, works: bool) {
        self.1.store(works, Ordering::SeqCst);
    }
}

#[async_trait]
impl Probe for Switched {
    fn component(&self) -> Component {
        self.0
    }

    async fn take(&self) -> Result<(), String> {
        if self.1.load(Ordering::SeqCst) { Ok(()) } else { Err("as planned".to_owned()) }
    }
}

/// Does the jobs of probes, as workers do.
async fn do_probe_jobs(bench: &Bench) {
    for lease in bench.ports.queue.take(Lane::Housekeeping, 9, Duration::ZERO).await.unwrap() {
        bench.app.maintenance().housekeep(&lease.job).await.unwrap();
        bench.app.jobs().complete(lease).await.unwrap();
    }
}

fn inner_probes(status: &Arc<Status>) -> Vec<Arc<dyn Probe>> {
    vec![Arc::new(StorageProbe(status.clone())), Arc::new(QueueProbe(status.clone()))]
}

async fn rounds(bench: &Bench, probes: &[Arc<dyn Probe>], count: usize) {
    for _ in 0..count {
        bench.clock.advance(MINUTE);
        bench.app.status().take_probes("1", probes).await;
        do_probe_jobs(bench).await;
    }
}

fn state_of(report: &ServiceStatus, component: Component) -> ServiceState {
    report.components.iter().find(|it| it.id == component).unwrap().status
}

fn incidents_of(report: &ServiceStatus, component: Component) -> Vec<&StatusIncident> {
    report.incidents.iter().filter(|it| it.component == component).collect()
}

/// All states, in the order of the components.
fn states(report: &ServiceStatus) -> Vec<ServiceState> {
    report.components.iter().map(|it| it.status).collect()
}

async fn rows_of<R: Record>(bench: &Bench, limit: usize) -> usize {
    let mut rows = 0;
    for partition in bench.ports.store.partitions(R::TABLE).await.unwrap() {
        let scan =
            Scan { table: R::TABLE, partition, after: None, until: None, limit, keys_only: true };
        rows += bench.ports.store.scan(scan).await.unwrap().len();
    }
    rows
}

#[tokio::test]
async fn late_jobs_are_an_outage_until_they_are_done() {
    let bench = Bench::new().await;
    let probes = inner_probes(bench.app.status());
    rounds(&bench, &probes, 1).await;
    let report = bench.app.status().report().await;
    assert_eq!(report.status, ServiceState::Operational);
    let body = serde_json::json!({});
    let job = Job { id: "late".to_owned(), lane: Lane::Forward, attempt: 1, body };
    bench.ports.queue.publish(&job, None).await.unwrap();
    rounds(&bench, &probes, 6).await;
    let report = bench.app.status().report().await;
    assert_eq!(state_of(&report, Component::Queue), ServiceState::Degraded, "{report:?}");
    rounds(&bench, &probes, 3).await;
    let report = bench.app.status().report().await;
    let backlog = report.backlog.unwrap();
    assert_eq!((backlog.pending, backlog.overdue, backlog.oldest_seconds), (1, 1, 9 * 60));
    assert_eq!(state_of(&report, Component::Queue), ServiceState::Outage);
    assert_eq!(incidents_of(&report, Component::Queue)[0].resolved_at, None);
    assert_eq!(report.status, ServiceState::Outage);
    let lease = bench.ports.queue.take(Lane::Forward, 1, Duration::ZERO).await.unwrap();
    for lease in lease {
        bench.ports.queue.finish(lease).await.unwrap();
    }
    rounds(&bench, &probes, 3).await;
    let report = bench.app.status().report().await;
    assert_eq!(report.status, ServiceState::Operational);
    let ended = incidents_of(&report, Component::Queue);
    assert_eq!(ended.len(), 1);
    let lasted = ended[0].resolved_at.unwrap().since(ended[0].started_at);
    assert_eq!(lasted, 4 * MINUTE, "from the first failure to the first success");
    let queue = report.components.iter().find(|it| it.id == Component::Queue).unwrap();
    assert_eq!(queue.uptime90d, Some(69.23), "9 of 13");
    assert_eq!(queue.days.len(), 90);
    assert_eq!(queue.days[89].uptime, Some(69.23));
    assert_eq!(queue.days[89].date, "2027-01-15");
    assert_eq!(queue.days[0].uptime, None);
}

/// Answers nothing while it is away.
struct Outage {
    store: Arc<dyn Store>,
    is_away: Arc<AtomicBool>,
}

#[async_trait]
impl StoreLayer for Outage {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn scan(&self, scan: Scan) -> PortResult<Vec<Row>> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(PortError::Unavailable("as planned".into()));
        }
        self.inner().scan(scan).await
    }

    async fn write(&self, ops: Vec<trapline_store::Op>) -> PortResult<()> {
        if self.is_away.load(Ordering::SeqCst) {
            return Err(PortError::Unavailable("as planned".into()));
        }
        self.inner().write(ops).await
    }
}

#[tokio::test]
async fn an_outage_of_the_store_is_told_meanwhile_and_recorded_afterwards() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = is_away.clone();
    let bench = Bench::with(|ports| {
        ports.store = Arc::new(LayeredStore(Outage { store: ports.store.clone(), is_away: away }));
    })
    .await;
    let probes = inner_probes(bench.app.status());
    bench.app.status().probe_mail().await.unwrap();
    rounds(&bench, &probes, 1).await;
    is_away.store(true, Ordering::SeqCst);
    let report = bench.app.status().report().await;
    assert_eq!(state_of(&report, Component::Storage), ServiceState::Outage, "at once");
    rounds(&bench, &probes, 4).await;
    assert_eq!(bench.app.status().report().await.status, ServiceState::Outage);
    is_away.store(false, Ordering::SeqCst);
    rounds(&bench, &probes, 3).await;
    let report = bench.app.status().report().await;
    assert_eq!(state_of(&report, Component::Storage), ServiceState::Operational);
    let [incident] = incidents_of(&report, Component::Storage)[..] else { panic!("{report:?}") };
    assert_eq!(incident.resolved_at.unwrap().since(incident.started_at), 4 * MINUTE);
    // Another process reads what this one wrote.
    let another = bench.another_process().await.status().report().await;
    assert_eq!(another.incidents, report.incidents);
}

/// What the SMTP edge does with the mail of a probe.
async fn deliver(bench: &Bench, mail: &ProbeMail) -> trapline_model::MessageId {
    let target = bench.app.receive().route(&mail.recipient).await.unwrap().unwrap();
    let raw = format!("Subject: Probe\r\n\r\n{}\r\n", mail.token.clone().unwrap());
    let envelope = Envelope { from: String::new(), to: vec![mail.recipient.clone()] };
    let mail = Incoming { targets: vec![target], envelope, raw: raw.into() };
    bench.app.receive().deliver(mail).await.unwrap()[0]
}

#[tokio::test]
async fn the_mail_of_a_probe_is_nobodys_and_few_are_kept() {
    let bench = Bench::new().await;
    let status = bench.app.status();
    for round in 0..6 {
        let mail = status.probe_mail().await.unwrap();
        let id = deliver(&bench, &mail).await;
        let other = status.mail_returned(id, "another token").await.unwrap_err();
        assert!(matches!(other, Error::Damaged(_)), "{other}");
        status.mail_returned(id, mail.token.as_deref().unwrap()).await.unwrap();
        let hidden = bench.app.messages().get(&bench.by, id).await.unwrap_err();
        assert!(matches!(hidden, Error::NotFound), "{hidden}");
        // Between two mails, a process that is alone asks only whether one would be taken.
        assert_eq!(status.probe_mail().await.unwrap().token, None, "{round}");
        bench.clock.advance(Duration::from_mins(10));
    }
    let of_team = bench.app.inboxes().list(&bench.by, &InboxQuery::default()).await.unwrap();
    assert_eq!(of_team.inboxes.len(), 1, "the default one");
    let service = Principal::system(TeamId::SERVICE);
    let own = bench.app.inboxes().list(&service, &InboxQuery::default()).await.unwrap();
    assert_eq!(own.inboxes.len(), 1);
    assert!(own.inboxes[0].message_count <= 3, "{:?}", own.inboxes[0]);
}

#[tokio::test]
async fn ninety_days_are_shown_from_a_bounded_number_of_rows() {
    const A_DAY: u32 = 4;
    let bench = Bench::new().await;
    let smtp = Switched::new(Component::Smtp);
    let probes: Vec<Arc<dyn Probe>> = vec![smtp.clone(), Switched::new(Component::Api)];
    // The last sample of a day is a minute before its end.
    bench.clock.advance(Duration::from_mins(15 * 60 + 59));
    for day in 0..130 {
        // Every tenth day is bad, which ends with the third success of the next one.
        smtp.works(day % 10 != 9);
        for _ in 0..A_DAY {
            bench.clock.advance(DAY / A_DAY);
            bench.app.status().take_probes("1", &probes).await;
        }
    }
    let report = bench.app.status().report().await;
    let smtp = &report.components[0];
    assert_eq!(smtp.days.len(), 90);
    assert_eq!(smtp.days.iter().filter(|day| day.uptime == Some(0.0)).count(), 9);
    assert_eq!(smtp.uptime90d, Some(90.0));
    assert_eq!(report.components[1].uptime90d, Some(100.0));
    assert_eq!(report.incidents.len(), 10, "the last one goes on, the first one just ended");
    assert!(report.incidents.is_sorted_by(|a, b| a.started_at >= b.started_at));
    let days = rows_of::<UptimeDay>(&bench, 1_000).await;
    assert!((2 * 90..=2 * 101).contains(&days), "{days}");
    assert_eq!(rows_of::<Incident>(&bench, 1_000).await, 13);
    assert_eq!(rows_of::<CheckSample>(&bench, 1_000).await, 0, "in memory");
}

/// One process at a time has a component, the next goes on where it stopped, and samples leave.
#[tokio::test]
async fn processes_take_turns_and_forget_no_sample() {
    let bench = Bench::with(as_in_a_cluster).await;
    let another = bench.another_process().await;
    let probe = Switched::new(Component::Smtp);
    let probes: Vec<Arc<dyn Probe>> = vec![probe.clone()];
    let (one, two) = (bench.app.status(), another.status());
    let both = async || {
        bench.clock.advance(MINUTE);
        one.take_probes("1", &probes).await;
        two.take_probes("2", &probes).await;
    };
    both().await;
    probe.works(false);
    both().await;
    both().await;
    let taken = async || {
        let newest = UptimeDay::newest(Component::Smtp, 1);
        let rows = bench.ports.store.scan(newest).await.unwrap();
        let day = UptimeDay::of(&rows[0]).unwrap();
        (day.taken, day.failed)
    };
    assert_eq!(taken().await, (3, 2), "by one of them");
    // The first one dies: its lease runs out, and the second has the third failure.
    bench.clock.advance(4 * MINUTE);
    two.take_probes("2", &probes).await;
    assert_eq!(taken().await, (4, 3));
    let report = another.status().report().await;
    assert_eq!(report.incidents.iter().filter(|it| it.component == Component::Smtp).count(), 1);
    // What the first one says next counts for nothing: it takes no probe.
    one.take_probes("1", &probes).await;
    assert_eq!(taken().await, (4, 3));
    // Samples go after three days.
    for _ in 0..10 {
        bench.clock.advance(DAY / 2);
        two.take_probes("2", &probes).await;
    }
    let samples = bench
        .ports
        .store
        .scan(CheckSample::of_day(Component::Smtp, day_of(bench.clock.now().before(4 * DAY))));
    assert!(samples.await.unwrap().is_empty());
}

#[tokio::test]
async fn a_role_without_a_process_is_down() {
    let bench = Bench::with(as_in_a_cluster).await;
    let status = bench.app.status();
    let beat = async |role| bench.app.maintenance().beat(role, "x").await;
    for minute in 0..4 {
        bench.clock.advance(MINUTE);
        beat("api").await;
        beat("worker").await;
        status.take_probes("worker", &[]).await;
        let report = status.report().await;
        let smtp = state_of(&report, Component::Smtp);
        let wanted = if minute < 2 { ServiceState::Degraded } else { ServiceState::Outage };
        assert_eq!(smtp, wanted, "{minute}");
        assert_eq!(states(&report)[1..], [ServiceState::Operational; 4], "others see to these");
    }
    // A process of the role comes, and takes over with its own probe.
    let smtp: Vec<Arc<dyn Probe>> = vec![Switched::new(Component::Smtp)];
    beat("smtp").await;
    status.take_probes("worker", &[]).await;
    let another = bench.another_process().await;
    for _ in 0..3 {
        bench.clock.advance(MINUTE);
        another.status().take_probes("smtp", &smtp).await;
    }
    let report = another.status().report().await;
    assert_eq!(state_of(&report, Component::Smtp), ServiceState::Operational);
    assert!(incidents_of(&report, Component::Smtp)[0].resolved_at.is_some());
}

/// A process of the API sees that the storage works, whatever became of the workers.
#[tokio::test]
async fn the_end_of_the_workers_is_no_outage_of_the_storage() {
    let bench = Bench::with(as_in_a_cluster).await;
    let status = bench.app.status();
    let probes: Vec<Arc<dyn Probe>> = vec![Switched::new(Component::Storage)];
    for _ in 0..4 {
        bench.clock.advance(MINUTE);
        for role in ["api", "smtp"] {
            bench.app.maintenance().beat(role, "x").await;
        }
        // A process of SMTP does not tell of what one of the API sees to.
        status.take_probes("smtp", &[]).await;
        status.take_probes("api", &probes).await;
    }
    let report = status.report().await;
    assert_eq!(state_of(&report, Component::Storage), ServiceState::Operational);
    assert_eq!(state_of(&report, Component::Queue), ServiceState::Outage);
    assert!(incidents_of(&report, Component::Storage).is_empty());
}

/// The default plan of an installation bounds teams, and no probe.
#[tokio::test]
async fn the_operators_plans_do_not_bound_probes() {
    let bench = Bench::new().await;
    let plan = bench.app.plans().of(TeamId::SERVICE).await.unwrap();
    assert!(PlanLimit::ALL.into_iter().all(|limit| plan.most(limit).is_none()), "{plan:?}");
}
