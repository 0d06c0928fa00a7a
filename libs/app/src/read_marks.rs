//! Which messages of an inbox are read.

use std::{collections::HashMap, sync::Arc};

use futures_util::future::try_join;
use trapline_model::{InboxId, MessageId};
use trapline_store::{
    Key, Record, Scan, Store, Value, load,
    records::{InboxState, Mark},
};
use uuid::Uuid;

use crate::{Result, rows::RowReader};

/// How one message is marked, and when: the id's time.
pub(crate) type MessageMark = (bool, Uuid);

/// Which of some messages of an inbox are read.
pub(crate) struct ReadState {
    all: Option<InboxState>,
    marks: HashMap<Uuid, MessageMark>,
}

impl ReadState {
    pub(crate) fn is_read(&self, message: Uuid) -> bool {
        is_read(message, self.marks.get(&message).copied(), self.all.as_ref())
    }

    /// When the last of it was marked; nil if nothing was.
    pub(crate) fn latest(&self) -> Uuid {
        let marks = self.marks.values().map(|(_, at)| *at);
        marks.chain(self.all.as_ref().map(|all| all.at)).max().unwrap_or_default()
    }
}

/// A mark holds unless the whole inbox was marked read after it.
pub(crate) fn is_read(message: Uuid, mark: Option<MessageMark>, all: Option<&InboxState>) -> bool {
    match mark {
        Some((is_read, at)) if all.is_none_or(|all| at > all.at) => is_read,
        _ => all.is_some_and(|all| message <= all.read_up_to),
    }
}

/// Reads what is marked.
#[derive(Clone)]
pub(crate) struct ReadMarks(Arc<dyn Store>);

impl ReadMarks {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// The read state of the messages behind `after` up to `until`, in list order, of which at most
    /// `limit` are marked one by one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn state(
        &self,
        inbox: InboxId,
        after: Option<Uuid>,
        until: Option<Uuid>,
        limit: usize,
    ) -> Result<ReadState> {
        let all: Option<(InboxState, i64)> = load(&*self.0, &InboxState::row(inbox)).await?;
        let Key { table, partition, .. } = Mark::row(MessageId { inbox, uuid: Uuid::nil() });
        let value = |uuid: Uuid| vec![Value::Uuid(uuid)];
        let scan = Scan {
            table,
            partition,
            after: after.map(value),
            until: until.map(value),
            limit,
            keys_only: false,
        };
        let mut marks = HashMap::new();
        for row in self.0.scan(scan).await? {
            let mark = Mark::of(&row)?;
            marks.insert(mark.id.uuid, (mark.is_read, mark.at));
        }
        Ok(ReadState { all: all.map(|(state, _)| state), marks })
    }

    /// The read state of these messages of an inbox.
    ///
    /// # Errors
    ///
    /// When the store does not answer, or a mark does not decode.
    pub(crate) async fn of_many(
        &self,
        rows: &RowReader,
        inbox: InboxId,
        ids: &[Uuid],
    ) -> Result<ReadState> {
        let keys = ids.iter().map(|uuid| Mark::row(MessageId { inbox, uuid: *uuid })).collect();
        let key = InboxState::row(inbox);
        let (rows, all) = try_join(rows.find(keys), load::<InboxState>(&*self.0, &key)).await?;
        let mut marks = HashMap::new();
        for row in rows.values() {
            let mark = Mark::of(row)?;
            marks.insert(mark.id.uuid, (mark.is_read, mark.at));
        }
        Ok(ReadState { all: all.map(|(state, _)| state), marks })
    }

    /// Whether a message is read.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn is_read(&self, id: MessageId) -> Result<bool> {
        let (mark, all) = self.of_message(id).await?;
        Ok(is_read(id.uuid, mark, all.as_ref()))
    }

    /// When the message, or its whole inbox, was marked last; nil if neither ever was.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn latest_of(&self, id: MessageId) -> Result<Uuid> {
        let (mark, all) = self.of_message(id).await?;
        Ok(mark.map(|(_, at)| at).max(all.map(|all| all.at)).unwrap_or_default())
    }

    async fn of_message(&self, id: MessageId) -> Result<(Option<MessageMark>, Option<InboxState>)> {
        let (mark, all) = (Mark::row(id), InboxState::row(id.inbox));
        let (mark, all) =
            try_join(load::<Mark>(&*self.0, &mark), load::<InboxState>(&*self.0, &all)).await?;
        Ok((mark.map(|(mark, _)| (mark.is_read, mark.at)), all.map(|(state, _)| state)))
    }
}
