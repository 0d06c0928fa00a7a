//! The work of a group's `Received` job, and the subscribers that it is published for.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, MessageId, TeamId};
use uuid::Uuid;

use crate::Result;

/// Messages that arrived in one inbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Arrival {
    pub(crate) team: TeamId,
    pub(crate) inbox: InboxId,
    pub(crate) messages: Vec<Uuid>,
    /// Whether deliveries to webhooks were started, and only forwards are left to be.
    #[serde(rename = "told", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deliveries_started: bool,
}

/// A service that starts something for arriving mail.
#[async_trait]
pub(crate) trait ArrivalSubscriber: Send + Sync {
    /// Whether mail that arrives in the inbox is of interest; from memory almost always.
    async fn wants(&self, team: TeamId, inbox: InboxId) -> Result<bool>;
}

/// The subscribers to arriving mail. They are asked before a group is committed.
pub(super) struct ArrivalSubscribers(pub(super) Vec<Arc<dyn ArrivalSubscriber>>);

impl ArrivalSubscribers {
    /// The arrivals that a subscriber wants.
    pub(super) async fn of(&self, mails: &[(TeamId, MessageId)]) -> Vec<Arrival> {
        let mut inboxes: BTreeMap<(TeamId, InboxId), Vec<Uuid>> = BTreeMap::new();
        for (team, id) in mails {
            inboxes.entry((*team, id.inbox)).or_default().push(id.uuid);
        }
        let asked = inboxes.into_iter().map(|((team, inbox), messages)| async move {
            let wanted = self.any(team, inbox).await;
            wanted.then_some(Arrival { team, inbox, messages, deliveries_started: false })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// A store that does not answer is no reason to refuse mail: whoever runs the job looks again.
    async fn any(&self, team: TeamId, inbox: InboxId) -> bool {
        for subscriber in &self.0 {
            match subscriber.wants(team, inbox).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "who is told of a team's mail is not known");
                    return true;
                }
            }
        }
        false
    }
}
