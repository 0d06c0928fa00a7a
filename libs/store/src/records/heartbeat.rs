//! Heartbeats of the processes and loops that make up the service.

use serde::{Deserialize, Serialize};
use trapline_model::Time;

use super::text;
use crate::{Key, Record, Scan, Table, Value};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[HEARTBEAT];

const HEARTBEAT: &Table = &Table {
    name: "heartbeat",
    partition: &[text("role")],
    sort: &[text("instance")],
    about: "Heartbeats of the roles of a cluster; kept in memory in one process.",
    ..Table::PLAIN
};

/// Written every few seconds from inside the loop that it vouches for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Heartbeat {
    /// `smtp`, `api` or `worker`; `probe` for what was done of probes' jobs.
    pub role: String,
    /// The process: host, process id and a random suffix; of a probe's job its lane.
    pub instance: String,
    /// The time of writing.
    pub at: Time,
    /// How often the process gave up announcing what it stored. When this changes, others look for it.
    #[serde(default)]
    pub unannounced: u64,
    /// The lane of a job loop of the process that does not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// The probe's job of the lane that was done last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<String>,
}

impl Heartbeat {
    /// Every instance of a role.
    #[must_use]
    pub fn of_role(role: &str) -> Scan {
        Scan::of(HEARTBEAT, vec![Value::Text(role.to_owned())], 1000)
    }
}

impl Record for Heartbeat {
    const TABLE: &'static Table = HEARTBEAT;
    fn key(&self) -> Key {
        Key {
            table: HEARTBEAT,
            partition: vec![Value::Text(self.role.clone())],
            sort: vec![Value::Text(self.instance.clone())],
        }
    }
}
