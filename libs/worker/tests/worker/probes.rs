//! Probes whose jobs a worker really does, and outages that are really caused.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::task::JoinHandle;
use trapline_app::{
    Probe, QueueProbe, WebhookOutcome, WebhookProbe, WebhookRequest, WebhookSender,
};
use trapline_model::{Component, ServiceState, ServiceStatus, StatusIncident};
use trapline_store::{JobDelivery, Ports, Processes};
use trapline_worker::{
    Housekeeping, HttpWebhookSender, JobHandler, WebhookDeliveries,
    outbound::{Client, Guard, GuardOptions},
};

use crate::bench::Bench;

const MINUTE: Duration = Duration::from_mins(1);

fn alone(_: &mut Ports) {}

fn among_others(ports: &mut Ports) {
    ports.job_delivery = JobDelivery::ThroughOutbox;
    ports.processes = Processes::Many;
}

/// Takes the probes, a minute after the last ones.
async fn round(bench: &Bench) -> ServiceStatus {
    let status = bench.app.status();
    let probes: [Arc<dyn Probe>; 2] =
        [Arc::new(QueueProbe(status.clone())), Arc::new(WebhookProbe(status.clone()))];
    bench.clock.advance(MINUTE);
    status.take_probes("1", &probes).await;
    status.report().await
}

/// Takes them until both components are so; a process that is alone puts a job through the queue once
/// in ten minutes.
async fn until(bench: &Bench, queue: ServiceState, webhooks: ServiceState) -> ServiceStatus {
    for _ in 0..20 {
        let report = round(bench).await;
        let states = (part(&report, Component::Queue).0, part(&report, Component::Webhooks).0);
        if states == (queue, webhooks) {
            return report;
        }
    }
    panic!("{:?}", bench.app.status().report().await.incidents)
}

fn part(report: &ServiceStatus, component: Component) -> (ServiceState, Option<f64>) {
    let part = report.components.iter().find(|it| it.id == component).unwrap();
    (part.status, part.uptime90d)
}

/// The incidents of the queue and of webhooks, of which there are so many.
fn incidents<const N: usize>(report: &ServiceStatus) -> [&StatusIncident; N] {
    let of = |it: &&StatusIncident| matches!(it.component, Component::Queue | Component::Webhooks);
    report.incidents.iter().filter(of).collect::<Vec<_>>().try_into().unwrap()
}

/// The real sender, while it can open connections.
struct Sender(HttpWebhookSender, AtomicBool);

impl Sender {
    fn new() -> Arc<Self> {
        // What users may call has nothing to do with it.
        let guard = Guard::new(GuardOptions::default());
        let client = Client::new(guard.clone(), &[]).unwrap();
        let sender = HttpWebhookSender::new(guard, client, Duration::from_secs(5));
        Arc::new(Self(sender, AtomicBool::new(true)))
    }
}

#[async_trait]
impl WebhookSender for Sender {
    fn check(&self, url: &trapline_worker::outbound::Url) -> Result<(), String> {
        self.0.check(url)
    }

    async fn send(&self, request: &WebhookRequest) -> WebhookOutcome {
        self.0.send(request).await
    }

    async fn call_probe_receiver(&self, request: &WebhookRequest) -> Result<(), String> {
        if self.1.load(Ordering::SeqCst) {
            self.0.call_probe_receiver(request).await
        } else {
            Err("no connection can be opened".to_owned())
        }
    }
}

fn housekeeping(bench: &Bench) -> JoinHandle<()> {
    bench.start(Arc::new(Housekeeping::new(bench.app.clone())))
}

fn webhooks(bench: &Bench, sender: &Arc<Sender>) -> JoinHandle<()> {
    let handler: Arc<dyn JobHandler> =
        Arc::new(WebhookDeliveries::new(bench.app.clone(), sender.clone()));
    bench.start(handler)
}

async fn gone(lane: JoinHandle<()>) {
    lane.abort();
    assert!(lane.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_lane_whose_jobs_nobody_does_is_an_outage_until_they_are_done() {
    use ServiceState::{Operational, Outage};
    for mode in [alone, among_others] {
        let bench = Bench::with(mode).await;
        let sender = Sender::new();
        let (lane, calls) = (housekeeping(&bench), webhooks(&bench, &sender));
        for _ in 0..4 {
            let well = round(&bench).await;
            for component in [Component::Queue, Component::Webhooks] {
                assert_eq!(part(&well, component), (Operational, Some(100.0)));
            }
        }
        gone(lane).await;
        let down = until(&bench, Outage, Operational).await;
        assert_eq!(part(&down, Component::Webhooks).1, Some(100.0));
        let lane = housekeeping(&bench);
        until(&bench, Operational, Operational).await;
        gone(calls).await;
        until(&bench, Operational, Outage).await;
        let calls = webhooks(&bench, &sender);
        let again = until(&bench, Operational, Operational).await;
        let incidents = incidents(&again);
        assert_eq!(
            incidents.map(|incident| incident.component),
            [Component::Webhooks, Component::Queue]
        );
        assert!(incidents.iter().all(|incident| incident.resolved_at.is_some()));
        let uptime = part(&again, Component::Queue).1.unwrap();
        assert!(uptime > 0.0 && uptime < 100.0, "{uptime}");
        gone(lane).await;
        gone(calls).await;
    }
}

#[tokio::test]
async fn a_process_that_can_call_nobody_is_an_outage_of_webhooks_alone() {
    use ServiceState::{Operational, Outage};
    let bench = Bench::with(among_others).await;
    let sender = Sender::new();
    let (lane, calls) = (housekeeping(&bench), webhooks(&bench, &sender));
    until(&bench, Operational, Operational).await;
    sender.1.store(false, Ordering::SeqCst);
    let down = until(&bench, Operational, Outage).await;
    assert_eq!(part(&down, Component::Queue).1, Some(100.0));
    sender.1.store(true, Ordering::SeqCst);
    let again = until(&bench, Operational, Operational).await;
    let [incident] = incidents(&again);
    assert_eq!(incident.component, Component::Webhooks);
    assert!(incident.resolved_at.is_some());
    gone(lane).await;
    gone(calls).await;
}
