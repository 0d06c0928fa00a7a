//! One connection of the subscriber: what goes out, and what the server sends by itself (RESP3).

use std::{io, time::Duration};

use redis::{
    AsyncConnectionConfig, ConnectionInfo, ProtocolVersion, PushInfo, PushKind, RedisResult, Value,
    aio::{AsyncPushSender, MultiplexedConnection, SendError},
    cluster_async::ClusterConnection,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::timeout,
};
use trapline_model::InboxId;
use trapline_store::Fanout;

use super::super::{
    address::RedisAddress,
    bus::{channel, decode, inbox_of},
    meters::RedisCall,
    pool::CONNECTION_WAIT,
};

/// How long an answer may take: the server may have thousands to give first.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What is asked of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Subscribe,
    Unsubscribe,
}

/// What the server tells about subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    Subscribed(InboxId),
    Unsubscribed(InboxId),
    /// The connection is gone, or the one to any of a cluster's servers.
    Lost,
}

/// An open connection.
pub(super) struct SubscriberLink {
    connection: Connection,
    namespace: String,
    notices: UnboundedReceiver<Notice>,
}

#[derive(Clone)]
enum Connection {
    Server(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// Takes what the server sends by itself. Messages go to their listeners at once, so that they do
/// not pile up here; what is left is one notice for each command.
struct Pushes {
    namespace: String,
    fanout: Fanout,
    notices: UnboundedSender<Notice>,
}

impl SubscriberLink {
    /// Connects, in [`ANSWER_TIMEOUT`] at most; `fanout` hears the messages.
    pub(super) async fn open(
        address: &RedisAddress,
        namespace: &str,
        fanout: Fanout,
    ) -> RedisResult<Self> {
        let namespace = namespace.to_owned();
        let (sender, notices) = unbounded_channel();
        let pushes = Pushes { namespace: namespace.clone(), fanout, notices: sender };
        let opening = async {
            if address.cluster {
                open_cluster(address, pushes).await.map(Connection::Cluster)
            } else {
                open_server(&address.nodes[0], pushes).await.map(Connection::Server)
            }
        };
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let connection = timeout(ANSWER_TIMEOUT, opening).await.map_err(late)??;
        Ok(Self { connection, namespace, notices })
    }

    /// Sends a command at the first poll. That it was done is told by a notice too.
    pub(super) fn request(
        &self,
        verb: Verb,
        inbox: InboxId,
    ) -> impl Future<Output = (InboxId, RedisResult<()>)> + Send + use<> {
        let channel = channel(&self.namespace, inbox);
        let connection = self.connection.clone();
        async move { (inbox, connection.request(verb, &channel).await) }
    }

    /// Waits for the next notice.
    pub(super) async fn notice(&mut self) -> Notice {
        self.notices.recv().await.unwrap_or(Notice::Lost)
    }
}

async fn open_server(node: &ConnectionInfo, pushes: Pushes) -> RedisResult<MultiplexedConnection> {
    let settings = node.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let client = redis::Client::open(node.clone().set_redis_settings(settings))?;
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECTION_WAIT))
        .set_response_timeout(Some(ANSWER_TIMEOUT))
        .set_push_sender(pushes);
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn open_cluster(address: &RedisAddress, pushes: Pushes) -> RedisResult<ClusterConnection> {
    let client = address
        .cluster_builder()
        .use_protocol(ProtocolVersion::RESP3)
        .connection_timeout(CONNECTION_WAIT)
        .response_timeout(ANSWER_TIMEOUT)
        // What fails is tried again by the subscriber.
        .retries(0)
        .push_sender(pushes)
        .build()?;
    client.get_async_connection().await
}

impl Connection {
    async fn request(self, verb: Verb, channel: &str) -> RedisResult<()> {
        match (self, verb) {
            (Self::Server(mut server), Verb::Subscribe) => server.subscribe(channel).await,
            (Self::Server(mut server), Verb::Unsubscribe) => server.unsubscribe(channel).await,
            (Self::Cluster(mut cluster), Verb::Subscribe) => cluster.ssubscribe(channel).await,
            (Self::Cluster(mut cluster), Verb::Unsubscribe) => cluster.sunsubscribe(channel).await,
        }
    }
}

impl AsyncPushSender for Pushes {
    fn send(&self, PushInfo { kind, data }: PushInfo) -> Result<(), SendError> {
        if kind == PushKind::Disconnection {
            return self.notices.send(Notice::Lost).map_err(|_| SendError);
        }
        let Some(Value::BulkString(channel)) = data.first() else { return Ok(()) };
        let Some(inbox) = inbox_of(&self.namespace, channel) else { return Ok(()) };
        let notice = match (kind, data.get(1)) {
            (PushKind::Message | PushKind::SMessage, Some(Value::BulkString(payload))) => {
                self.fanout.send(inbox, decode(payload));
                return Ok(());
            }
            (PushKind::Subscribe | PushKind::SSubscribe, _) => Notice::Subscribed(inbox),
            (PushKind::Unsubscribe | PushKind::SUnsubscribe, _) => Notice::Unsubscribed(inbox),
            _ => return Ok(()),
        };
        self.notices.send(notice).map_err(|_| SendError)
    }
}

impl Verb {
    pub(super) fn operation(self) -> RedisCall {
        match self {
            Self::Subscribe => RedisCall::Subscribe,
            Self::Unsubscribe => RedisCall::Unsubscribe,
        }
    }
}
