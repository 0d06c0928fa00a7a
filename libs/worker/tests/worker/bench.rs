//! An application over the embedded adapters, with a clock that the test moves and a queue that counts
//! how often leases are extended.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use tokio::task::JoinHandle;
use trapline_app::{App, MasterKey, Settings};
use trapline_embedded::{Embedded, Options};
use trapline_model::{Principal, TeamId, Time};
use trapline_store::{Clock, Job, Lane, LaneStats, Lease, Op, Ports, Queue, Result};
use trapline_worker::{JobHandler, run_lane};

pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) team: TeamId,
    pub(crate) by: Principal,
    pub(crate) extended: Arc<AtomicUsize>,
    _embedded: Embedded,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Over ports that the test changed.
    pub(crate) async fn with(edit: impl FnOnce(&mut Ports)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let options = Options { clock: clock.clone(), ..Options::new(folder.path()) };
        let embedded = Embedded::open(options).await.unwrap();
        let mut ports = embedded.ports();
        edit(&mut ports);
        let extended = Arc::<AtomicUsize>::default();
        ports.queue = Arc::new(Counting { queue: ports.queue, extended: extended.clone() });
        let master = MasterKey::generate().unwrap();
        let settings = Settings::default();
        let app = App::start(ports.clone(), clock.clone(), settings, &master, <_>::default())
            .await
            .unwrap();
        let team = app.installation().start(None).await.unwrap().team;
        Self {
            app,
            ports,
            clock,
            team,
            by: Principal::system(team),
            extended,
            _embedded: embedded,
            _folder: folder,
        }
    }

    pub(crate) fn start(&self, handler: Arc<dyn JobHandler>) -> JoinHandle<()> {
        tokio::spawn(run_lane(self.app.clone(), handler, "test".to_owned()))
    }

    /// A job of the webhook lane, due in `wait`.
    pub(crate) fn job(&self, id: &str, attempt: u32, wait: Duration) -> Job {
        let due = self.clock.now().after(wait);
        let body = json!({"due": due, "work": {"of": id}});
        Job { id: id.to_owned(), lane: Lane::Webhook, attempt, body }
    }

    pub(crate) async fn publish(&self, id: &str) {
        let job = self.job(id, 1, Duration::ZERO);
        self.ports.queue.publish(&job, None).await.unwrap();
    }

    pub(crate) async fn stats(&self) -> LaneStats {
        self.ports.queue.stats(Lane::Webhook).await.unwrap()
    }

    pub(crate) async fn take(&self) -> Vec<Lease> {
        self.ports.queue.take(Lane::Webhook, 9, Duration::ZERO).await.unwrap()
    }

    /// Returns once the lane stands so.
    pub(crate) async fn until(&self, wanted: impl Fn(LaneStats) -> bool) {
        while !wanted(self.stats().await) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

struct Counting {
    queue: Arc<dyn Queue>,
    extended: Arc<AtomicUsize>,
}

#[async_trait]
impl Queue for Counting {
    async fn publish(&self, job: &Job, due: Option<Time>) -> Result<()> {
        self.queue.publish(job, due).await
    }

    async fn publish_with(&self, rows: Vec<Op>, jobs: Vec<(Job, Time)>) -> Result<()> {
        self.queue.publish_with(rows, jobs).await
    }

    async fn take(&self, lane: Lane, max: usize, wait: Duration) -> Result<Vec<Lease>> {
        self.queue.take(lane, max, wait).await
    }

    async fn finish(&self, lease: Lease) -> Result<()> {
        self.queue.finish(lease).await
    }

    async fn retry(&self, lease: Lease, next: &Job, due: Time) -> Result<()> {
        self.queue.retry(lease, next, due).await
    }

    async fn extend(&self, lease: &Lease) -> Result<()> {
        self.queue.extend(lease).await?;
        self.extended.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn stats(&self, lane: Lane) -> Result<LaneStats> {
        self.queue.stats(lane).await
    }
}
