//! Read and unread.

use futures_util::future::try_join;
use trapline_model::{InboxId, Message, MessageId, Principal};
use trapline_store::{
    LiveEvent, Marked, Op, PortError, Record, When, load,
    records::{self, InboxState, Mark},
};
use uuid::Uuid;

use crate::{App, Error, Result, counts, receive::MAX_ANNOUNCED};

const TRIES: usize = 8;

impl App {
    /// Marks one message read or unread.
    pub async fn set_read(&self, by: &Principal, id: MessageId, is_read: bool) -> Result<Message> {
        let team = by.team;
        let record = self.message_row(team, id).await?;
        // What is there already is read, so that this mark is later: clocks differ between processes.
        let (mark, state) = self.marked(id).await?;
        let seen = mark.map(|(_, at)| at).max(state.map(|state| state.at));
        let mark = Mark { id, is_read, at: self.ids.next_after(seen.unwrap_or_default()) };
        let put = Op::put(&mark, None, When::Always)?;
        self.ports.store.write(vec![put]).await?;
        self.changed(id.inbox).await;
        self.announce_mark(&mark, &record).await;
        self.open(id, record).await
    }

    /// Marks every message that is in the inbox now as read: one row, however many there are.
    pub async fn mark_all_read(&self, by: &Principal, id: InboxId) -> Result<()> {
        let team = by.team;
        let inbox = self.inbox_record(team, id).await?;
        let limit = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        for _ in 0..TRIES {
            let read_up_to = self.newest(id).await?.unwrap_or_default();
            let seen = self.read_state(id, None, None, limit).await?.latest();
            let at = self.ids.next_after(seen);
            let state = InboxState { inbox: id, read_up_to, at };
            let found = load::<InboxState>(&*self.ports.store, &state.key()).await?;
            let when = found.map_or(When::Absent, |(_, version)| When::Version(version));
            let put = Op::put(&state, None, when)?;
            match self.ports.store.write(vec![put]).await {
                Ok(()) => {
                    self.changed(id).await;
                    self.announce_change(team, id, Some(state)).await;
                    return Ok(());
                }
                Err(PortError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Conflict)
    }

    /// Tells who listens how a message is marked.
    async fn announce_mark(&self, mark: &Mark, record: &records::Message) {
        let Mark { id, is_read, at } = *mark;
        let is_short = record.doc("").is_ok_and(|doc| doc.len() <= MAX_ANNOUNCED);
        let marked = is_short.then(|| Box::new(Marked { is_read, at, record: record.clone() }));
        self.announce(id.inbox, LiveEvent::MessageUpdated { id: id.uuid, marked }).await;
    }

    pub(crate) async fn is_read(&self, id: MessageId) -> Result<bool> {
        let (mark, state) = self.marked(id).await?;
        Ok(counts::is_read(id.uuid, mark, state.as_ref()))
    }

    /// How the message is marked, and its inbox.
    async fn marked(&self, id: MessageId) -> Result<(Option<(bool, Uuid)>, Option<InboxState>)> {
        let (mark, state) = (Mark::row(id), InboxState::row(id.inbox));
        let store = &*self.ports.store;
        let (mark, state) =
            try_join(load::<Mark>(store, &mark), load::<InboxState>(store, &state)).await?;
        Ok((mark.map(|(mark, _)| (mark.is_read, mark.at)), state.map(|(state, _)| state)))
    }
}
