//! Many messages of an inbox at once: removed, or marked read or unread. What is told of them is one event,
//! and one entry of the audit log.

use std::collections::{BTreeSet, HashMap};

use trapline_model::{InboxId, MessageId, Principal};
use trapline_store::{
    LiveEvent, MarkedTogether, Op, Row, When, is_v7,
    records::{self, Mark, Message},
};
use uuid::Uuid;

use super::Messages;
use crate::{
    AuditAction, Result, announce::announce, audit::Target, rows::write_all,
    segment_reviews::reviews_of,
};

impl Messages {
    /// Removes those of these messages that the inbox has, as [`Messages::delete`] removes one. Returns how
    /// many they were. The edge bounds how many ids there are (200).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has no such inbox.
    pub async fn delete_many(
        &self,
        by: &Principal,
        inbox: InboxId,
        ids: &[MessageId],
    ) -> Result<u64> {
        let inbox = self.inboxes.record(by.team, inbox).await?;
        let (ids, rows) = self.present_among(&inbox, ids).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let mut ops = reviews_of(ids.iter().filter_map(|id| rows.get(id)), self.clock.now())?;
        let delete = |key| Op::Delete { key, when: When::Always };
        let keys = ids.iter().map(|uuid| MessageId { inbox: inbox.id, uuid: *uuid });
        ops.extend(keys.flat_map(|id| [delete(Message::row(id)), delete(Mark::row(id))]));
        let target = Target::inbox(&inbox);
        let entry = self.audit.entry(by, AuditAction::InboxMessagesDeleted, target).await;
        let written = self.audit.write(&entry, ops).await;
        // Also after a write of which it is not known what it did.
        self.versions.changed(inbox.id).await;
        written?;
        let count = ids.len() as u64;
        announce(&*self.bus, inbox.id, LiveEvent::MessagesDeleted { ids }).await;
        Ok(count)
    }

    /// Marks those of these messages that the inbox has, as [`Messages::set_read`] marks one. Returns how many
    /// were not so marked before. The edge bounds how many ids there are (200).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has no such inbox.
    pub async fn set_many_read(
        &self,
        by: &Principal,
        inbox: InboxId,
        ids: &[MessageId],
        is_read: bool,
    ) -> Result<u64> {
        let inbox = self.inboxes.record(by.team, inbox).await?;
        let (mut ids, _) = self.present_among(&inbox, ids).await?;
        let state = self.read_marks.of_many(&self.rows, inbox.id, &ids).await?;
        ids.retain(|id| state.is_read(*id) != is_read);
        if ids.is_empty() {
            return Ok(0);
        }
        // What is there already is read, so that these marks are later: clocks differ between processes.
        let at = self.ids.next_after(state.latest());
        let ttl = self.mark_ttl(by.team).await?;
        let marks = ids.iter().map(|uuid| {
            let id = MessageId { inbox: inbox.id, uuid: *uuid };
            Op::put(&Mark { id, is_read, at }, ttl, When::Always)
        });
        let written = write_all(&*self.store, marks.collect::<Result<_, _>>()?).await;
        // Also after a write of which it is not known what it did.
        self.versions.changed(inbox.id).await;
        written?;
        let count = ids.len() as u64;
        let marks = MarkedTogether { ids, is_read, at };
        self.inboxes.announce_change(by.team, inbox.id, None, Some(marks)).await;
        Ok(count)
    }

    /// Those of these messages that the inbox has and that are marked so.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub(crate) async fn so_marked(
        &self,
        inbox: &records::Inbox,
        ids: &[MessageId],
        is_read: bool,
    ) -> Result<Vec<MessageId>> {
        let (mut ids, _) = self.present_among(inbox, ids).await?;
        let state = self.read_marks.of_many(&self.rows, inbox.id, &ids).await?;
        ids.retain(|id| state.is_read(*id) == is_read);
        Ok(ids.into_iter().map(|uuid| MessageId { inbox: inbox.id, uuid }).collect())
    }

    /// Those of these messages that are in the inbox and within its bound, once each and newest first, and
    /// their rows.
    async fn present_among(
        &self,
        inbox: &records::Inbox,
        ids: &[MessageId],
    ) -> Result<(Vec<Uuid>, HashMap<Uuid, Row>)> {
        let ids = ids.iter().filter(|id| id.inbox == inbox.id && is_v7(id.uuid));
        let ids: BTreeSet<_> = ids.copied().collect();
        let rows = self.rows.find(ids.iter().map(|id| Message::row(*id)).collect()).await?;
        let found = ids.iter().rev().map(|id| id.uuid).filter(|id| rows.contains_key(id));
        let found = self.bound.within(inbox, found.collect()).await?;
        Ok((found, rows))
    }
}
