//! What an installation uses: memory, open files, its data, and what it asks of its services.

use std::{fmt::Write as _, fs, path::Path};

use trapline_tests::{Deployment, Rest, is_cluster, memory_of};

use crate::{DAYS, TOKEN, WARM, traffic::Traffic};

const MIB: u64 = 1 << 20;
/// Memory and files may vary so much between two days that are alike, whatever the share.
const SLACK_BYTES: u64 = 24 * MIB;
const SLACK_FILES: usize = 64;

/// What all processes together use at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Footprint {
    memory: u64,
    files: usize,
    /// Bytes in the data folder of one process.
    data: u64,
    /// Operations on the services of a cluster since the start; reads and writes of files in one process.
    operations: f64,
    /// Mails accepted until then.
    accepted: f64,
}

impl Footprint {
    pub(crate) async fn of(server: &Deployment) -> Self {
        let mut sum = Self::default();
        for id in server.process_ids() {
            sum.memory += memory_of(id, "VmRSS").unwrap_or(0);
            if !is_cluster() {
                sum.operations += file_operations(id);
            }
            sum.files += fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        }
        for address in server.probes() {
            let metrics = Rest::new(&address, Some(TOKEN)).get("/api/metrics").await.expect(200);
            sum.operations += total(metrics.text(), "trapline_backend_operations_total");
            sum.accepted += total(metrics.text(), "trapline_messages_stored_total");
        }
        if !is_cluster() {
            sum.data = folder(server.folder());
        }
        sum
    }

    fn operations_per_mail(&self, since: &Self) -> f64 {
        (self.operations - since.operations) / (self.accepted - since.accepted).max(1.0)
    }
}

/// A day: from its dawn to its dusk.
type Day = (Footprint, Footprint);

/// What grew that should not have.
pub(crate) fn growth(first: &Day, last: &Day, rest: &Footprint, traffic: &Traffic) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, is_flat: bool, before: u64, after: u64| {
        if !is_flat {
            faults.push(format!("{what} grew from {before} to {after}"));
        }
    };
    let (before, after) = (first.1.memory, last.1.memory);
    check("memory", after <= before + before / 5 + SLACK_BYTES, before, after);
    let (before, after) = (first.1.files, last.1.files);
    check("open files", after <= before + SLACK_FILES, before as u64, after as u64);
    let (before, after) = (per_mail(first), per_mail(last));
    // A busy machine has fewer mails in a day, and those share what each day costs anyway.
    let most = if is_cluster() { before * 1.3 } else { before * 2.0 + 500.0 };
    if after > most {
        faults.push(format!("operations a mail grew from {before:.1} to {after:.1}"));
    }
    // A segment stays until half of it is dead, and a database keeps the pages that it freed.
    let most = 4 * live(traffic) + 64 * MIB;
    if rest.data > most {
        faults.push(format!("{} bytes of data where at most {most} are right", rest.data));
    }
    faults
}

fn per_mail((dawn, dusk): &Day) -> f64 {
    dusk.operations_per_mail(dawn)
}

/// Bytes of the messages that are kept.
fn live(traffic: &Traffic) -> u64 {
    let kept: usize = traffic.lasting.iter().map(|lasting| lasting.kept().len()).sum();
    kept as u64 * 4_400
}

/// The result, for people.
pub(crate) fn table(
    first: &Day,
    last: &Day,
    rest: &Footprint,
    traffic: &Traffic,
    minutes: f64,
) -> String {
    let mut text = format!("|  | day {} | day {DAYS} |\n|---|--:|--:|\n", WARM + 1);
    let mut row = |what: &str, before: String, after: String| {
        let _infallible = writeln!(text, "| {what} | {before} | {after} |");
    };
    let mib = |bytes: u64| format!("{}", bytes / MIB);
    row("memory of all processes, MiB", mib(first.1.memory), mib(last.1.memory));
    row("open files", first.1.files.to_string(), last.1.files.to_string());
    let number = |number: f64| format!("{number:.1}");
    let operations =
        if is_cluster() { "operations a mail" } else { "reads and writes of files a mail" };
    row(operations, number(per_mail(first)), number(per_mail(last)));
    if !is_cluster() {
        row("data, MiB", mib(first.1.data), mib(last.1.data));
    }
    let ledger = &traffic.ledger;
    let _infallible = write!(
        text,
        "\n{minutes:.0} minutes: {} mails, {} waits, {} events of streams, {} inboxes that ended, \
         {} messages that a webhook was called for.",
        ledger.accepted,
        ledger.waits,
        ledger.events,
        ledger.ended.len(),
        ledger.told.len()
    );
    if !is_cluster() {
        let kept = live(traffic) / MIB;
        let _infallible =
            write!(text, " Two days later {} MiB of data, for {kept} MiB of mail.", mib(rest.data));
    }
    text + "\n"
}

/// Reads and writes of a process that were no business of a socket.
fn file_operations(id: u32) -> f64 {
    let told = fs::read_to_string(format!("/proc/{id}/io")).unwrap_or_default();
    let fields = told.lines().filter_map(|line| line.split_once(": "));
    let calls = fields.filter(|(name, _)| matches!(*name, "syscr" | "syscw"));
    calls.filter_map(|(_, count)| count.parse::<f64>().ok()).sum()
}

/// The sum of a metric over its labels.
fn total(metrics: &str, name: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
}

/// Bytes of a folder's files.
fn folder(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => folder(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}
