//! Disposable inboxes whose time is over. The API stopped showing them at that moment; this frees
//! what they held.

use trapline_model::{InboxId, TeamId};
use trapline_store::{LiveEvent, Op, PortError, Record, When, load, records::Inbox};

use super::Inboxes;
use crate::{Error, Result};

/// How often the removal is tried again when somebody changes the inbox at the same moment.
const MAX_TRIES: usize = 8;

impl Inboxes {
    /// Removes a disposable inbox and what it held, if its time is over.
    ///
    /// # Errors
    ///
    /// When the store does not answer; then it may be done again.
    pub(crate) async fn expire(&self, team: TeamId, id: InboxId, username: &str) -> Result<()> {
        if !self.remove_expired(team, id, username).await? {
            return Ok(());
        }
        self.dependent.inbox_removed(team, id).await?;
        self.logins.changed(username).await;
        self.purge(id).await?;
        self.announce(id, LiveEvent::InboxDeleted).await;
        Ok(())
    }

    /// Whether the inbox is gone now. One that was given more time is left to its next task.
    async fn remove_expired(&self, team: TeamId, id: InboxId, username: &str) -> Result<bool> {
        for _ in 0..MAX_TRIES {
            let inbox = load::<Inbox>(&*self.store, &Inbox::row(id)).await?;
            let Some((inbox, version)) = inbox else {
                self.remove_leftovers(team, id, Some(username)).await?;
                return Ok(true);
            };
            if !inbox.expired(self.clock.now()) {
                return Ok(false);
            }
            let delete = Op::Delete { key: inbox.key(), when: When::Version(version) };
            match self.store.write(vec![delete]).await {
                // Rows with a time to live may go at this very moment.
                Ok(()) | Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }
}
