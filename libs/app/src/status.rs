//! Status: probes of the service's own components, taken once a minute by one process at a time, and the
//! uptime and incidents of the last 90 days that follow from them. It uses inboxes and messages.
//!
//! A probe is taken by a process of the role that runs the component, over the wire where clients come so;
//! the component's lease says by which one. Where no process of that role lives, one of another role
//! records a failure.
//!
//! In a cluster each sample is a row. A single process keeps samples in memory and writes the sums of days
//! when an incident begins or ends, once an hour, and at its end: an idle one writes next to nothing, and a
//! crash loses an hour of samples, but no incident.

mod checks;
mod history;
mod prober;
mod report;
mod round_trip;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use trapline_model::{Component, ServiceStatus, Time};
use trapline_store::{Clock, Queue, Store};

use crate::{
    heartbeats::Heartbeats, ids::Ids, inboxes::Inboxes, jobs::Jobs, leases::Leases,
    messages::Messages, parts::Parts, storage_room::StorageRoom,
};
use checks::Mailbox;
pub use checks::{ProbeMail, QueueProbe, StorageProbe, WebhookProbe};
use history::History;
use round_trip::RoundTrip;

/// Probes one component.
#[async_trait]
pub trait Probe: Send + Sync {
    /// The component that is probed.
    fn component(&self) -> Component;
    /// Probes once. The caller sets a time limit.
    ///
    /// # Errors
    ///
    /// What did not work, for the log; it holds nobody's data.
    async fn take(&self) -> Result<(), String>;
}

/// Takes probes, and reports what they found.
pub struct Status {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    clock: Clock,
    ids: Arc<Ids>,
    leases: Leases,
    heartbeats: Arc<Heartbeats>,
    room: Arc<StorageRoom>,
    /// Overdue jobs from which on the queue counts as down.
    max_overdue_jobs: u64,
    shutdown: CancellationToken,
    /// Whether no other process stores anything.
    is_alone: bool,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    mailbox: Mailbox,
    jobs: Jobs,
    queue_trip: RoundTrip,
    webhook_trip: RoundTrip,
    /// The histories of the components that this process probes.
    histories: tokio::sync::Mutex<Vec<History>>,
    /// When this process last wrote its histories.
    written_at: tokio::sync::Mutex<Time>,
    /// The last report, which holds while the store does not answer.
    last_report: Mutex<Option<ServiceStatus>>,
}

impl Status {
    pub(crate) fn new(parts: &Parts, inboxes: Arc<Inboxes>, messages: Arc<Messages>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            queue: parts.ports.queue.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            leases: parts.leases.clone(),
            heartbeats: parts.heartbeats.clone(),
            room: parts.room.clone(),
            max_overdue_jobs: parts.settings.max_overdue_jobs,
            shutdown: parts.shutdown.clone(),
            is_alone: parts.is_alone,
            inboxes,
            messages,
            mailbox: Mailbox::default(),
            jobs: parts.jobs.clone(),
            queue_trip: RoundTrip::default(),
            webhook_trip: RoundTrip::default(),
            histories: tokio::sync::Mutex::default(),
            written_at: tokio::sync::Mutex::new(parts.clock.now()),
            last_report: Mutex::default(),
        }
    }
}
