//! Endurance test: an installation lives through a month in minutes. Each day has mail, waits,
//! streams, webhooks and inboxes that end; in the night between two days its clock jumps ahead.
//!
//! `SOAK` says how many minutes the month takes; without it nothing runs. `MODE` chooses the form of
//! the installation, and `TRAPLINE_TEST_CLOCK` names the file that its clock follows, which needs an
//! executable with the feature `test-clock`. `tests/suites.py soak` sets them all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod damage;
mod footprint;
mod ledger;
mod traffic;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use footprint::Footprint;
use traffic::Traffic;
use trapline_tests::{Deployment, TestClock, is_cluster, publish};

/// Of the month.
const DAYS: u32 = 30;
/// The days after which what is used is compared with what is used at the end: caches are warm then.
const WARM: u32 = 5;
/// The nights in which something is damaged: long before the end, and so late that it is kept.
const DAMAGING: [u32; 2] = [8, DAYS - 2];
const DAY: Duration = Duration::from_hours(24);
/// A month that takes so long is written into docs/reliability.md.
const WHOLE: f64 = 30.0;
/// What may be used of the metrics.
const TOKEN: &str = "soak-metrics-token";

fn main() -> ExitCode {
    let Ok(minutes) = std::env::var("SOAK") else {
        println!("skipped: SOAK is not set");
        return ExitCode::SUCCESS;
    };
    let minutes: f64 = minutes.parse().expect("SOAK is a number of minutes");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let faults = runtime.block_on(month(minutes));
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Lives through the month, and returns what is not as it should be.
async fn month(minutes: f64) -> Vec<String> {
    let clock = TestClock::from_environment();
    let server = Deployment::alone(&[
        "--metrics-token",
        TOKEN,
        "--api-rate",
        "0",
        "--webhook-allow-cidrs",
        "127.0.0.0/8",
    ]);
    let mut traffic = Traffic::begin(&server).await;
    let day = Duration::from_secs_f64(minutes * 60.0 / f64::from(DAYS));
    let mut warm = Vec::new();
    for number in 0..DAYS {
        let dawn = Footprint::of(&server).await;
        traffic.day(&server, number, Instant::now() + day).await;
        let dusk = Footprint::of(&server).await;
        warm.push((dawn, dusk));
        if DAMAGING.contains(&number) {
            damage::damage(&server, &mut traffic).await;
        }
        if number == DAMAGING[0] {
            damage::plan_unknown(&server, &clock).await;
        }
        clock.jump(DAY.saturating_sub(day));
    }
    let (first, last) = (&warm[WARM as usize], &warm[DAYS as usize - 1]);
    let mut faults = check::everything(&server, &traffic).await;
    // What ended is removed after some hours; the bytes of what was deleted within a day.
    for _ in 0..48 {
        clock.jump(Duration::from_hours(1));
        tokio::time::sleep(Duration::from_secs_f64(minutes.min(10.0) * 0.05)).await;
    }
    faults.extend(check::nothing_ended_is_left(&server, &traffic).await);
    faults.extend(damage::unknown_waits(&server).await);
    let at_rest = Footprint::of(&server).await;
    faults.extend(footprint::growth(first, last, &at_rest, &traffic));
    let table = footprint::table(first, last, &at_rest, &traffic, minutes);
    println!("{table}");
    if !faults.is_empty() {
        eprintln!("{}", server.log());
    } else if minutes >= WHOLE {
        publish(if is_cluster() { "soak of a cluster" } else { "soak of one process" }, &table);
    }
    faults
}
