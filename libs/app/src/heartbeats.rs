//! Signs of life of an installation's processes, by role.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use trapline_store::{Clock, Op, Record, Store, When, records::Heartbeat};

use crate::Result;

/// A role that was silent for longer is missing.
const MISSING_AFTER: Duration = Duration::from_secs(45);
/// How long a sign of life is kept.
const TTL: Duration = Duration::from_mins(2);

/// Shows and reads signs of life: rows among processes, memory in one that is alone.
pub(crate) struct Heartbeats {
    store: Arc<dyn Store>,
    clock: Clock,
    /// Whether no other process stores anything.
    is_alone: bool,
    own: Mutex<Vec<Heartbeat>>,
}

impl Heartbeats {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock, is_alone: bool) -> Self {
        Self { store, clock, is_alone, own: Mutex::default() }
    }

    /// Shows that a role lives, and how many announcements its process has given up so far. One that
    /// is not written is logged.
    pub(crate) async fn beat(&self, role: &str, instance: &str, unannounced: u64) {
        let (role, instance) = (role.to_owned(), instance.to_owned());
        let beat = Heartbeat { role, instance, at: self.clock.now(), unannounced };
        if self.is_alone {
            // Nobody else asks, and what is idle writes nothing.
            self.note(beat);
            return;
        }
        let written = match Op::put(&beat, Some(TTL), When::Always) {
            Ok(put) => self.store.write(vec![put]).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::warn!(%error, role = beat.role, "a sign of life was not written");
        }
    }

    /// How many processes of a role showed themselves in the last 45 s.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn living(&self, role: &str) -> Result<usize> {
        let beats = if self.is_alone {
            self.of_role(role)
        } else {
            let rows = self.store.scan(Heartbeat::of_role(role)).await?;
            rows.iter().map(Heartbeat::of).collect::<Result<Vec<_>, _>>()?
        };
        let now = self.clock.now();
        Ok(beats.iter().filter(|beat| now.since(beat.at) < MISSING_AFTER).count())
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
