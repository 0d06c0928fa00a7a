//! Leases: deliveries that are not acknowledged.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use async_nats::{Request, Subject, jetstream};
use bytes::Bytes;
use trapline_model::Time;
use trapline_store::{Job, Lane, Lease, PortError, Result};

use super::link::NatsLink;

/// How long a worker holds a job.
pub(super) const LEASE_TTL: Duration = Duration::from_secs(30);

/// What the server is told of a delivery (ADR-15).
#[derive(Debug, Clone, Copy)]
pub(super) enum Ack {
    Done,
    Working,
    /// Never to be delivered again.
    Hopeless,
}

impl Ack {
    fn word(self) -> Bytes {
        Bytes::from_static(match self {
            Self::Done => b"+ACK",
            Self::Working => b"+WPI",
            Self::Hopeless => b"+TERM",
        })
    }
}

/// Names one delivery.
#[derive(Debug)]
pub(super) struct DeliveryToken {
    reply: Subject,
    /// The message's place in the stream.
    pub(super) sequence: u64,
    /// The server cannot say whether a lease still holds, so this end keeps the time.
    held_until: AtomicI64,
}

impl DeliveryToken {
    fn holds(&self, now: Time) -> bool {
        now.millis() < self.held_until.load(Ordering::Relaxed)
    }
}

/// The mark of a lease that this queue gave.
pub(super) fn token(lease: &Lease) -> Result<&DeliveryToken> {
    lease.token.downcast_ref().ok_or(PortError::Misuse("a lease of another queue"))
}

/// The lease that a delivery makes when it arrives; nothing when its payload is no job of the lane.
pub(super) async fn lease_of(
    link: &NatsLink,
    lane: Lane,
    message: jetstream::Message,
    arrived: Time,
) -> Option<Lease> {
    let held_until = AtomicI64::new(arrived.after(LEASE_TTL).millis());
    let sequence = message.info().map(|info| info.stream_sequence).ok()?;
    let reply = message.message.reply?;
    let token = DeliveryToken { reply, sequence, held_until };
    match serde_json::from_slice::<Job>(&message.message.payload) {
        Ok(job) if job.lane == lane => Some(Lease { job, token: Box::new(token) }),
        Ok(_) => discard(link, lane, &token, "it is another lane's").await,
        // The error's own text may quote the payload.
        Err(error) => discard(link, lane, &token, &format!("{:?} error", error.classify())).await,
    }
}

/// Takes out of the stream what no worker could make sense of.
async fn discard(link: &NatsLink, lane: Lane, token: &DeliveryToken, why: &str) -> Option<Lease> {
    let removed = acknowledge(link, token, Ack::Hopeless).await;
    let removed = removed.err().map(|error| error.to_string());
    tracing::error!(
        lane = lane.name(),
        stream.sequence = token.sequence,
        error = why,
        unremoved = removed,
        "a message of the job queue is not a job"
    );
    None
}

/// Returns when the server has heard.
pub(super) async fn acknowledge(link: &NatsLink, token: &DeliveryToken, ack: Ack) -> Result<()> {
    let request = Request::new().payload(ack.word());
    let sent = link.client.send_request(token.reply.clone(), request);
    link.call(&link.meters.ack, sent).await.map(drop)
}

/// Starts the lease's time anew, unless it is over.
pub(super) async fn extend(link: &NatsLink, lease: &Lease) -> Result<()> {
    let token = token(lease)?;
    let now = link.clock.now();
    if !token.holds(now) {
        return Err(PortError::Conflict);
    }
    acknowledge(link, token, Ack::Working).await?;
    token.held_until.store(now.after(LEASE_TTL).millis(), Ordering::Relaxed);
    Ok(())
}
