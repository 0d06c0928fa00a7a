//! A queue that loses what it took: the outbox stands behind it.

use std::{sync::Mutex, time::Duration};

use async_trait::async_trait;
use trapline_app::Lane;
use trapline_model::{DeliveryStatus, Time};
use trapline_store::{Job, Queue, Result};

use super::{LOOK, answer};
use crate::{
    doubles::{Publisher, publish_through},
    support::Bench,
    watched::Watch,
};

/// Loses each job the first time that it is published.
#[derive(Default)]
struct Forgetful(Mutex<Vec<String>>);

impl Forgetful {
    fn loses(&self, job: &Job) -> bool {
        let mut lost = self.0.lock().unwrap();
        let loses = !lost.contains(&job.id);
        lost.push(job.id.clone());
        loses
    }
}

#[async_trait]
impl Publisher for Forgetful {
    async fn publish(&self, queue: &dyn Queue, job: &Job, due: Option<Time>) -> Result<()> {
        if self.loses(job) { Ok(()) } else { queue.publish(job, due).await }
    }
}

/// Jobs in the outbox.
fn outbox(watch: &Watch) -> usize {
    watch.queued("outbox_by_minute").len()
}

#[tokio::test]
async fn lost_jobs_only_cost_time() {
    let watch = Watch::default();
    let bench = Bench::with(|ports| {
        watch.over(ports);
        publish_through(ports, Forgetful::default());
    })
    .await;
    let inbox = bench.inbox(10, None).await;
    let hook = bench.hook().await;
    // One process writes the group's rows and publishes its job, as a cluster's intake does.
    bench.deliver(&inbox, "hello").await;
    bench.fan_out().await;
    assert_eq!((outbox(&watch), bench.log(&hook).await.len()), (1, 1));
    assert!(bench.app.jobs().take(Lane::Webhook, 9, LOOK).await.unwrap().is_empty(), "it is lost");
    let janitor = bench.start_janitor();
    let mut answers = [answer(500), answer(200)].into_iter();
    while bench.delivery(&hook).await.status != DeliveryStatus::Succeeded {
        bench.clock.advance(Duration::from_secs(31));
        bench.call_due(|_| answers.next().unwrap()).await;
    }
    assert_eq!(bench.delivery(&hook).await.attempts, 2);
    assert_eq!(outbox(&watch), 0);
    bench.app.shutdown().cancel();
    janitor.await.unwrap();
}
