//! The connection.

use std::{fmt::Display, time::Duration};

use async_nats::{
    Client, Event,
    connection::State,
    jetstream::{self, Context},
};
use metrics::Counter;
use tokio::{sync::watch, time::timeout};
use trapline_store::{Clock, PortError, Result};

use super::{
    JetStreamError, JetStreamOptions, address::NatsAddress, meters::NatsMeters, names::Names,
    version,
};

/// How long one call may take.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long connecting to the first server that answers may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long reaching one server may take.
const SERVER_TIMEOUT: Duration = Duration::from_secs(4);
/// The longest pause between attempts to come back.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// There is no connection at the moment.
#[derive(Debug, thiserror::Error)]
#[error("NATS is disconnected")]
pub(super) struct Disconnected;

/// One connection and what is known of its far end.
pub(super) struct NatsLink {
    pub(super) client: Client,
    pub(super) context: Context,
    pub(super) names: Names,
    pub(super) clock: Clock,
    pub(super) meters: NatsMeters,
    /// Hosts and ports, for messages.
    pub(super) servers: String,
    /// Changes whenever the connection is lost.
    pub(super) losses: watch::Receiver<u64>,
}

impl NatsLink {
    /// Connects to a server that is new enough.
    pub(super) async fn open(
        options: &JetStreamOptions,
    ) -> Result<(Self, NatsAddress), JetStreamError> {
        let names = Names::new(&options.namespace).ok_or(JetStreamError::Namespace)?;
        let address = NatsAddress::parse(&options.url)?;
        let servers = address.hosts.clone();
        let (lost, losses) = watch::channel(0);
        let client = connect(&address, lost).await?;
        let found = client.server_info().version;
        if !version::suffices(&found) {
            return Err(JetStreamError::TooOld { servers, found });
        }
        let (clock, meters) = (options.clock.clone(), NatsMeters::new());
        let context =
            jetstream::context::ContextBuilder::new().timeout(CALL_TIMEOUT).build(client.clone());
        Ok((Self { client, context, names, clock, meters, servers, losses }, address))
    }

    /// [`PortError::Unavailable`] unless there is a connection.
    pub(super) fn connected(&self) -> Result<()> {
        match self.client.connection_state() {
            State::Connected => Ok(()),
            State::Pending | State::Disconnected => Err(PortError::unavailable(Disconnected)),
        }
    }

    /// Runs and counts one call, within [`CALL_TIMEOUT`].
    pub(super) async fn call<T, E: Into<async_nats::Error>>(
        &self,
        counter: &Counter,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T> {
        counter.increment(1);
        let answer = match self.connected() {
            Err(error) => Err(error),
            Ok(()) => match timeout(CALL_TIMEOUT, work).await {
                Ok(answer) => answer.map_err(PortError::unavailable),
                Err(_) => Err(PortError::Timeout),
            },
        };
        answer.inspect_err(|_| self.meters.errors.increment(1))
    }

    /// The server's refusal of `what`.
    pub(super) fn refused(
        &self,
        what: impl Display,
        source: impl Into<async_nats::Error>,
    ) -> JetStreamError {
        let (servers, what) = (self.servers.clone(), what.to_string());
        JetStreamError::Refused { servers, what, source: source.into() }
    }

    /// The lack of `missing`.
    pub(super) fn not_migrated(&self, missing: impl Display) -> JetStreamError {
        let (servers, missing) = (self.servers.clone(), missing.to_string());
        JetStreamError::NotMigrated { servers, missing }
    }
}

async fn connect(
    address: &NatsAddress,
    lost: watch::Sender<u64>,
) -> Result<Client, JetStreamError> {
    let failed = |source| JetStreamError::Connect { servers: address.hosts.clone(), source };
    let options = address.options().await?;
    let options = options
        .name("trapline")
        .connection_timeout(SERVER_TIMEOUT)
        .reconnect_delay_callback(pause)
        // Notices a server that is gone without a word.
        .ping_interval(Duration::from_secs(10))
        .event_callback(move |event| {
            observe(&event, &lost);
            std::future::ready(())
        });
    match timeout(CONNECT_TIMEOUT, options.connect(&address.servers[..])).await {
        Ok(connected) => connected.map_err(|error| failed(error.into())),
        Err(elapsed) => Err(failed(elapsed.into())),
    }
}

/// The pause before the given attempt to come back; these never end.
fn pause(attempts: usize) -> Duration {
    let exponent = u32::try_from(attempts.min(8)).unwrap_or(8);
    Duration::from_millis(20).saturating_mul(2_u32.pow(exponent)).min(MAX_RECONNECT_DELAY)
}

fn observe(event: &Event, lost: &watch::Sender<u64>) {
    if matches!(event, Event::Disconnected) {
        lost.send_modify(|losses| *losses += 1);
    }
    if matches!(event, Event::Disconnected | Event::ServerError(_) | Event::ClientError(_)) {
        tracing::warn!(%event, "NATS");
    } else {
        tracing::debug!(%event, "NATS");
    }
}
