//! Storing jobs.

use std::time::Duration;

use async_nats::{
    header::{NATS_SCHEDULE, NATS_SCHEDULE_TARGET},
    jetstream::{
        self,
        context::{PublishError, PublishErrorKind},
        message::PublishMessage,
    },
};
use tokio::time::{Instant, sleep, timeout};
use trapline_model::Time;
use trapline_store::{Clock, Job, PortError, Result};

use super::link::{Disconnected, NatsLink};

/// For how long a publish is tried again: longer than an election takes.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause between attempts.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Why an attempt failed.
enum PublishFailure {
    Disconnected,
    TimedOut,
    Refused(PublishError),
}

impl PublishFailure {
    /// Whether another attempt may fare better.
    fn is_passing(&self) -> bool {
        match self {
            Self::Disconnected | Self::TimedOut => true,
            Self::Refused(error) => match error.kind() {
                // While a stream has no leader nobody answers for its subjects.
                PublishErrorKind::StreamNotFound
                | PublishErrorKind::TimedOut
                | PublishErrorKind::BrokenPipe => true,
                _ => leaderless(error),
            },
        }
    }
}

impl From<PublishFailure> for PortError {
    fn from(failure: PublishFailure) -> Self {
        match failure {
            PublishFailure::Disconnected => Self::unavailable(Disconnected),
            PublishFailure::TimedOut => Self::Timeout,
            PublishFailure::Refused(error) if error.kind() == PublishErrorKind::TimedOut => {
                Self::Timeout
            }
            PublishFailure::Refused(error) => Self::unavailable(error),
        }
    }
}

/// Whether the server says that it is unavailable for now.
fn leaderless(error: &PublishError) -> bool {
    let source = std::error::Error::source(error);
    let source = source.and_then(|source| source.downcast_ref::<jetstream::Error>());
    source.is_some_and(|error| error.code() == 503)
}

/// Returns once the job is stored. Attempts that had been stored already change nothing: within two
/// minutes the server stores one message of each mark.
pub(super) async fn store(link: &NatsLink, job: &Job, due: Option<Time>, mark: &str) -> Result<()> {
    let (subject, message) = message(link, job, due, mark)?;
    let began = Instant::now();
    link.meters.publish.increment(1);
    loop {
        let Err(failure) = attempt(link, &subject, &message).await else { return Ok(()) };
        if !failure.is_passing() || began.elapsed() + RETRY_DELAY > PUBLISH_TIMEOUT {
            link.meters.errors.increment(1);
            return Err(failure.into());
        }
        sleep(RETRY_DELAY).await;
    }
}

async fn attempt(
    link: &NatsLink,
    subject: &str,
    message: &PublishMessage,
) -> Result<(), PublishFailure> {
    link.connected().map_err(|_| PublishFailure::Disconnected)?;
    let stored = async {
        let sent = link.context.send_publish(subject.to_owned(), message.clone()).await?;
        sent.await.map(drop)
    };
    match timeout(ATTEMPT_TIMEOUT, stored).await {
        Ok(stored) => stored.map_err(PublishFailure::Refused),
        Err(_) => Err(PublishFailure::TimedOut),
    }
}

fn message(
    link: &NatsLink,
    job: &Job,
    due: Option<Time>,
    mark: &str,
) -> Result<(String, PublishMessage)> {
    let payload = serde_json::to_vec(job);
    let payload = payload.map_err(|source| PortError::Corrupt { table: "job", source })?;
    let message = PublishMessage::build().payload(payload.into()).message_id(mark);
    let ready = link.names.ready(job.lane);
    let now = link.clock.now();
    let Some(due) = due.filter(|due| *due > now) else { return Ok((ready, message)) };
    let schedule = format!("@at {}", real(&link.clock, due));
    let message =
        message.header(NATS_SCHEDULE, schedule.as_str()).header(NATS_SCHEDULE_TARGET, &*ready);
    Ok((link.names.delayed(job.lane, &job.id)?, message))
}

/// When it is `due` by the server's clock.
fn real(clock: &Clock, due: Time) -> Time {
    let now = Clock::system().now();
    now.after(clock.real(due.since(clock.now())))
}
