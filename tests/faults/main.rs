//! Fault tests: a cluster of real processes over real services, under load from clients of every
//! kind, while one part after another fails.
//!
//! `FAULTS=short` or `full` says how long each fault lasts; without it nothing runs. `FAULTS_ONLY` is
//! a part of the names of the faults to try, or `deliveries`: the crashes while webhooks are called, which
//! are not in the short form else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod check;
mod deliveries;
mod fault;
mod fleet;
mod load;
mod pod;
mod services;
mod table;

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    process::ExitCode,
    thread::sleep,
    time::{Duration, Instant},
};

use fault::{Fault, World};
use fleet::{EACH, Fleet};
use load::Running;
use pod::Pod;
use serde_json::json;
use table::Row;
use tokio::runtime::Runtime;
use trapline_tests::{Backing, Hooks, Rest, Site, publish};

/// The name of the part that kills processes while webhooks are called.
const DELIVERIES: &str = "deliveries";
/// Of undisturbed load before a fault.
const STEADY: Duration = Duration::from_secs(2);

/// How much there is to do.
struct Form {
    hold: Duration,
    outage: Duration,
    /// Of undisturbed load after a fault.
    calm: Duration,
    /// How soon everybody must be served again when the cause is gone.
    recover: Duration,
    /// How long the last webhook may take: retries and repairs go on for minutes.
    hooks: Duration,
    /// Mails during whose deliveries processes are killed; a multiple of 100.
    deliveries: usize,
}

const FULL: Form = Form {
    hold: Duration::from_secs(10),
    outage: Duration::from_secs(30),
    calm: Duration::from_secs(4),
    recover: Duration::from_mins(1),
    hooks: Duration::from_mins(12),
    deliveries: 10_000,
};
const SHORT: Form = Form {
    hold: Duration::from_secs(3),
    outage: Duration::from_secs(8),
    calm: Duration::from_secs(1),
    // It runs beside everything else that a shared machine does, and measures nothing.
    recover: Duration::from_mins(4),
    hooks: Duration::ZERO,
    deliveries: 500,
};

fn main() -> ExitCode {
    let (form, is_full) = match std::env::var("FAULTS").as_deref() {
        Ok("full") => (FULL, true),
        Ok("short") => (SHORT, false),
        Ok(other) => panic!("FAULTS={other}: there is short and full"),
        Err(_) => {
            println!("skipped: FAULTS is not set");
            return ExitCode::SUCCESS;
        }
    };
    let only = std::env::var("FAULTS_ONLY").unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // The end-to-end tests have a short form of this.
    let with_deliveries = only == DELIVERIES || (is_full && only.is_empty());
    let mut crashes = Vec::new();
    if with_deliveries {
        crashes.push(deliveries::of_one_process(&runtime, form.deliveries));
    }
    let mut world = start(runtime, form.hold);
    let mut complaints = Vec::new();
    if with_deliveries {
        // Before the rounds: their webhook is told of every inbox's mail.
        crashes.push(deliveries::of_a_cluster(&mut world, form.deliveries));
        complaints.extend(crashes.iter().filter_map(deliveries::Row::complaint));
        show(DELIVERIES, &deliveries::table(&crashes), is_full);
    }
    if only != DELIVERIES {
        complaints.extend(every_fault(&mut world, &form, is_full && only.is_empty(), &only));
    }
    if complaints.is_empty() {
        return ExitCode::SUCCESS;
    }
    // Last what went wrong: of a long output only the end may be kept.
    eprintln!("{}\nnot as promised:\n{}", world.fleet.logs(), complaints.join("\n"));
    ExitCode::FAILURE
}

fn start(runtime: Runtime, hold: Duration) -> World {
    let backing = Backing::start(services::OPTIONS);
    let site = Site::migrate(&services::urls(&backing));
    let pod = Pod::new(&backing);
    World { fleet: Fleet::start(site, pod), backing, runtime, hold }
}

/// What did not go as promised.
fn every_fault(world: &mut World, form: &Form, publish: bool, only: &str) -> Vec<String> {
    let (hooks, accepted, rows) = rounds(world, form, only);
    let mut notes = Vec::new();
    if let Err(why) = &world.fleet.pod {
        notes.push(format!("Network cuts were left out: {why}."));
    }
    let late = called(&hooks, &accepted, form.hooks);
    let called = accepted.len() - late;
    let calls = format!("Webhook: called for {called} of {} accepted messages.", accepted.len());
    notes.push(calls.clone());
    show("faults", &table::table(&rows, &notes), publish);
    let mut complaints: Vec<_> = rows.iter().filter_map(Row::complaint).collect();
    if late > 0 && !form.hooks.is_zero() {
        complaints.push(calls);
    }
    complaints
}

fn show(name: &str, table: &str, is_whole: bool) {
    println!("{table}");
    if is_whole {
        publish(name, table);
    }
}

/// Strikes with one fault after another.
fn rounds(world: &mut World, form: &Form, only: &str) -> (Hooks, BTreeSet<String>, Vec<Row>) {
    let ip = world.fleet.pod.as_ref().map_or(Ipv4Addr::LOCALHOST, Pod::gateway);
    let (hooks, address) = Hooks::listen(ip);
    world.fleet.wait_ready(&world.runtime);
    let rest = Rest::new(&world.fleet.addresses.api(0), Some(world.fleet.site.key()));
    let body = json!({ "url": format!("http://{address}/") });
    world.runtime.block_on(rest.post("/api/webhooks", body)).expect(201);
    let (mut accepted, mut rows) = (BTreeSet::new(), Vec::new());
    for fault in fault::all(form.hold, form.outage) {
        let left_out = matches!(fault, Fault::Cut(_)) && world.fleet.pod.is_err();
        if !left_out && fault.name(form.hold).contains(only) {
            let (row, ids) = round(fault, world, form);
            eprintln!("{}", row.line());
            rows.push(row);
            accepted.extend(ids);
        }
    }
    (hooks, accepted, rows)
}

/// Load, a fault in it, and the check of what came of it.
fn round(fault: Fault, world: &mut World, form: &Form) -> (Row, Vec<String>) {
    let key = world.fleet.site.key().to_owned();
    let rest = |world: &World| Rest::new(&world.fleet.addresses.api(0), Some(&key));
    let (began, start) = (Instant::now(), rest(world));
    let running = Running::start(&world.runtime, &start, &key, &world.fleet.addresses);
    running.served_since(began, form.recover).unwrap();
    sleep(STEADY);
    let struck = Instant::now();
    fault.strike(world);
    let lifted = Instant::now();
    let failure = running.served_since(lifted, form.recover).err();
    sleep(form.calm);
    let load = running.stop(&world.runtime, form.recover);
    world.fleet.wait_ready(&world.runtime);
    let found = world.runtime.block_on(check::check(&load, &rest(world), EACH));
    let mails = load.ledger.mails().into_values();
    let ids = mails.filter_map(|sent| sent.accepted).map(|(id, _)| id).collect();
    (Row::new(fault.name(form.hold), struck, found, &load.ledger, failure), ids)
}

/// Waits until the webhook has been called for all of them, and returns how many are missing.
fn called(hooks: &Hooks, accepted: &BTreeSet<String>, longest: Duration) -> usize {
    let began = Instant::now();
    while hooks.missing(accepted) > 0 && began.elapsed() < longest {
        sleep(Duration::from_millis(200));
    }
    hooks.missing(accepted)
}
