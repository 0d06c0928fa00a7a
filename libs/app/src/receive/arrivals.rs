//! What a group's `Received` job says, and who makes it worth publishing.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use trapline_model::{InboxId, MessageId, TeamId};
use trapline_store::{Job, PortError};
use uuid::Uuid;

use crate::{App, Result, forwarding::Rules, jobs, webhooks::Hooks};

/// Messages that arrived in one inbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arrival {
    pub(crate) team: TeamId,
    pub(crate) inbox: InboxId,
    pub(crate) messages: Vec<Uuid>,
}

/// Those who may want to know of arriving mail. Each is asked before a group is committed, so each
/// must answer from memory almost always.
pub(crate) struct Interested {
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) rules: Arc<Rules>,
}

impl Interested {
    /// The arrivals that somebody may want to know of.
    pub(super) async fn of(&self, mails: &[(TeamId, MessageId)]) -> Vec<Arrival> {
        let mut inboxes: BTreeMap<(TeamId, InboxId), Vec<Uuid>> = BTreeMap::new();
        for (team, id) in mails {
            inboxes.entry((*team, id.inbox)).or_default().push(id.uuid);
        }
        let asked = inboxes.into_iter().map(|((team, inbox), messages)| async move {
            let wanted = self.any(team, inbox).await;
            wanted.then_some(Arrival { team, inbox, messages })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// A store that does not answer is no reason to refuse mail: whoever runs the job looks again.
    async fn any(&self, team: TeamId, inbox: InboxId) -> bool {
        let asked = async {
            let hooks = self.hooks.of(team).await?;
            if hooks.iter().any(|hook| hook.wants(inbox)) {
                return Ok(true);
            }
            Ok(self.rules.of(team).await?.iter().any(|rule| rule.wants(inbox)))
        };
        asked.await.unwrap_or_else(|error: PortError| {
            tracing::warn!(%error, "who is told of a team's mail is not known");
            true
        })
    }
}

impl App {
    /// Does what arrived mail sets off. Doing it again changes nothing.
    pub async fn arrived(&self, job: &Job) -> Result<()> {
        let arrivals: Vec<Arrival> = jobs::work(job)?;
        self.tell_webhooks(&arrivals).await?;
        self.forward_arrivals(&arrivals).await
    }
}
