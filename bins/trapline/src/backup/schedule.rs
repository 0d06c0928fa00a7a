//! Backups that one process makes of itself, again and again.

use std::{sync::Arc, time::Duration};

use trapline_app::{MasterKey, metrics};
use trapline_embedded::Embedded;
use trapline_model::Time;
use trapline_store::Clock;

use super::{ArchivePlace, BackupSource, contents};
use crate::{backend::Backend, config::Backups, folder::Folder};

/// When a backup that failed is tried again, unless the next one is due before.
const RETRY: Duration = Duration::from_mins(10);

/// When backups are made, and how many are kept.
pub(crate) struct RegularBackups {
    place: ArchivePlace,
    every: Duration,
    keep: usize,
}

impl RegularBackups {
    /// Those that settings ask for; nothing is opened.
    pub(crate) fn of(settings: &Backups) -> anyhow::Result<Self> {
        let Backups { to, every, keep } = settings;
        Ok(Self { place: ArchivePlace::of(to)?, every: *every, keep: *keep })
    }

    /// Makes backups for ever. One that fails is a line in the log and a metric, and tried again.
    pub(crate) async fn run(
        self,
        embedded: Arc<Embedded>,
        folder: Folder,
        master: MasterKey,
        clock: Clock,
    ) {
        metrics::backup_interval(self.every);
        let backend = Backend::Folder(embedded);
        let installation = BackupSource {
            backend: &backend,
            folder: Some(&folder),
            master: &master,
            clock: &clock,
        };
        let mut due = self.first(&clock).await;
        loop {
            clock.sleep_until(due).await;
            let started = clock.now();
            let made = self.turn(&installation).await;
            metrics::backup_done(made.is_ok());
            due = match made {
                Ok(()) => {
                    metrics::last_backup(Some(started));
                    started.after(self.every)
                }
                Err(error) => {
                    tracing::error!("a backup failed, and is tried again: {error:#}");
                    clock.now().after(self.every.min(RETRY))
                }
            };
        }
    }

    /// When the first backup is due: some time after the last one of an earlier start.
    async fn first(&self, clock: &Clock) -> Time {
        match self.place.newest().await {
            Ok(last) => {
                metrics::last_backup(last);
                last.map_or_else(|| clock.now(), |last| last.after(self.every))
            }
            Err(error) => {
                tracing::warn!("the last backup is not known: {error:#}");
                clock.now()
            }
        }
    }

    async fn turn(&self, installation: &BackupSource<'_>) -> anyhow::Result<()> {
        let (name, manifest) = Box::pin(installation.back_up(&self.place, false)).await?;
        tracing::info!(archive = name, "a backup is made: {}", contents(&manifest));
        self.place.keep(self.keep, installation.clock.now()).await
    }
}
