//! The stream and its consumers.

use std::{collections::HashMap, time::Duration};

use async_nats::jetstream::{
    ErrorCode,
    consumer::{AckPolicy, Consumer, pull},
    context::GetStreamErrorKind,
    stream::{Config, ConsumerErrorKind, RetentionPolicy, StorageType, Stream},
};
use tokio::time::sleep;
use trapline_store::{Clock, Lane, PortError, Result};

use super::{JetStreamError, lease::LEASE_TTL, link::NatsLink, names::Names};

/// How long the server remembers the ids of what was published.
const DEDUPLICATION_WINDOW: Duration = Duration::from_mins(2);
/// How much longer than a lease the server waits, so that no worker's job goes to another while
/// the worker, told a little later, counts on it.
const ACK_GRACE: Duration = Duration::from_secs(1);
/// The most leases of a lane.
const MAX_LEASES: i64 = 20_000;
/// The most workers that wait for a lane's jobs at once.
const MAX_WAITING_PULLS: i64 = 4096;
/// How often setting up is tried, a second apart: a cluster may be electing a leader.
const MAX_TRIES: usize = 5;

/// The consumer of each lane.
pub(super) struct LaneConsumers(HashMap<Lane, Consumer<pull::Config>>);

impl LaneConsumers {
    pub(super) fn of(&self, lane: Lane) -> Result<&Consumer<pull::Config>> {
        self.0.get(&lane).ok_or(PortError::Misuse("a lane without a consumer"))
    }
}

/// What of the stream this module relies on; the rest is left as it is.
///
/// Nothing bounds the stream: beside scheduled messages the server lets a full stream only discard
/// what is oldest, which would lose jobs. At the server's or the account's own limit a publish is
/// refused.
fn shaped(config: Config, names: &Names, replicas: Option<usize>, clock: &Clock) -> Config {
    Config {
        name: names.stream(),
        subjects: names.subjects(),
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        duplicate_window: clock.real(DEDUPLICATION_WINDOW),
        allow_message_schedules: true,
        allow_direct: true,
        num_replicas: replicas.unwrap_or(config.num_replicas.max(1)),
        ..config
    }
}

fn consumer(names: &Names, lane: Lane, clock: &Clock) -> pull::Config {
    pull::Config {
        durable_name: Some(lane.name().to_owned()),
        filter_subject: names.ready(lane),
        ack_policy: AckPolicy::Explicit,
        ack_wait: clock.real(LEASE_TTL + ACK_GRACE),
        max_deliver: -1,
        max_ack_pending: MAX_LEASES,
        max_waiting: MAX_WAITING_PULLS,
        ..pull::Config::default()
    }
}

/// Looks for everything that [`prepare`] makes.
pub(super) async fn find(link: &NatsLink) -> Result<LaneConsumers, JetStreamError> {
    let name = link.names.stream();
    let stream =
        existing(link).await?.ok_or_else(|| link.not_migrated(format!("stream {name}")))?;
    let config = &stream.cached_info().config;
    if !(config.allow_message_schedules && config.allow_direct) {
        return Err(link.not_migrated(format!("stream {name} with scheduled messages")));
    }
    let mut lanes = HashMap::new();
    for lane in Lane::ALL {
        let found = link.context.get_consumer_from_stream(lane.name(), &name).await;
        let consumer = found.map_err(|error| match error.kind() {
            ConsumerErrorKind::JetStream(ref why)
                if why.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
            {
                link.not_migrated(format!("consumer {} of stream {name}", lane.name()))
            }
            _ => link.refused(format!("consumer {}", lane.name()), error),
        })?;
        lanes.insert(lane, consumer);
    }
    Ok(LaneConsumers(lanes))
}

/// Makes the stream and a consumer per lane, or brings them up to date.
pub(super) async fn prepare(
    link: &NatsLink,
    replicas: Option<usize>,
) -> Result<(), JetStreamError> {
    for _ in 1..MAX_TRIES {
        match prepare_once(link, replicas).await {
            Ok(()) => return Ok(()),
            Err(error) => {
                tracing::warn!(%error, "setting up the job queue failed, to be tried again");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
    prepare_once(link, replicas).await
}

async fn prepare_once(link: &NatsLink, replicas: Option<usize>) -> Result<(), JetStreamError> {
    let stream = match existing(link).await? {
        Some(stream) => stream,
        None => create(link, replicas).await?,
    };
    let config = &stream.cached_info().config;
    let wanted = shaped(config.clone(), &link.names, replicas, &link.clock);
    if wanted != *config {
        let updated = link.context.update_stream(wanted).await;
        updated.map_err(|error| link.refused("updating the stream", error))?;
    }
    for lane in Lane::ALL {
        let made = stream.create_consumer(consumer(&link.names, lane, &link.clock)).await;
        made.map_err(|error| link.refused(format!("making consumer {}", lane.name()), error))?;
    }
    Ok(())
}

async fn existing(link: &NatsLink) -> Result<Option<Stream>, JetStreamError> {
    match link.context.get_stream(link.names.stream()).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(why)
                if why.error_code() == ErrorCode::STREAM_NOT_FOUND =>
            {
                Ok(None)
            }
            _ => Err(link.refused("looking for the stream", error)),
        },
    }
}

async fn create(link: &NatsLink, replicas: Option<usize>) -> Result<Stream, JetStreamError> {
    let wanted = shaped(Config::default(), &link.names, replicas, &link.clock);
    let made = link.context.create_stream(wanted).await;
    made.map_err(|error| link.refused("making the stream", error))
}
