//! Checks of a message, computed from its stored bytes when somebody asks. It uses inboxes and messages.
//!
//! Nothing is written, and nothing runs on the receiving path. Nobody else is asked but by those methods that
//! somebody calls for it.

mod auth;
mod authenticator;
mod gate;
mod html;
mod links;
mod overview;
mod reports;
mod spam;
mod unsubscribe;
mod visitor;
mod zones;

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use serde::Serialize;
use tokio::sync::Semaphore;
use trapline_checks::html::Dataset;
use trapline_model::{MessageId, Principal};
use trapline_store::{Clock, Store};

use crate::{
    AuditLog, Inboxes, Result, Settings, limits::Limits, messages::Messages, metrics, parts::Parts,
};
pub use auth::AuthQuery;
pub use authenticator::{AuthDns, AuthMail, AuthUnreadable, Authenticator};
use reports::ReportCache;
use spam::SpamEngines;
pub use visitor::{LinkAnswer, LinkFailure, LinkVisit, LinkVisitor};

/// Checks messages.
pub struct Checks {
    store: Arc<dyn Store>,
    clock: Clock,
    audit: Arc<AuditLog>,
    inboxes: Arc<Inboxes>,
    settings: Arc<Settings>,
    limits: Limits,
    messages: Arc<Messages>,
    visitor: OnceLock<Arc<dyn LinkVisitor>>,
    authenticator: OnceLock<Arc<dyn Authenticator>>,
    authentications: Semaphore,
    engines: OnceLock<SpamEngines>,
    html_data: Arc<Dataset>,
    reports: ReportCache,
}

impl Checks {
    pub(crate) fn new(parts: &Parts, inboxes: Arc<Inboxes>, messages: Arc<Messages>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            audit: parts.audit.clone(),
            inboxes,
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            messages,
            visitor: OnceLock::new(),
            authenticator: OnceLock::new(),
            authentications: Semaphore::new(auth::AT_ONCE),
            engines: OnceLock::new(),
            html_data: html::data(&parts.settings),
            reports: ReportCache::new(),
        }
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
