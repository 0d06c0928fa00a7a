//! Processes that deliver, and a queue and a store that do to them whatever these may do.

use std::{
    collections::HashMap,
    future::pending,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{Notify, mpsc, oneshot};
use trapline_app::{App, Job, Lane, WebhookOutcome};
use trapline_model::{Delivery, Time, Webhook};
use trapline_store::{Op, Ports, Queue, Result, Store};

use super::{Asked, Asking, answer, failure};
use crate::{
    doubles::{LayeredStore, Publisher, StoreLayer, publish_through},
    support::Bench,
};

/// What the processes of a world share.
#[derive(Clone, Default)]
pub(super) struct Shared {
    /// Jobs of the webhook lanes that were published.
    published: Arc<Mutex<Vec<Job>>>,
    /// After how many more writes and calls the process dies, and whether that write is still made.
    dies: Arc<Mutex<Option<(usize, bool)>>>,
    died: Arc<Notify>,
}

impl Shared {
    pub(super) fn over(&self, ports: &mut Ports) {
        let captured = Captured(self.clone());
        publish_through(ports, captured);
        let mortal = Mortal { store: ports.store.clone(), shared: self.clone() };
        ports.store = Arc::new(LayeredStore(mortal));
    }

    /// One more write or call: whether it is the last one, and whether it is made.
    fn is_last(&self) -> Option<bool> {
        let mut dies = self.dies.lock().unwrap();
        let (left, is_made) = dies.as_mut()?;
        if *left > 0 {
            *left -= 1;
            return None;
        }
        let is_made = *is_made;
        *dies = None;
        Some(is_made)
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        pending().await
    }
}

/// Keeps jobs of the webhook lanes for the test.
struct Captured(Shared);

#[async_trait]
impl Publisher for Captured {
    async fn publish(&self, queue: &dyn Queue, job: &Job, due: Option<Time>) -> Result<()> {
        if matches!(job.lane, Lane::Webhook | Lane::WebhookSlow) {
            self.0.published.lock().unwrap().push(job.clone());
            return Ok(());
        }
        queue.publish(job, due).await
    }
}

struct Mortal {
    store: Arc<dyn Store>,
    shared: Shared,
}

#[async_trait]
impl StoreLayer for Mortal {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        match self.shared.is_last() {
            None => self.store.write(ops).await,
            Some(is_made) => {
                if is_made {
                    self.store.write(ops).await?;
                }
                self.shared.die().await
            }
        }
    }
}

/// When a process dies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death {
    pub(super) after: usize,
    pub(super) last_is_made: bool,
}

type Delivering = Pin<Box<dyn Future<Output = trapline_app::Result<Option<Job>>>>>;

/// A job that a process works on.
struct Run {
    process: usize,
    job: Job,
    delivering: Delivering,
    asked: mpsc::UnboundedReceiver<Asked>,
    unanswered: Vec<oneshot::Sender<WebhookOutcome>>,
}

enum Driven {
    /// A call runs.
    Calls,
    Ended(Option<Job>),
    Died,
}

pub(super) struct World<'a> {
    bench: &'a Bench,
    shared: Shared,
    hook: Webhook,
    processes: Vec<Arc<App>>,
    pub(super) jobs: Vec<Job>,
    open: Vec<Run>,
    pub(super) calls: HashMap<(String, u32), u32>,
    before: HashMap<String, Delivery>,
    can_be_early: bool,
}

impl<'a> World<'a> {
    /// Two deliveries that are to be made, by one of these processes.
    pub(super) async fn new(bench: &'a Bench, shared: &Shared, processes: usize) -> Self {
        let mut started = Vec::new();
        for _ in 0..processes {
            started.push(bench.another_process().await);
        }
        let inbox = bench.inbox(10, None).await;
        let hook = bench.hook_with(|new| new.inbox = Some(inbox.id)).await;
        for subject in ["one", "two"] {
            bench.deliver(&inbox, subject).await;
        }
        bench.fan_out().await;
        let jobs = std::mem::take(&mut *shared.published.lock().unwrap());
        assert!(!jobs.is_empty());
        let (open, calls, before) = <_>::default();
        let (shared, can_be_early) = (shared.clone(), processes > 1);
        Self { bench, shared, hook, processes: started, jobs, open, calls, before, can_be_early }
    }

    /// A process takes a job and works on it until a call runs.
    pub(super) async fn begin(&mut self, place: usize, process: usize, death: Option<Death>) {
        if self.jobs.is_empty() {
            return;
        }
        let job = self.jobs.swap_remove(place % self.jobs.len());
        if due(&job) > self.bench.clock.now() {
            return self.jobs.push(job);
        }
        let process = process % self.processes.len();
        let (caller, asked) = Asking::new();
        let (app, of) = (self.processes[process].clone(), job.clone());
        let delivering = Box::pin(async move { app.webhooks().deliver(&of, &caller).await });
        let run = Run { process, job, delivering, asked, unanswered: Vec::new() };
        self.go_on(run, None, death).await;
    }

