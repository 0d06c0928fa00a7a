//! Disposable inboxes whose time is over. The API stopped showing them at that moment; this frees
//! what they held.

use trapline_model::{InboxId, TeamId};
use trapline_store::{
    LiveEvent, Op, PortError, Record, When, load,
    records::{Inbox, SmtpLogin},
};

use crate::{App, Result};

impl App {
    pub(super) async fn expire(&self, team: TeamId, id: InboxId, username: &str) -> Result<()> {
        let mut ops = Vec::new();
        // First, so that no login is left without its inbox.
        let login = SmtpLogin::row(username);
        if let Some(row) = self.ports.store.get(&login).await? {
            ops.push(Op::Delete { key: login, when: When::Version(row.version) });
        }
        if let Some((inbox, version)) =
            load::<Inbox>(&*self.ports.store, &Inbox::row(team, id)).await?
        {
            ops.push(Op::Delete { key: inbox.key(), when: When::Version(version) });
        }
        // Rows with a time to live may be gone already, or go at this very moment.
        match self.ports.store.write(ops).await {
            Ok(()) | Err(PortError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
        self.login_changed(username).await;
        self.purge(id).await?;
        self.announce(id, LiveEvent::InboxDeleted).await;
        Ok(())
    }
}
