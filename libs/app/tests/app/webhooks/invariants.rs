//! Whatever a queue does with jobs (brings them twice, late, in another order, or after a crash), the rows
//! say what happens.

use std::{collections::HashMap, time::Duration};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use trapline_app::{Attempt, Begun, Job, Lane, Outcome};
use trapline_model::{Delivery, Time, Webhook};

use super::{LOOK, answer, failure};
use crate::support::Bench;

/// What the queue, or a worker, does next. Numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    /// A worker takes a job and makes its call.
    Begin(usize),
    /// A call ends; the worker stores what follows, or dies before it does.
    End { call: usize, outcome: u8, dies: bool },
    /// The queue brings a job that it will bring again.
    Repeat(usize),
    /// Time passes, in minutes.
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<usize>().prop_map(Step::Begin),
        4 => (any::<usize>(), any::<u8>(), prop::bool::weighted(0.2))
            .prop_map(|(call, outcome, dies)| Step::End { call, outcome, dies }),
        2 => any::<usize>().prop_map(Step::Repeat),
        2 => (0_u64..300).prop_map(Step::Pass),
    ]
}

fn outcome(number: u8) -> Outcome {
    match number % 8 {
        0 => answer(200),
        1 => answer(404),
        2 => failure("timeout", false),
        _ => answer(500),
    }
}

/// Jobs, some of them for later, and the calls that are being made.
struct World<'a> {
    bench: &'a Bench,
    hook: Webhook,
    jobs: Vec<Job>,
    open: Vec<(Job, Attempt)>,
    calls: HashMap<(String, u32), u32>,
    before: HashMap<String, Delivery>,
}

impl World<'_> {
    async fn step(&mut self, step: Step) {
        match step {
            Step::Begin(place) if !self.jobs.is_empty() => {
                let job = self.jobs.swap_remove(place % self.jobs.len());
                self.begin(job).await;
            }
            Step::End { call, outcome: number, dies } if !self.open.is_empty() => {
                let (job, attempt) = self.open.swap_remove(call % self.open.len());
                self.end(job, attempt, outcome(number), dies).await;
            }
            Step::Repeat(place) if !self.jobs.is_empty() => {
                self.jobs.push(self.jobs[place % self.jobs.len()].clone());
            }
            Step::Pass(minutes) => self.bench.clock.advance(Duration::from_secs(60 * minutes)),
            _ => {}
        }
        self.check().await;
    }

    async fn begin(&mut self, job: Job) {
        if due(&job) > self.bench.clock.now() {
            return self.jobs.push(job);
        }
        match self.bench.app.begin_attempt(&job).await.unwrap() {
            Begun::Attempt(attempt) => {
                let delivery =
                    attempt.headers.iter().find(|(name, _)| *name == "x-webhook-delivery");
                let call = (delivery.unwrap().1.clone(), attempt.number);
                let known = self.before.get(&call.0).and_then(|known| known.next_attempt_at);
                assert!(known.is_none_or(|at| at <= self.bench.clock.now()), "too early: {call:?}");
                *self.calls.entry(call).or_default() += 1;
                self.open.push((job, *attempt));
            }
            Begun::Later(next) => self.jobs.push(next),
            Begun::Over => {}
        }
    }

    /// A worker that dies between the row and the queue leaves the job it had, whose lease runs out.
    async fn end(&mut self, job: Job, attempt: Attempt, outcome: Outcome, dies: bool) {
        let next = self.bench.app.record_attempt(attempt, outcome).await.unwrap();
        self.jobs.extend(if dies { Some(job) } else { next });
    }

    async fn check(&mut self) {
        for delivery in self.bench.log(&self.hook).await {
            assert!(delivery.attempts <= 8, "{delivery:?}");
            let id = delivery.id.to_string();
            if let Some(before) = self.before.get(&id) {
                assert!(
                    !before.status.is_final() || *before == delivery,
                    "{before:?} {delivery:?}"
                );
                let step = delivery.attempts - before.attempts;
                assert!(step <= 1, "{before:?} {delivery:?}");
            }
            self.before.insert(id, delivery);
        }
        assert!(self.calls.values().all(|calls| *calls == 1), "{:?}", self.calls);
    }

    /// Lets everything that is left come to its end.
    async fn finish(&mut self) {
        for round in 0.. {
            assert!(round < 1_000, "{:?}", self.jobs);
            while let Some((job, attempt)) = self.open.pop() {
                self.end(job, attempt, answer(500), false).await;
                self.check().await;
            }
            let Some(job) = self.jobs.pop() else { break };
            self.bench.clock.advance(due(&job).since(self.bench.clock.now()));
            self.begin(job).await;
        }
        let log = self.bench.log(&self.hook).await;
        assert!(log.iter().all(|delivery| delivery.status.is_final()), "{log:?}");
    }
}

fn due(job: &Job) -> Time {
    serde_json::from_value(job.body["due"].clone()).unwrap()
}

#[test]
fn rows_hold_whatever_the_queue_does() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = runtime.block_on(Bench::new());
    let mut runner =
        TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec(step(), 10..80);
    let run = runner.run(&steps, |steps| {
        runtime.block_on(async {
            let inbox = bench.inbox(10, None).await;
            let hook = bench.hook_with(|new| new.inbox = Some(inbox.id)).await;
            for subject in ["one", "two"] {
                bench.deliver(&inbox, subject).await;
            }
            bench.fan_out().await;
            let mut jobs = Vec::new();
            for lease in bench.app.take_jobs(Lane::Webhook, 9, LOOK).await.unwrap() {
                jobs.push(lease.job.clone());
                bench.app.job_done(lease).await.unwrap();
            }
            assert_eq!(jobs.len(), 2);
            let (open, calls, before) = <_>::default();
            let mut world = World { bench: &bench, hook, jobs, open, calls, before };
            for step in steps {
                world.step(step).await;
            }
            world.finish().await;
        });
        Ok(())
    });
    run.unwrap();
}
