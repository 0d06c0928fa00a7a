//! Status: probes of the service's own parts, taken about once a minute by one process at a time, and
//! what they say of the last 90 days. It uses inboxes and messages.
//!
//! A probe is taken by a process of the role that it is about, over the wire where clients would; the
//! component's lease says by which one. A process of another role sees to a component whose role has
//! no process that lives, and then the sample is a failed one.
//!
//! Among processes each sample is a row. A process that is alone keeps them in memory and writes what
//! the days came to: when an incident begins or ends, once an hour, and at its end. An idle one
//! therefore writes next to nothing, and a crash loses an hour of samples, never an incident.

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
    /// What it is about.
    fn component(&self) -> Component;
    /// Takes the probe once. Whoever calls sets a time limit.
    ///
    /// # Errors
    ///
    /// What did not work, for the log; without anybody's data.
    async fn take(&self) -> Result<(), String>;
}

/// Takes probes, and tells what they found.
pub struct Status {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    clock: Clock,
    ids: Arc<Ids>,
    leases: Leases,
    heartbeats: Arc<Heartbeats>,
    room: Arc<StorageRoom>,
    /// Overdue jobs at which the queue counts as down.
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
    /// What this process knows of the components that it probes.
    histories: tokio::sync::Mutex<Vec<History>>,
    /// When this process wrote what it knows.
    written_at: tokio::sync::Mutex<Time>,
    /// What was told last, for while the store does not answer.
    last: Mutex<Option<ServiceStatus>>,
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
            last: Mutex::default(),
        }
    }
}
