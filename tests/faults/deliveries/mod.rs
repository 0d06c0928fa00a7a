//! `kill -9` during deliveries: each mail that was answered 250 is told of by its webhook.

mod senders;

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::runtime::{Handle, Runtime};
use trapline_tests::{Deployment, Hooks, Inbox, Rest};

use crate::{
    fault::{Fault, World},
    fleet::{Addresses, Role},
    pod::Pod,
};

/// Mails for each webhook: half of the deliveries that one request lists.
const PER_HOOK: usize = 100;
/// From the last mail on. A job that was lost with its process is looked for after 45 seconds.
const PATIENCE: Duration = Duration::from_mins(20);
const LOOK: Duration = Duration::from_millis(100);
const HEAD: &str = "\
| Installation | Killed meanwhile | Accepted | Delivered | Not delivered | Calls made again | Time | Of it after the last mail |
|---|---|--:|--:|--:|--:|--:|--:|
";

/// What one installation did.
pub(crate) struct Row {
    what: &'static str,
    accepted: usize,
    /// Deliveries that did not end as succeeded.
    missing: usize,
    repeated: usize,
    took: Duration,
    /// Of it, what passed after the last mail was accepted.
    behind: Duration,
}

impl Row {
    /// What is not as promised.
    pub(crate) fn complaint(&self) -> Option<String> {
        (self.missing > 0).then(|| self.line())
    }

    fn line(&self) -> String {
        let Self { what, accepted, missing, repeated, took, behind } = self;
        let (delivered, took, behind) = (accepted - missing, took.as_secs(), behind.as_secs());
        format!(
            "| {what} | {accepted} | {delivered} | {missing} | {repeated} | {took} s | {behind} s |"
        )
    }
}

/// The result, for people.
pub(crate) fn table(rows: &[Row]) -> String {
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    format!("{HEAD}{}\n", lines.join("\n"))
}

/// One process, which is killed and started again, twice.
pub(crate) fn of_one_process(runtime: &Runtime, mails: usize) -> Row {
    let mut server = Deployment::start();
    let key = server.team().key().to_owned();
    let addresses = Arc::<Addresses>::default();
    addresses.set_single(server.smtp()[0], &server.api()[0]);
    let at = addresses.clone();
    let (hooks, receiver) = Hooks::listen(Ipv4Addr::LOCALHOST);
    let mut crash = || {
        server.kill();
        server.restart();
        at.set_single(server.smtp()[0], &server.api()[0]);
    };
    let url = format!("http://{receiver}/");
    let (what, runtime) = ("one process | it, twice", runtime.handle().clone());
    let run = Run { what, runtime, addresses, key, hooks, url };
    run.through(mails, 2, |_| crash())
}

/// A cluster, of which first a worker and then the leader of the job queue is killed.
pub(crate) fn of_a_cluster(world: &mut World, mails: usize) -> Row {
    let ip = world.fleet.pod.as_ref().map_or(Ipv4Addr::LOCALHOST, Pod::gateway);
    let (hooks, receiver) = Hooks::listen(ip);
    world.fleet.wait_ready(&world.runtime);
    let faults = [Fault::KillProcess(Role::Worker), Fault::KillLeader];
    let run = Run {
        what: "cluster | a worker, then the JetStream leader",
        runtime: world.runtime.handle().clone(),
        addresses: world.fleet.addresses.clone(),
        key: world.fleet.site.key().to_owned(),
        hooks,
        url: format!("http://{receiver}/"),
    };
    run.through(mails, faults.len(), |number| faults[number].strike(world))
}

/// Mails, and what they lead to, in one installation.
struct Run {
    what: &'static str,
    runtime: Handle,
    addresses: Arc<Addresses>,
    key: String,
    hooks: Hooks,
    url: String,
}

/// An inbox, and the path of its webhook's log.
struct Hook {
    inbox: Inbox,
    log: String,
}

impl Run {
    /// Sends the mails, and strikes as often as this while webhooks are called for them.
    fn through(self, mails: usize, faults: usize, mut strike: impl FnMut(usize)) -> Row {
        let hooks = self.runtime.block_on(self.make(mails / PER_HOOK));
        let began = Instant::now();
        let inboxes: Vec<_> = hooks.iter().map(|hook| hook.inbox.address.clone()).collect();
        let sending = self.runtime.spawn(senders::send(self.addresses.clone(), inboxes, PER_HOOK));
        for fault in 0..faults {
            let called = mails * (fault + 1) / (faults + 2);
            wait("calls", || self.hooks.called() >= called);
            strike(fault);
        }
        let accepted: Vec<_> = self.runtime.block_on(sending).unwrap();
        let all: BTreeSet<_> = accepted.iter().flatten().cloned().collect();
        let sent = Instant::now();
        while self.hooks.missing(&all) > 0 && sent.elapsed() < PATIENCE {
            sleep(LOOK);
        }
        let (took, behind) = (began.elapsed(), sent.elapsed());
        let each = hooks.iter().zip(&accepted);
        let missing = each.map(|(hook, ids)| self.runtime.block_on(self.missing(hook, ids))).sum();
        let repeated = self.hooks.repeated();
        let row = Row { what: self.what, accepted: all.len(), missing, repeated, took, behind };
        eprintln!("{}", row.line());
        row
    }

    /// Makes webhooks with an inbox for each.
    async fn make(&self, count: usize) -> Vec<Hook> {
        let (rest, mut hooks) = (self.rest(), Vec::with_capacity(count));
        for _ in 0..count {
            let inbox = rest.inbox().await;
            let hook = json!({ "url": self.url, "inboxId": inbox.id });
            let hook = rest.post("/api/webhooks", hook).await.expect(201).json();
            let id = hook["id"].as_str().unwrap();
            let log = format!("/api/webhooks/{id}/deliveries?limit=200");
            hooks.push(Hook { inbox, log });
        }
        hooks
    }

    /// How many of these messages have no delivery that succeeded, when there is no hope for more.
    async fn missing(&self, hook: &Hook, ids: &BTreeSet<String>) -> usize {
        let (rest, began) = (self.rest(), Instant::now());
        loop {
            let log = rest.get(&hook.log).await.expect(200).json();
            let log = log.as_array().unwrap().iter();
            let succeeded = log.filter(|one| one["status"] == "succeeded");
            let told: BTreeSet<_> =
                succeeded.filter_map(|one| one["messageId"].as_str().map(str::to_owned)).collect();
            let missing = ids.difference(&told).count();
            // The log follows the call.
            if missing == 0 || began.elapsed() > PATIENCE {
                return missing;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn rest(&self) -> Rest {
        Rest::new(&self.addresses.api(0), Some(&self.key))
    }
}

fn wait(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "nothing within {PATIENCE:?}: {what}");
        sleep(LOOK);
    }
}
