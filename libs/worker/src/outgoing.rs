//! Gives mail to the relay: what the service itself sends, and what is forwarded. One recipient a job.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{App, Claimed, Error, Job, Lane, Relay};

use crate::{
    arrivals::after_outage,
    lanes::{Ended, Handler},
};

/// The relay's connections, of which forwarding leaves one to mail that somebody waits for.
const MAILS_AT_ONCE: usize = 4;
const FORWARDS_AT_ONCE: usize = 3;

/// Works on [`Lane::Mail`].
struct Mails {
    app: Arc<App>,
    relay: Arc<dyn Relay>,
}

/// Works on [`Lane::Forward`].
struct Forwards {
    app: Arc<App>,
    relay: Arc<dyn Relay>,
}

/// The handlers of both lanes that need a relay.
#[must_use]
pub fn outgoing_handlers(app: &Arc<App>, relay: &Arc<dyn Relay>) -> Vec<Arc<dyn Handler>> {
    vec![
        Arc::new(Mails { app: app.clone(), relay: relay.clone() }),
        Arc::new(Forwards { app: app.clone(), relay: relay.clone() }),
    ]
}

#[async_trait]
impl Handler for Mails {
    fn lane(&self) -> Lane {
        Lane::Mail
    }

    fn at_once(&self) -> usize {
        MAILS_AT_ONCE
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        self.send(job).await.or_else(|error| after_outage(&self.app, job, error))
    }
}

impl Mails {
    async fn send(&self, job: &Job) -> Result<Ended, Error> {
        let attempt = match self.app.outbound_mail().claim(job).await? {
            Claimed::Run(attempt) => attempt,
            Claimed::Reschedule(next) => return Ok(Ended::Again(next)),
            Claimed::Finished => return Ok(Ended::Done),
        };
        let sent = self.relay.send(&attempt.parcel).await;
        let next = self.app.outbound_mail().record(*attempt, sent).await?;
        Ok(next.map_or(Ended::Done, Ended::Again))
    }
}

#[async_trait]
impl Handler for Forwards {
    fn lane(&self) -> Lane {
        Lane::Forward
    }

    fn at_once(&self) -> usize {
        FORWARDS_AT_ONCE
    }

    async fn run(&self, job: &Job) -> Result<Ended, Error> {
        self.send(job).await.or_else(|error| after_outage(&self.app, job, error))
    }
}

impl Forwards {
    async fn send(&self, job: &Job) -> Result<Ended, Error> {
        let mut attempt = match self.app.forwarding().claim(job).await? {
            Claimed::Run(attempt) => attempt,
            Claimed::Reschedule(next) => return Ok(Ended::Again(next)),
            Claimed::Finished => return Ok(Ended::Done),
        };
        let mut sent = self.relay.send(&attempt.parcel).await;
        if sent.is_err_and(|trouble| trouble.is_about_content()) && attempt.wrap() {
            sent = self.relay.send(&attempt.parcel).await;
        }
        let next = self.app.forwarding().record(*attempt, sent).await?;
        Ok(next.map_or(Ended::Done, Ended::Again))
    }
}
