//! Inboxes that go with their team.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_model::{InboxId, MessageId, TeamId};
use trapline_store::{
    LiveEvent, Op, Record as _, Scan, When, load,
    records::{Inbox, InboxEntry, Login, Message, removal_of_message},
};

use super::Inboxes;
use crate::{
    Result,
    message_scans::message_keys,
    rows::{Pages, write_all},
    segment_reviews::plan_erasures,
};

/// Inboxes that are removed at the same time.
const MAX_CONCURRENT_REMOVALS: usize = 4;
/// Keys of messages that are read at a time.
const PAGE_KEYS: usize = 500;

impl Inboxes {
    /// Removes some inboxes of a team that was deleted, and all that they hold. Returns whether there
    /// were any.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::Conflict`](crate::Error::Conflict) when somebody
    /// changes one at the same moment. It may be done again.
    pub(crate) async fn remove_some_of(&self, team: TeamId, limit: usize) -> Result<bool> {
        let mut ids = Vec::new();
        for scan in InboxEntry::of_team(team) {
            let limit = limit - ids.len();
            let rows = self.store.scan(Scan { limit, keys_only: true, ..scan }).await?;
            ids.extend(rows.iter().filter_map(InboxEntry::inbox_of));
            if rows.len() == limit {
                break;
            }
        }
        ids.dedup();
        let is_some = !ids.is_empty();
        let removals = ids.into_iter().map(|id| self.remove_with_team(team, InboxId(id)));
        stream::iter(removals)
            .buffer_unordered(MAX_CONCURRENT_REMOVALS)
            .try_collect::<()>()
            .await?;
        Ok(is_some)
    }

    async fn remove_with_team(&self, team: TeamId, id: InboxId) -> Result<()> {
        let found = load::<Inbox>(&*self.store, &Inbox::row(id)).await?;
        if let Some((inbox, version)) = found {
            let login = Op::Delete { key: Login::row(&inbox.username), when: When::Always };
            let own = Op::Delete { key: inbox.key(), when: When::Version(version) };
            self.store.write(vec![login, own]).await?;
            self.logins.changed(&inbox.username).await;
        }
        self.dependent.inbox_removed(team, id).await?;
        self.remove_what_messages_own(id).await?;
        plan_erasures(&*self.store, id, self.clock.now()).await?;
        self.remove_contents(id).await?;
        // The entries in the list go last: by them an inbox is found whose removal was cut off.
        self.remove_leftovers(team, id, None).await?;
        self.announce(id, LiveEvent::InboxDeleted).await;
        Ok(())
    }

    async fn remove_what_messages_own(&self, inbox: InboxId) -> Result<()> {
        let mut pages = Pages::of(&*self.store, message_keys(inbox, PAGE_KEYS));
        while let Some(rows) = pages.next().await? {
            let ids = rows.iter().map(|row| MessageId { inbox, uuid: Message::id(row) });
            write_all(&*self.store, ids.flat_map(removal_of_message).collect()).await?;
        }
        Ok(())
    }
}
