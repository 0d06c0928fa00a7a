//! Watches the processes that store mail: one of them may have stopped before it announced a message.
//!
//! A process that is killed between storing a message and announcing it announces nothing. Each process
//! with parked waits or event streams therefore watches the heartbeats of those that store mail: one
//! read at a time, however many clients there are. When one of them goes silent, the inboxes that are
//! followed here are looked into.

#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::sync::watch;
use trapline_model::Time;
use trapline_store::{Clock, Record, Store, records::Heartbeat};

use super::{LiveUpdates, streams::Streams};

/// The role whose processes store mail.
const ROLE: &str = "smtp";
/// Time between two heartbeats of a process that stores mail.
const BEAT_INTERVAL: Duration = Duration::from_secs(5);
/// How often such a process checks whether its bus has given up on an announcement.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How often the other processes read the heartbeats.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// A process is gone when so many reads in a row find no new heartbeat: at most 20 s after its last one.
const MAX_SILENT_CHECKS: u8 = 3;

/// Watches the processes that store mail, for as long as anybody follows an inbox here.
pub(crate) struct Writers {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) streams: Arc<Streams>,
    pub(crate) clock: Clock,
    /// Incremented whenever mail may have been stored and not announced.
    pub(crate) losses: watch::Sender<u64>,
}

impl Writers {
    /// Watches until it is dropped.
    pub(crate) async fn run(self) {
        let mut known = KnownWriters::default();
        loop {
            self.clock.sleep(WATCH_INTERVAL).await;
            if self.streams.len() == 0 {
                continue;
            }
            match self.store.scan(Heartbeat::of_role(ROLE)).await {
                Ok(rows) => {
                    // A row that does not decode is another release's, and must not hide the others.
                    let beats: Vec<_> =
                        rows.iter().filter_map(|row| Heartbeat::of(row).ok()).collect();
                    if known.observe(&beats) {
                        tracing::info!("mail may be stored that was not announced: looking for it");
                        self.losses.send_modify(|losses| *losses += 1);
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "the processes that store mail are not seen");
                }
            }
        }
    }
}

/// The processes that store mail, by instance.
#[derive(Debug, Default)]
struct KnownWriters(HashMap<String, WriterState>);

#[derive(Debug)]
struct WriterState {
    at: Time,
    unannounced: u64,
    /// Reads in a row that found the same heartbeat.
    silent: u8,
}

impl KnownWriters {
    /// Compares with the heartbeats of now. Returns whether mail may have been stored and not announced.
    fn observe(&mut self, beats: &[Heartbeat]) -> bool {
        let mut lost = false;
        self.0.retain(|instance, seen| {
            let is_there = beats.iter().any(|beat| beat.instance == *instance);
            lost |= !is_there && seen.silent < MAX_SILENT_CHECKS;
            is_there
        });
        for beat in beats {
            let Heartbeat { at, unannounced, .. } = *beat;
            let new = WriterState { at, unannounced: 0, silent: 0 };
            let is_new = !self.0.contains_key(&beat.instance);
            let seen = self.0.entry(beat.instance.clone()).or_insert(new);
            lost |= unannounced != seen.unannounced;
            seen.unannounced = unannounced;
            if seen.at != at {
                (seen.at, seen.silent) = (at, 0);
            } else if !is_new && seen.silent < MAX_SILENT_CHECKS {
                seen.silent += 1;
                lost |= seen.silent == MAX_SILENT_CHECKS;
            }
        }
        lost
    }
}

impl LiveUpdates {
    /// Sends one heartbeat of this process as one that stores mail, before
    /// [`LiveUpdates::run_writer_heartbeat`] sends the others.
    pub async fn send_writer_heartbeat(&self, instance: &str) {
        self.heartbeats.beat(ROLE, instance, self.bus.given_up()).await;
    }

    /// Sends a heartbeat every 5 s, and within a second once announcements were given up, so that other
    /// processes read the store. Sends none while `is_alive` is false. Runs until shutdown.
    pub async fn run_writer_heartbeat(
        &self,
        instance: &str,
        is_alive: impl Fn() -> bool + Send + Sync,
    ) {
        let beats = async {
            let mut shown = self.bus.given_up();
            loop {
                let mut left = BEAT_INTERVAL;
                while left > Duration::ZERO && self.bus.given_up() == shown {
                    self.clock.sleep(CHECK_INTERVAL).await;
                    left = left.saturating_sub(CHECK_INTERVAL);
                }
                shown = self.bus.given_up();
                if is_alive() {
                    self.heartbeats.beat(ROLE, instance, shown).await;
                }
            }
        };
        self.shutdown.run_until_cancelled(beats).await;
    }
}
