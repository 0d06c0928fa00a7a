//! What happens now: event streams of inboxes, and waits for a message. It uses inboxes and messages.

mod counted;
mod feed;
mod resync;
mod streams;
mod wait;
mod writers;

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use trapline_store::{Bus, Clock, Store};

use crate::{
    FirstSteps, Supervisor, heartbeats::Heartbeats, ids::Ids, inboxes::Inboxes, messages::Messages,
    parts::Parts, read_marks::ReadMarks,
};
use counted::CountedInboxes;
use feed::Payloads;
pub use feed::{Feed, FeedEvent};
use resync::ResyncScheduler;
use streams::Streams;
pub use wait::Waited;
use writers::Writers;

/// Event streams and waits of this process's clients.
pub struct LiveUpdates {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    ids: Arc<Ids>,
    read_marks: ReadMarks,
    heartbeats: Arc<Heartbeats>,
    /// Every stream and parked wait ends with it.
    shutdown: CancellationToken,
    /// Whether no other process stores anything.
    is_alone: bool,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    first_steps: Arc<FirstSteps>,
    streams: Arc<Streams>,
    counted: CountedInboxes,
    resyncs: Arc<ResyncScheduler>,
    /// Changes when mail may be stored here that nobody announced.
    losses: watch::Receiver<u64>,
    payloads: Payloads,
}

impl LiveUpdates {
    /// Also starts watching the processes that store mail, where there are others than this one.
    pub(crate) fn start(
        parts: &Parts,
        inboxes: Arc<Inboxes>,
        messages: Arc<Messages>,
        tasks: &Supervisor,
    ) -> Arc<Self> {
        let settings = &parts.settings;
        let streams = Streams::new(settings.max_streams, settings.max_streams_per_team);
        let store = parts.ports.store.clone();
        Arc::new(Self {
            losses: watch_writers(parts, &streams, tasks),
            resyncs: ResyncScheduler::new(store.clone(), streams.clone()),
            store,
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            read_marks: parts.read_marks.clone(),
            heartbeats: parts.heartbeats.clone(),
            shutdown: parts.shutdown.clone(),
            is_alone: parts.is_alone,
            inboxes,
            messages,
            first_steps: parts.first_steps.clone(),
            streams,
            counted: CountedInboxes::default(),
            payloads: Payloads::default(),
        })
    }
}

fn watch_writers(
    parts: &Parts,
    streams: &Arc<Streams>,
    tasks: &Supervisor,
) -> watch::Receiver<u64> {
    let (losses, lost) = watch::channel(0);
    if !parts.is_alone {
        let (store, clock) = (parts.ports.store.clone(), parts.clock.clone());
        let writers = Writers { store, streams: streams.clone(), clock, losses };
        let shutdown = parts.shutdown.clone();
        tasks.spawn("writers", async move {
            shutdown.run_until_cancelled(writers.run()).await;
        });
    }
    lost
}
