//! Marks messages read or unread.

use std::time::Duration;

use trapline_model::{InboxId, Message, MessageId, Principal, TeamId};
use trapline_store::{
    LiveEvent, Marked, Op, PortError, Record, When, load,
    records::{self, InboxState, Mark},
};

use super::Messages;
use crate::{
    Error, Result,
    announce::{MAX_ANNOUNCED, announce},
};

/// How often it is tried again when somebody else marks the same inbox.
const MAX_TRIES: usize = 8;
/// Shortest time to live of a mark, where a plan removes messages after a time.
const MIN_MARK_TTL: Duration = Duration::from_hours(400 * 24);

impl Messages {
    /// Marks one message read or unread, and returns it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, and [`Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn set_read(&self, by: &Principal, id: MessageId, is_read: bool) -> Result<Message> {
        let record = self.record(by.team, id).await?;
        // What is there already is read, so that this mark is later: clocks differ between processes.
        let seen = self.read_marks.latest_of(id).await?;
        let mark = Mark { id, is_read, at: self.ids.next_after(seen) };
        let put = Op::put(&mark, self.mark_ttl(by.team).await?, When::Always)?;
        self.store.write(vec![put]).await?;
        self.versions.changed(id.inbox).await;
        self.announce_mark(&mark, &record).await;
        self.load_full(id, record).await
    }

    /// Marks every message that is in the inbox now as read: one row, however many there are.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and [`Error::Conflict`] when others mark it
    /// again and again.
    pub async fn mark_all_read(&self, by: &Principal, id: InboxId) -> Result<()> {
        let inbox = self.inboxes.record(by.team, id).await?;
        let limit = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        for _ in 0..MAX_TRIES {
            let read_up_to = self.newest(id).await?.unwrap_or_default();
            let seen = self.read_marks.state(id, None, None, limit).await?.latest();
            let at = self.ids.next_after(seen);
            let state = InboxState { inbox: id, read_up_to, at };
            let found = load::<InboxState>(&*self.store, &state.key()).await?;
            let when = found.map_or(When::Absent, |(_, version)| When::Version(version));
            let put = Op::put(&state, None, when)?;
            match self.store.write(vec![put]).await {
                Ok(()) => {
                    self.versions.changed(id).await;
                    self.inboxes.announce_change(by.team, id, Some(state), None).await;
                    return Ok(());
                }
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// How long marks are kept. A plan's messages go by themselves, and so must their marks, after all
    /// messages that are there.
    pub(super) async fn mark_ttl(&self, team: TeamId) -> Result<Option<Duration>> {
        let retention = self.plans.of(team).await?.retention();
        Ok(retention.map(|kept| kept.max(MIN_MARK_TTL)))
    }

    /// Announces how a message is marked.
    async fn announce_mark(&self, mark: &Mark, record: &records::Message) {
        let Mark { id, is_read, at } = *mark;
        let is_short = record.doc("").is_ok_and(|doc| doc.len() <= MAX_ANNOUNCED);
        let marked = is_short.then(|| Box::new(Marked { is_read, at, record: record.clone() }));
        let event = LiveEvent::MessageUpdated { id: id.uuid, marked };
        announce(&*self.bus, id.inbox, event).await;
    }
}
