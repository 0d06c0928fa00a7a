//! Many connections that send messages.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    args::Args,
    client::{Client, Login, Server},
    failure::Failure,
    message::Template,
    stats::Stats,
};

/// Connections that are being opened at one time, so that a listener's backlog is no bottleneck.
const OPENING: usize = 128;
/// Wait after a connection failed, so that a server that is down is not asked in a busy loop.
const BACK_OFF: Duration = Duration::from_millis(20);

/// What all connections share.
pub(crate) struct Load {
    server: Server,
    logins: Vec<Login>,
    opened: AtomicUsize,
    stats: Mutex<Stats>,
}

/// What a run came to.
pub(crate) struct Outcome {
    /// Counts and latencies.
    pub(crate) stats: Stats,
    /// From the first transaction (one message per connection: connection) to the last reply.
    pub(crate) elapsed: Duration,
}

/// Which message is next, and when.
struct Budget {
    next: AtomicU64,
    total: Option<u64>,
    begun: Instant,
    deadline: Option<Instant>,
    gap: Duration,
}

impl Load {
    pub(crate) fn new(server: Server, logins: Vec<Login>) -> Arc<Self> {
        let (opened, stats) = (AtomicUsize::new(0), Mutex::new(Stats::default()));
        Arc::new(Self { server, logins, opened, stats })
    }

    /// Opens a connection, as the next user; a failure is counted.
    async fn connect(&self) -> Option<Client> {
        let turn = self.opened.fetch_add(1, Ordering::Relaxed);
        let login = turn.checked_rem(self.logins.len()).map(|at| &self.logins[at]);
        let client = Client::connect(&self.server, login).await;
        client.map_err(|failure| self.fail(failure)).ok()
    }

    /// Opens `count` connections, [`OPENING`] at a time; those that failed are counted and left out.
    pub(crate) async fn open(self: &Arc<Self>, count: u32) -> Vec<Client> {
        let permits = Arc::new(Semaphore::new(OPENING));
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let (load, permits) = (Arc::clone(self), Arc::clone(&permits));
            tasks.spawn(async move {
                let _permit = permits.acquire().await.ok()?;
                let begun = Instant::now();
                let client = load.connect().await?;
                load.with_stats(|stats| stats.connect.record(begun.elapsed()));
                Some(client)
            });
        }
        tasks.join_all().await.into_iter().flatten().collect()
    }

    /// Counts a failure.
    pub(crate) fn fail(&self, failure: Failure) {
        self.with_stats(|stats| stats.fail(failure));
    }

    /// Everything counted since the last call.
    pub(crate) fn take_stats(&self) -> Stats {
        self.with_stats(std::mem::take)
    }

    fn with_stats<T>(&self, change: impl FnOnce(&mut Stats) -> T) -> T {
        change(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends what the command line asks for. Connections that stay are opened before the clock starts.
    pub(crate) async fn run(self: &Arc<Self>, args: &Args, template: Template) -> Outcome {
        let early = if args.per_connection.is_none() { args.connections } else { 0 };
        let mut clients = self.open(early).await.into_iter();
        let template = Arc::new(template);
        let budget = Arc::new(Budget::new(args));
        let mut workers = JoinSet::new();
        for _ in 0..args.connections {
            let worker = Worker {
                load: Arc::clone(self),
                template: Arc::clone(&template),
                budget: Arc::clone(&budget),
                per_connection: args.per_connection.unwrap_or(u64::MAX),
                left: args.per_connection.unwrap_or(u64::MAX),
            };
            workers.spawn(worker.run(clients.next()));
        }
        workers.join_all().await;
        Outcome { elapsed: budget.begun.elapsed(), stats: self.take_stats() }
    }
}

impl Budget {
    fn new(args: &Args) -> Self {
        let begun = Instant::now();
        Self {
            next: AtomicU64::new(0),
            total: args.total(),
            begun,
            deadline: args.duration.map(|duration| begun + duration),
            gap: args.rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate)),
        }
    }

    /// The next message's number, at its time; `None` when all are sent or time is up.
    async fn take(&self) -> Option<u64> {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        if self.total.is_some_and(|total| n >= total) {
            return None;
        }
        let due = self.begun + self.gap.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        if self.deadline.is_some_and(|deadline| due.max(Instant::now()) >= deadline) {
            return None;
        }
        if due > Instant::now() {
            sleep_until(due).await;
        }
        Some(n)
    }
}

/// One connection at a time, replaced when it is used up or broken.
struct Worker {
    load: Arc<Load>,
    template: Arc<Template>,
    budget: Arc<Budget>,
    per_connection: u64,
    left: u64,
}

impl Worker {
    async fn run(mut self, mut client: Option<Client>) {
        while let Some(n) = self.budget.take().await {
            client = self.send(n, client).await;
        }
        self.close(client).await;
    }

    /// Sends one message and returns the connection when it can be used again.
    async fn send(&mut self, n: u64, client: Option<Client>) -> Option<Client> {
        let mail = self.template.build(n);
        let begun = Instant::now();
        let fresh = client.is_none();
        let mut client = self.or_connect(client).await?;
        let transaction = Instant::now();
        match client.send(&mail).await {
            Ok(()) => {
                let (took, whole) = (transaction.elapsed(), fresh.then(|| begun.elapsed()));
                let size = mail.content.len();
                self.load.with_stats(|stats| {
                    stats.accept(size, took, whole);
                    stats.pipelined += u64::from(client.pipelines());
                });
            }
            Err(failure) => {
                self.load.fail(failure);
                if !failure.keeps_connection() {
                    return None;
                }
            }
        }
        self.left -= 1;
        if self.left > 0 {
            return Some(client);
        }
        self.close(Some(client)).await;
        None
    }

    async fn or_connect(&mut self, client: Option<Client>) -> Option<Client> {
        if client.is_some() {
            return client;
        }
        self.left = self.per_connection;
        let opened = self.load.connect().await;
        if opened.is_none() {
            sleep(BACK_OFF).await;
        }
        opened
    }

    async fn close(&self, client: Option<Client>) {
        if let Some(client) = client
            && let Err(failure) = client.quit().await
        {
            self.load.fail(failure);
        }
    }
}

#[cfg(test)]
mod tests;
