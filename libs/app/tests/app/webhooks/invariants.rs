//! Whatever a queue does with jobs (brings them twice, late, in another order, or after a crash), the rows
//! say what happens.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::world::{Death, Shared, World};
use crate::support::Bench;

/// What the queue, or a worker, does next. Numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    /// A worker takes a job and makes calls.
    Begin { job: usize, process: usize, death: Option<Death> },
    /// Its calls end; the worker stores what follows, and the queue may not hear of it.
    End { run: usize, outcome: u8, is_repeated: bool, death: Option<Death> },
    /// The queue brings a job that it will bring again.
    Repeat(usize),
    /// Time passes, in minutes.
    Pass(u64),
}

fn step(deaths: Option<f64>) -> impl Strategy<Value = Step> {
    let death = move || {
        let Some(deaths) = deaths else { return Just(None).boxed() };
        let death = (0_usize..12, any::<bool>());
        let death = death.prop_map(|(after, last_is_made)| Death { after, last_is_made });
        prop::option::weighted(deaths, death).boxed()
    };
    prop_oneof![
        4 => (any::<usize>(), any::<usize>(), death())
            .prop_map(|(job, process, death)| Step::Begin { job, process, death }),
        4 => (any::<usize>(), any::<u8>(), prop::bool::weighted(0.2), death())
            .prop_map(|(run, outcome, is_repeated, death)| {
                Step::End { run, outcome, is_repeated, death }
            }),
        2 => any::<usize>().prop_map(Step::Repeat),
        2 => (0_u64..300).prop_map(Step::Pass),
    ]
}

/// Runs steps in worlds of so many processes; `check` looks at each world after each step.
fn in_worlds(cases: u32, processes: usize, deaths: Option<f64>, check: impl Fn(&World<'_>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let shared = Shared::default();
    let bench = runtime.block_on(Bench::with(|ports| shared.over(ports)));
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let steps = prop::collection::vec(step(deaths), 10..80);
    let run = runner.run(&steps, |steps| {
        runtime.block_on(async {
            let mut world = World::new(&bench, &shared, processes).await;
            for step in steps {
                match step {
                    Step::Begin { job, process, death } => world.begin(job, process, death).await,
                    Step::End { run, outcome, is_repeated, death } => {
                        world.end(run, outcome, is_repeated, death).await;
                    }
                    Step::Repeat(job) => world.repeat(job),
                    Step::Pass(minutes) => world.pass(minutes),
                }
                world.check().await;
                check(&world);
            }
            world.finish().await;
            check(&world);
        });
        Ok(())
    });
    run.unwrap();
}

#[test]
fn rows_hold_whatever_the_queue_does() {
    in_worlds(48, 1, None, |world| {
        assert!(world.calls.values().all(|calls| *calls == 1), "{:?}", world.calls);
    });
}

/// Each write and each call may be the last of its process, with what it knew; another process may
/// have the same job, or work on the same webhook, and stand still for hours.
#[test]
fn nothing_is_lost_whenever_a_process_dies() {
    in_worlds(24, 2, Some(0.3), |_| {});
}
