//! Gives mail to the relay: what the service itself sends, and what is forwarded. One recipient a job.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_app::{
    App, Claimed, Error, ForwardAttempt, Job, Lane, MailAttempt, Relay, RelayError,
};

use crate::attempted::AttemptedJob;

/// Sends one mail of the service itself.
pub struct SendMail {
    app: Arc<App>,
    relay: Arc<dyn Relay>,
}

/// Forwards one message to one recipient.
pub struct ForwardMessage {
    app: Arc<App>,
    relay: Arc<dyn Relay>,
}

impl SendMail {
    /// Over the application whose mail goes to `relay`.
    #[must_use]
    pub fn new(app: Arc<App>, relay: Arc<dyn Relay>) -> Self {
        Self { app, relay }
    }
}

impl ForwardMessage {
    /// Over the application whose forwards go to `relay`.
    #[must_use]
    pub fn new(app: Arc<App>, relay: Arc<dyn Relay>) -> Self {
        Self { app, relay }
    }
}

#[async_trait]
impl AttemptedJob for SendMail {
    const LANE: Lane = Lane::Mail;
    /// As many as the relay's connections.
    const CONCURRENCY: usize = 4;
    type Attempt = MailAttempt;
    type Outcome = Result<(), RelayError>;

    async fn claim(&self, job: &Job) -> Result<Claimed<MailAttempt>, Error> {
        self.app.outbound_mail().claim(job).await
    }

    async fn perform(&self, attempt: &mut MailAttempt) -> Self::Outcome {
        self.relay.send(&attempt.outgoing).await
    }

    async fn record(&self, done: MailAttempt, sent: Self::Outcome) -> Result<Option<Job>, Error> {
        self.app.outbound_mail().record(done, sent).await
    }
}

#[async_trait]
impl AttemptedJob for ForwardMessage {
    const LANE: Lane = Lane::Forward;
    /// One less than the relay's connections: somebody waits for mail of the service itself.
    const CONCURRENCY: usize = 3;
    type Attempt = ForwardAttempt;
    type Outcome = Result<(), RelayError>;

    async fn claim(&self, job: &Job) -> Result<Claimed<ForwardAttempt>, Error> {
        self.app.forwarding().claim(job).await
    }

    async fn perform(&self, attempt: &mut ForwardAttempt) -> Self::Outcome {
        let sent = self.relay.send(&attempt.outgoing).await;
        if sent.is_err_and(|error| error.is_about_content()) && attempt.wrap() {
            return self.relay.send(&attempt.outgoing).await;
        }
        sent
    }

    async fn record(
        &self,
        done: ForwardAttempt,
        sent: Self::Outcome,
    ) -> Result<Option<Job>, Error> {
        self.app.forwarding().record(done, sent).await
    }
}
