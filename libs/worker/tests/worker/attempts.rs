//! Kinds of jobs: what their steps come to, and which failures count.

use std::{sync::Mutex, time::Duration};

use async_trait::async_trait;
use trapline_app::{Claimed, Error};
use trapline_store::{Job, Lane, PortError};
use trapline_worker::{
    AttemptedJob, JobFailure, JobHandler, JobOutcome, Retry, WebhookDeliveries, run_once,
};

use crate::bench::Bench;

/// Notes its steps. The id of a job says how its claim ends.
#[derive(Default)]
struct Steps(Mutex<Vec<&'static str>>);

impl Steps {
    fn note(&self, step: &'static str) {
        self.0.lock().unwrap().push(step);
    }

    fn taken(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl AttemptedJob for Steps {
    const LANE: Lane = Lane::Mail;
    const CONCURRENCY: usize = 7;
    type Attempt = u32;
    type Outcome = Result<u32, &'static str>;

    async fn claim(&self, job: &Job) -> Result<Claimed<u32>, Error> {
        self.note("claim");
        Ok(match job.id.as_str() {
            "held" => Claimed::Reschedule(Job { attempt: 3, ..job.clone() }),
            "over" => Claimed::Finished,
            _ => Claimed::Run(Box::new(job.attempt)),
        })
    }

    async fn perform(&self, attempt: &mut u32) -> Self::Outcome {
        self.note("perform");
        *attempt += 1;
        if *attempt > 2 { Ok(*attempt) } else { Err("refused") }
    }

    async fn record(&self, attempt: u32, outcome: Self::Outcome) -> Result<Option<Job>, Error> {
        self.note("record");
        assert_eq!(outcome.is_ok(), attempt > 2);
        let body = serde_json::Value::Null;
        let next = Job { id: "next".to_owned(), lane: Self::LANE, attempt, body };
        Ok(outcome.is_err().then_some(next))
    }
}

#[tokio::test]
async fn an_attempt_is_made_and_recorded_only_where_its_claim_holds() {
    let (bench, steps) = (Bench::new().await, Steps::default());
    assert_eq!((steps.lane(), steps.concurrency()), (Lane::Mail, 7));
    let run = async |id: &str, attempt| {
        let outcome =
            run_once(bench.app.jobs(), &steps, &bench.job(id, attempt, Duration::ZERO)).await;
        match outcome.unwrap() {
            JobOutcome::Complete => None,
            JobOutcome::Reschedule(next) => Some((next.id, next.attempt)),
        }
    };
    let all = ["claim", "perform", "record"];
    assert_eq!(run("held", 1).await, Some(("held".to_owned(), 3)));
    assert_eq!(steps.taken(), all[..1]);
    assert_eq!(run("over", 1).await, None);
    assert_eq!(steps.taken(), all[..1]);
    assert_eq!(run("refused", 1).await, Some(("next".to_owned(), 2)));
    assert_eq!(steps.taken(), all);
    assert_eq!(run("taken", 2).await, None);
    assert_eq!(steps.taken(), all);
}

/// Refuses every address.
struct Nowhere;

#[async_trait]
impl trapline_app::WebhookSender for Nowhere {
    fn check(&self, _: &trapline_worker::outbound::Url) -> Result<(), String> {
        Err("nowhere".to_owned())
    }

    async fn send(&self, _: &trapline_app::WebhookRequest) -> trapline_app::WebhookOutcome {
        unreachable!("nothing is sent")
    }

    async fn call_probe_receiver(&self, _: &trapline_app::WebhookRequest) -> Result<(), String> {
        Err("nobody is called".to_owned())
    }
}

#[tokio::test]
async fn outages_are_not_counted_and_deliveries_are_never_given_up() {
    let bench = Bench::new().await;
    let webhooks = WebhookDeliveries::new(bench.app.clone(), std::sync::Arc::new(Nowhere));
    let (half_a_minute, five) = (Duration::from_secs(30), Duration::from_mins(5));
    let away = || JobFailure::Error(PortError::Timeout.into());
    let cases = [
        (away(), Retry::Uncounted(half_a_minute), Retry::Uncounted(half_a_minute)),
        (
            JobFailure::Error(Error::Conflict),
            Retry::Uncounted(half_a_minute),
            Retry::Uncounted(half_a_minute),
        ),
        (JobFailure::Error(Error::WrongMasterKey), Retry::Counted, Retry::Uncounted(five)),
        (JobFailure::Panic, Retry::Counted, Retry::Uncounted(five)),
    ];
    for (failure, others, of_webhooks) in cases {
        assert_eq!(Steps::default().retry(&failure), others, "{failure}");
        assert_eq!(webhooks.retry(&failure), of_webhooks, "{failure}");
    }
}
