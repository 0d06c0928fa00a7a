//! Disposable inboxes whose time is over. The API stopped showing them at that moment; this frees
//! what they held.

use trapline_model::{InboxId, TeamId};
use trapline_store::{
    LiveEvent, Op, PortError, Record, When, load,
    records::{Inbox, SmtpLogin},
};

use crate::{App, Error, Result};

/// How often the removal is tried again when somebody changes the inbox at the same moment.
const TRIES: usize = 8;

impl App {
    pub(super) async fn expire(&self, team: TeamId, id: InboxId, username: &str) -> Result<()> {
        if !self.remove_expired(team, id, username).await? {
            return Ok(());
        }
        self.remove_rule(team, id).await?;
        self.login_changed(username).await;
        self.purge(id).await?;
        self.announce(id, LiveEvent::InboxDeleted).await;
        Ok(())
    }

    /// Whether the inbox is gone now. One that was given more time is left to its next chore.
    async fn remove_expired(&self, team: TeamId, id: InboxId, username: &str) -> Result<bool> {
        for _ in 0..TRIES {
            let inbox = load::<Inbox>(&*self.ports.store, &Inbox::row(team, id)).await?;
            if inbox.as_ref().is_some_and(|(inbox, _)| !inbox.expired(self.now())) {
                return Ok(false);
            }
            let mut ops = Vec::new();
            // First, so that no login is left without its inbox.
            let login = SmtpLogin::row(username);
            if let Some(row) = self.ports.store.get(&login).await? {
                ops.push(Op::Delete { key: login, when: When::Version(row.version) });
            }
            if let Some((inbox, version)) = inbox {
                ops.push(Op::Delete { key: inbox.key(), when: When::Version(version) });
            }
            match self.ports.store.write(ops).await {
                Ok(()) => return Ok(true),
                // Rows with a time to live may go at this very moment.
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }
}
