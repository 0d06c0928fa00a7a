//! Checks of a message, computed from its stored bytes when somebody asks. It uses messages.
//!
//! Nothing is written, and nothing runs on the receiving path.

mod html;
mod overview;
mod reports;
mod spam;
mod unsubscribe;

use std::{sync::Arc, time::Instant};

use serde::Serialize;
use trapline_model::{MessageId, Principal};
use trapline_store::Clock;

use crate::{Result, Settings, messages::Messages, metrics, parts::Parts};
use reports::ReportCache;

/// Checks messages.
pub struct Checks {
    clock: Clock,
    settings: Arc<Settings>,
    messages: Arc<Messages>,
    reports: ReportCache,
}

impl Checks {
    pub(crate) fn new(parts: &Parts, messages: Arc<Messages>) -> Self {
        let (clock, settings) = (parts.clock.clone(), parts.settings.clone());
        Self { clock, settings, messages, reports: ReportCache::new() }
    }

    /// The report of `check` with `parameters`, from memory or from the message's bytes; beside the reactor
    /// when they are many.
    async fn report<T: Serialize + Send + Sync + 'static>(
        &self,
        by: &Principal,
        id: MessageId,
        (check, parameters): (&'static str, &str),
        compute: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<Arc<T>> {
        // What is in memory may be of a message that is gone, or another team's.
        let record = self.messages.record(by.team, id).await?;
        let began = Instant::now();
        let compute = async {
            let raw = self.messages.source(&record).await?;
            self.messages.run_parser(raw, compute).await
        };
        let report = self.reports.get(id, format!("{check} {parameters}"), compute).await;
        metrics::check_done(check, outcome(&report), began.elapsed());
        Ok(report?.0)
    }
}

fn outcome<T>(report: &Result<(Arc<T>, bool)>) -> &'static str {
    match report {
        Ok((_, true)) => "cached",
        Ok((_, false)) => "ok",
        Err(_) => "failed",
    }
}
