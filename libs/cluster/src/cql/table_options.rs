//! How a table's rows are kept: compaction, time to live, and how long deletions are remembered.
//! Only options that ScyllaDB and Cassandra both have.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use trapline_store::{Order, Storage, Table};

/// How long deletions in logs and queues are remembered: as long as both servers keep writes for a
/// node that is down. What such a node may bring back later is behind the position of whoever reads
/// the queue, or past its time.
const GC_GRACE: Duration = Duration::from_hours(3);
/// The time to live of a queue spans so many compaction windows. ScyllaDB refuses more than 50.
const QUEUE_WINDOWS: u32 = 24;

/// The options of a table that are the program's; all others are the operator's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableOptions {
    /// `None` leaves the choice to the server.
    compaction: Option<BTreeMap<&'static str, String>>,
    /// In seconds; 0 is for ever.
    ttl: i32,
    /// In seconds; `None` leaves it to the server.
    gc_grace: Option<i32>,
}

/// The same as `system_schema.tables` has them.
#[derive(Debug)]
pub(super) struct FoundOptions {
    pub(super) compaction: HashMap<String, String>,
    pub(super) ttl: i32,
    pub(super) gc_grace: i32,
}

impl TableOptions {
    pub(super) fn of(table: &Table) -> Self {
        let (ttl, gc_grace) = (table.storage.ttl().map_or(0, seconds), Some(seconds(GC_GRACE)));
        match table.storage {
            Storage::Log { window, .. } => {
                Self { compaction: Some(windows(window)), ttl, gc_grace }
            }
            Storage::Queue { bucket, ttl: row_ttl } => {
                let window = bucket.max(row_ttl / QUEUE_WINDOWS);
                Self { compaction: Some(windows(window)), ttl, gc_grace }
            }
            Storage::List => Self { compaction: Some(levels()), ttl, gc_grace },
            // With levels a row is read from one or two files, however long its partition has been
            // written to.
            Storage::Rows | Storage::Headed { .. }
                if table.order == Order::NewestFirst && !table.sort.is_empty() =>
            {
                Self { compaction: Some(levels()), ttl, gc_grace: None }
            }
            Storage::Rows | Storage::Headed { .. } => {
                Self { compaction: None, ttl, gc_grace: None }
            }
        }
    }

    /// The options as a table is created with them; what is the server's default is left out.
    pub(super) fn clauses(&self) -> Vec<String> {
        let compaction = self.compaction.as_ref().map(|options| {
            let each = options.iter().map(|(name, value)| format!("'{name}': '{value}'"));
            format!("compaction = {{{}}}", each.collect::<Vec<_>>().join(", "))
        });
        let ttl = (self.ttl > 0).then(|| format!("default_time_to_live = {}", self.ttl));
        let gc_grace = self.gc_grace.map(|seconds| format!("gc_grace_seconds = {seconds}"));
        [compaction, ttl, gc_grace].into_iter().flatten().collect()
    }

    /// The options that a table must be given which has others.
    pub(super) fn to_change(&self, seen: &FoundOptions) -> Option<Vec<String>> {
        let same = self.ttl == seen.ttl
            && self.gc_grace.is_none_or(|seconds| seconds == seen.gc_grace)
            && self.compaction.iter().flatten().all(|(name, value)| {
                // Cassandra puts the package in front of a class.
                let has = seen.compaction.get(*name).and_then(|text| text.rsplit('.').next());
                has == Some(value)
            });
        if same {
            return None;
        }
        let mut clauses = self.clauses();
        if self.ttl == 0 {
            clauses.push("default_time_to_live = 0".to_owned());
        }
        Some(clauses)
    }
}

fn levels() -> BTreeMap<&'static str, String> {
    [("class", "LeveledCompactionStrategy".to_owned())].into()
}

fn windows(window: Duration) -> BTreeMap<&'static str, String> {
    let minutes = window.as_secs().div_ceil(60).max(1);
    [
        ("class", "TimeWindowCompactionStrategy".to_owned()),
        ("compaction_window_unit", "MINUTES".to_owned()),
        ("compaction_window_size", minutes.to_string()),
    ]
    .into()
}

fn seconds(time: Duration) -> i32 {
    i32::try_from(time.as_secs()).unwrap_or(i32::MAX)
}