    /// The calls of a run end, and it goes on to its end. What follows may not get as far as the queue.
    pub(super) async fn end(
        &mut self,
        place: usize,
        outcome: u8,
        is_repeated: bool,
        death: Option<Death>,
    ) {
        if self.open.is_empty() {
            return;
        }
        let mut run = self.open.swap_remove(place % self.open.len());
        for reply in run.unanswered.drain(..) {
            reply.send(outcome_of(outcome)).unwrap();
        }
        let job = run.job.clone();
        self.go_on(run, Some(outcome), death).await;
        if is_repeated {
            self.jobs.push(job);
        }
    }

    /// The queue brings a job that it will bring again.
    pub(super) fn repeat(&mut self, place: usize) {
        if !self.jobs.is_empty() {
            self.jobs.push(self.jobs[place % self.jobs.len()].clone());
        }
    }

    pub(super) fn pass(&self, minutes: u64) {
        self.bench.clock.advance(Duration::from_secs(60 * minutes));
    }

    async fn go_on(&mut self, mut run: Run, outcome: Option<u8>, death: Option<Death>) {
        let dies = death.map(|death| (death.after, death.last_is_made));
        *self.shared.dies.lock().unwrap() = dies;
        let driven = self.drive(&mut run, outcome).await;
        *self.shared.dies.lock().unwrap() = None;
        match driven {
            Driven::Calls => self.open.push(run),
            Driven::Ended(next) => self.jobs.extend(next),
            Driven::Died => {
                // Its jobs come again, when their leases run out, to a process that knows nothing.
                let (dead, alive) = std::mem::take(&mut self.open)
                    .into_iter()
                    .partition::<Vec<_>, _>(|other| other.process == run.process);
                self.open = alive;
                self.jobs.extend(dead.into_iter().map(|other| other.job));
                let process = run.process;
                self.jobs.push(run.job);
                self.processes[process] = self.bench.another_process().await;
            }
        }
        self.jobs.append(&mut self.shared.published.lock().unwrap());
    }

    async fn drive(&mut self, run: &mut Run, mut outcome: Option<u8>) -> Driven {
        loop {
            tokio::select! {
                biased;
                () = self.shared.died.notified() => return Driven::Died,
                next = &mut run.delivering => return Driven::Ended(next.unwrap()),
                Some((call, reply)) = run.asked.recv() => {
                    let id = call.header("x-webhook-delivery").to_owned();
                    let known = self.before.get(&id).and_then(|known| known.next_attempt_at);
                    let is_due = known.is_none_or(|at| at <= self.bench.clock.now());
                    assert!(is_due || self.can_be_early, "too early: {id} {}", call.number);
                    *self.calls.entry((id, call.number)).or_default() += 1;
                    if self.shared.is_last().is_some() {
                        return Driven::Died;
                    }
                    match &mut outcome {
                        None => {
                            run.unanswered.push(reply);
                            return Driven::Calls;
                        }
                        Some(outcome) => {
                            *outcome = outcome.wrapping_add(1);
                            reply.send(outcome_of(*outcome)).unwrap();
                        }
                    }
                }
            }
        }
    }

    pub(super) async fn check(&mut self) {
        for delivery in self.bench.log(&self.hook).await {
            assert!(delivery.attempts <= 8, "{delivery:?}");
            let id = delivery.id.to_string();
            if let Some(before) = self.before.get(&id) {
                assert!(
                    !before.status.is_final() || *before == delivery,
                    "{before:?} {delivery:?}"
                );
                assert!(delivery.attempts - before.attempts <= 8, "{before:?} {delivery:?}");
            }
            self.before.insert(id, delivery);
        }
    }

    /// Lets everything that is left come to its end.
    pub(super) async fn finish(&mut self) {
        for round in 0.. {
            assert!(round < 2_000, "{:?}", self.jobs);
            while !self.open.is_empty() {
                self.end(0, 3, false, None).await;
                self.check().await;
            }
            let Some(next) = self.jobs.iter().map(due).min() else { break };
            self.bench.clock.advance(next.since(self.bench.clock.now()));
            let place = self.jobs.iter().position(|job| due(job) == next).unwrap();
            self.begin(place, round, None).await;
        }
        let log = self.bench.log(&self.hook).await;
        assert_eq!(log.len(), 2);
        assert!(log.iter().all(|delivery| delivery.status.is_final()), "{log:?}");
    }
}

fn outcome_of(number: u8) -> WebhookOutcome {
    match number % 8 {
        0 => answer(200),
        1 => answer(404),
        2 => failure("timeout", false),
        _ => answer(500),
    }
}

fn due(job: &Job) -> Time {
    serde_json::from_value(job.body["due"].clone()).unwrap()
}
