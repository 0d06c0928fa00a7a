//! Which processes store mail, and whether one of them may have left something unannounced.
//!
//! A process that is killed between storing a message and announcing it announces nothing. Each process
//! with parked waits or event streams therefore watches the signs of life of those that store mail: one
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
/// How often a process that stores mail shows that it lives.
const BEAT_INTERVAL: Duration = Duration::from_secs(5);
/// How often it asks whether the bus has given up on an announcement.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How often others look for that.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// So many looks in a row that find no new sign of life mean that the process is gone: 20 seconds after
/// its last one at the latest.
const MAX_SILENT_READS: u8 = 3;

/// Watches the processes that store mail, for as long as anybody follows an inbox here.
pub(crate) struct Writers {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) streams: Arc<Streams>,
    pub(crate) clock: Clock,
    /// How often something may have been stored and not announced.
    pub(crate) losses: watch::Sender<u64>,
}

impl Writers {
    /// Watches until it is dropped.
    pub(crate) async fn run(self) {
        let mut known = Known::default();
        loop {
            self.clock.sleep(WATCH_INTERVAL).await;
            if self.streams.len() == 0 {
                continue;
            }
            match self.store.scan(Heartbeat::of_role(ROLE)).await {
                Ok(rows) => {
                    // Who cannot be understood is of another release, and of no harm to the others.
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

/// The processes that were seen.
#[derive(Debug, Default)]
struct Known(HashMap<String, Seen>);

#[derive(Debug)]
struct Seen {
    at: Time,
    unannounced: u64,
    /// Looks in a row at the same sign of life.
    silent: u8,
}

impl Known {
    /// Takes note of what is there now. Whether something may be stored that was not announced.
    fn observe(&mut self, beats: &[Heartbeat]) -> bool {
        let mut lost = false;
        self.0.retain(|instance, seen| {
            let is_there = beats.iter().any(|beat| beat.instance == *instance);
            lost |= !is_there && seen.silent < MAX_SILENT_READS;
            is_there
        });
        for beat in beats {
            let Heartbeat { at, unannounced, .. } = *beat;
            let new = Seen { at, unannounced: 0, silent: 0 };
            let is_new = !self.0.contains_key(&beat.instance);
            let seen = self.0.entry(beat.instance.clone()).or_insert(new);
            lost |= unannounced != seen.unannounced;
            seen.unannounced = unannounced;
            if seen.at != at {
                (seen.at, seen.silent) = (at, 0);
            } else if !is_new && seen.silent < MAX_SILENT_READS {
                seen.silent += 1;
                lost |= seen.silent == MAX_SILENT_READS;
            }
        }
        lost
    }
}

impl LiveUpdates {
    /// Shows now that this process stores mail; [`LiveUpdates::show_that_mail_is_stored`] goes on with it.
    pub async fn beat_as_writer(&self, instance: &str) {
        self.heartbeats.beat(ROLE, instance, self.bus.given_up()).await;
    }

    /// Shows every 5 s that this process stores mail, and within a second that announcements were given
    /// up, so that who follows an inbox elsewhere looks for itself. Shows nothing while it does not
    /// live. Runs until shutdown.
    pub async fn show_that_mail_is_stored(
        &self,
        instance: &str,
        lives: impl Fn() -> bool + Send + Sync,
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
                if lives() {
                    self.heartbeats.beat(ROLE, instance, shown).await;
                }
            }
        };
        self.shutdown.run_until_cancelled(beats).await;
    }
}
