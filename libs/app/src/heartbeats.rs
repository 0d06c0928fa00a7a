//! Heartbeats of an installation's processes, by role.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use trapline_model::Time;
use trapline_store::{Clock, Job, Lane, Op, Store, When, load_all, records::Heartbeat};

use crate::Result;

/// A process without a heartbeat for this long counts as gone.
const MISSING_AFTER: Duration = Duration::from_secs(45);
/// How long a heartbeat is stored.
const TTL: Duration = Duration::from_mins(2);

/// The role whose processes have job loops.
pub(crate) const WORKER: &str = "worker";
/// The role under which finished jobs of probes are recorded; their instances are the lanes.
const PROBE: &str = "probe";
/// How long these are stored: longer than a probe waits for its job.
const PROBE_TTL: Duration = Duration::from_mins(10);

/// The health of a role's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleState {
    /// No process had a heartbeat lately.
    Missing,
    /// A process has a job loop that makes no progress.
    Stuck,
    /// Every job loop makes progress.
    Works,
}

/// Sends and reads heartbeats: rows in a cluster, memory where this is the only process.
pub(crate) struct Heartbeats {
    store: Arc<dyn Store>,
    clock: Clock,
    /// Whether no other process stores anything.
    is_alone: bool,
    own: Mutex<Vec<Heartbeat>>,
    /// When each job loop of this process last made progress.
    loops: Mutex<HashMap<&'static str, Time>>,
}

impl Heartbeats {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock, is_alone: bool) -> Self {
        Self { store, clock, is_alone, own: Mutex::default(), loops: Mutex::default() }
    }

    /// Sends a heartbeat of a role, with how many announcements its process has given up so far. A
    /// heartbeat that cannot be written is logged.
    pub(crate) async fn beat(&self, role: &str, instance: &str, unannounced: u64) {
        let stuck = if role == WORKER { self.stuck_loop() } else { None };
        let beat = Heartbeat { unannounced, stuck, ..self.heartbeat(role, instance) };
        if let Err(error) = self.write(beat, TTL).await {
            tracing::warn!(%error, role, "a heartbeat was not written");
        }
    }

    /// A heartbeat of now that tells nothing else.
    fn heartbeat(&self, role: &str, instance: &str) -> Heartbeat {
        Heartbeat {
            role: role.to_owned(),
            instance: instance.to_owned(),
            at: self.clock.now(),
            unannounced: 0,
            stuck: None,
            done: None,
        }
    }

    async fn write(&self, beat: Heartbeat, ttl: Duration) -> Result<()> {
        if self.is_alone {
            // Nobody else asks, and what is idle writes nothing.
            self.note(beat);
            return Ok(());
        }
        Ok(self.store.write(vec![Op::put(&beat, Some(ttl), When::Always)?]).await?)
    }

    /// Records that a probe's job was done by its lane.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn record_probe(&self, job: &Job) -> Result<()> {
        let done = Some(job.id.clone());
        let beat = Heartbeat { done, ..self.heartbeat(PROBE, job.lane.name()) };
        self.write(beat, PROBE_TTL).await
    }

    /// The id of the probe's job that the lane finished last.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn probe_done(&self, lane: Lane) -> Result<Option<String>> {
        let beats = self.all(PROBE).await?;
        let of_lane = beats.into_iter().find(|beat| beat.instance == lane.name());
        Ok(of_lane.and_then(|beat| beat.done))
    }

    /// The number of a role's processes with a heartbeat in the last 45 s.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn count_living(&self, role: &str) -> Result<usize> {
        Ok(self.recent_of(role).await?.len())
    }

    /// The health of a role's processes.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn state(&self, role: &str) -> Result<RoleState> {
        let beats = self.recent_of(role).await?;
        Ok(match beats.iter().find_map(|beat| beat.stuck.as_ref()) {
            _ if beats.is_empty() => RoleState::Missing,
            Some(_) => RoleState::Stuck,
            None => RoleState::Works,
        })
    }

    /// Notes that a job loop of this process made progress.
    pub(crate) fn note_loop(&self, lane: &'static str) {
        let mut loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        loops.insert(lane, self.clock.now());
    }

    /// The lane of a job loop of this process that made no progress for 45 s.
    fn stuck_loop(&self) -> Option<String> {
        let now = self.clock.now();
        let loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let stuck = loops.iter().find(|(_, at)| now.since(**at) >= MISSING_AFTER);
        stuck.map(|(lane, _)| (*lane).to_owned())
    }

    /// The heartbeats of a role in the last 45 s.
    async fn recent_of(&self, role: &str) -> Result<Vec<Heartbeat>> {
        let (beats, now) = (self.all(role).await?, self.clock.now());
        Ok(beats.into_iter().filter(|beat| now.since(beat.at) < MISSING_AFTER).collect())
    }

    async fn all(&self, role: &str) -> Result<Vec<Heartbeat>> {
        if self.is_alone {
            return Ok(self.of_role(role));
        }
        Ok(load_all(&*self.store, Heartbeat::of_role(role)).await?)
    }

    fn note(&self, beat: Heartbeat) {
        let mut beats = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        beats.retain(|old| (&old.role, &old.instance) != (&beat.role, &beat.instance));
        beats.push(beat);
    }

    fn of_role(&self, role: &str) -> Vec<Heartbeat> {
        let beats = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        beats.iter().filter(|beat| beat.role == role).cloned().collect()
    }
}
