//! The job queue on NATS JetStream, version 2.12 or newer.
//!
//! One stream of the retention `WorkQueue`, `<NAMESPACE>_JOBS`, holds the jobs of every lane:
//!
//! | subject | holds |
//! |---|---|
//! | `<namespace>.jobs.ready.<lane>` | what is due; one durable pull consumer per lane takes from it |
//! | `<namespace>.jobs.delayed.<lane>.<id>` | what is not: one scheduled message (ADR-51) per id, which the server itself moves to `ready` at its time |
//!
//! A lease is a delivery that is not acknowledged. The server delivers again what was not
//! acknowledged within the lease's time, and a [`Queue::take`](trapline_store::Queue::take) that is
//! dropped half-way loses nothing: what was on its way to it comes again after that time.
//!
//! The server acknowledges a publish before it syncs its disk, so a job may be lost, and the
//! application keeps an outbox.

mod address;
mod direct;
mod error;
mod layout;
mod lease;
mod link;
mod meters;
mod names;
mod publish;
mod queue;
mod stats;
mod take;
mod version;

use std::fmt;

use trapline_store::{Clock, Result};

pub use self::error::JetStreamError;
use self::{address::NatsAddress, layout::LaneConsumers, link::NatsLink};
use crate::UrlError;

/// Whether a URL is one of NATS's; asks no server and reads no file.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    NatsAddress::parse(url).map(drop)
}

/// How to reach JetStream.
#[derive(Clone)]
pub struct JetStreamOptions {
    /// `nats://[user:password@|token@]host[:port],…[?option=value&…]`, or bare `host:port,host:port`;
    /// the port is 4222 unless given, the scheme `tls` is short for `tls=true`. User, password and
    /// token are percent-encoded. Options:
    ///
    /// * `tls=true`: refuse a server that offers no TLS;
    /// * `ca=/path`: PEM file of the authorities to trust instead of the system's;
    /// * `creds=/path`: credentials file (JWT and key);
    /// * `nkey=/path`: file that holds an `NKey` seed;
    /// * `replicas=1..5`: copies of the stream that [`JetStreamQueue::migrate`] asks for; without
    ///   it, a new stream has 1 and an existing one keeps what it has.
    pub url: String,
    /// What the stream's and the subjects' names start with: a word of `[a-z][a-z0-9_]{0,31}`.
    pub namespace: String,
    /// The clock that leases and delays go by.
    pub clock: Clock,
}

impl fmt::Debug for JetStreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a password.
        let Self { url: _, namespace, clock: _ } = self;
        f.debug_struct("JetStreamOptions").field("namespace", namespace).finish_non_exhaustive()
    }
}

/// Jobs in a JetStream stream.
///
/// The connection comes back by itself, for as long as it takes. Meanwhile calls answer
/// [`PortError::Unavailable`](trapline_store::PortError::Unavailable) at once, but for a publish,
/// which tries for some seconds.
pub struct JetStreamQueue {
    link: NatsLink,
    lanes: LaneConsumers,
}

impl JetStreamQueue {
    /// Connects, within seconds, to a server whose stream has been set up.
    ///
    /// # Errors
    ///
    /// [`JetStreamError`] says why the queue cannot be used.
    pub async fn connect(options: &JetStreamOptions) -> Result<Self, JetStreamError> {
        let (link, _) = NatsLink::open(options).await?;
        let lanes = layout::find(&link).await?;
        Ok(Self { link, lanes })
    }

    /// Makes the stream and its consumers, or brings those that exist up to date. May be repeated,
    /// and run by several processes at once. What an operator has set beyond this module's needs
    /// (placement, limits) is left alone.
    ///
    /// # Errors
    ///
    /// [`JetStreamError`] says what could not be made.
    pub async fn migrate(options: &JetStreamOptions) -> Result<(), JetStreamError> {
        let (link, address) = NatsLink::open(options).await?;
        layout::prepare(&link, address.replicas).await
    }

    /// Asks the stream's leader for a sign of life.
    ///
    /// # Errors
    ///
    /// When there is no answer in time.
    pub async fn ping(&self) -> Result<()> {
        let stream = self.link.names.stream();
        self.link.call(&self.link.meters.read, self.link.context.get_stream(stream)).await.map(drop)
    }
}

impl fmt::Debug for JetStreamQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stream = self.link.names.stream();
        f.debug_struct("JetStreamQueue").field("stream", &stream).finish_non_exhaustive()
    }
}
