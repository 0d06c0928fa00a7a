//! Messages: listed, read, marked, removed.

mod heading;
mod list;
mod marks;
mod original;
mod read;

use futures_util::future::try_join;
use trapline_model::{Envelope, InboxId, Message, MessageId, Principal, Summary, TeamId};
use trapline_store::{
    LiveEvent, Op, Scan, Value, When, is_v7,
    records::{self, Mark},
};
use uuid::Uuid;

use crate::{App, Error, Result, counts::message_keys, janitor};

pub(crate) use list::rows_of;
pub use list::{ListQuery, Page};
pub use original::{Original, Pieces};
pub use read::Download;

impl App {
    /// Removes a message: it is gone from every answer at once. When its bytes go, ADR 5 says.
    pub async fn delete_message(&self, by: &Principal, id: MessageId) -> Result<()> {
        let team = by.team;
        let message = self.message_row(team, id).await?;
        let mut ops = janitor::marks(&[message.blob.segment].into(), self.now())?;
        let delete = |key| Op::Delete { key, when: When::Always };
        ops.extend([delete(records::Message::row(id)), delete(Mark::row(id))]);
        self.ports.store.write(ops).await?;
        self.changed(id.inbox).await;
        self.announce(id.inbox, LiveEvent::MessagesDeleted { ids: vec![id.uuid] }).await;
        Ok(())
    }

    /// Removes every message that is in the inbox now.
    pub async fn empty_inbox(&self, by: &Principal, id: InboxId) -> Result<()> {
        let team = by.team;
        self.inbox_record(team, id).await?;
        if let Some(uuid) = self.newest(id).await? {
            let until = MessageId { inbox: id, uuid };
            self.mark_segments(id).await?;
            let ops = [records::Message::row(until), Mark::row(until)];
            self.ports.store.write(ops.map(|until| Op::DeleteUntil { until }).into()).await?;
            self.changed(id).await;
        }
        self.announce(id, LiveEvent::InboxEmptied).await;
        Ok(())
    }

    /// The message's record, if the inbox is the team's and the message still within its bound.
    pub(crate) async fn message_row(
        &self,
        team: TeamId,
        id: MessageId,
    ) -> Result<records::Message> {
        let inbox = self.inbox_record(team, id.inbox).await?;
        if !is_v7(id.uuid) {
            return Err(Error::NotFound);
        }
        let max = usize::try_from(inbox.max_messages).unwrap_or(usize::MAX);
        let until = Some(vec![Value::Uuid(id.uuid)]);
        let newer = Scan { until, ..message_keys(id.inbox, max.saturating_add(1)) };
        let row = records::Message::row(id);
        let (row, newer) =
            try_join(self.ports.store.get(&row), self.ports.store.scan(newer)).await?;
        // What is over the bound is out of sight at once, and removed soon after.
        let row = row.filter(|_| newer.len() <= max).ok_or(Error::NotFound)?;
        Ok(records::Message::of(&row)?)
    }

    /// The newest message that is in the inbox now. Ids of other processes may be ahead of this one's
    /// clock, so "all messages" ends with one that was seen.
    async fn newest(&self, inbox: InboxId) -> Result<Option<Uuid>> {
        let rows = self.ports.store.scan(message_keys(inbox, 1)).await?;
        Ok(rows.first().map(records::Message::id))
    }
}

/// A record as lists show it.
pub(crate) fn summary(id: MessageId, message: records::Message, is_read: bool) -> Summary {
    Summary {
        id,
        inbox_id: id.inbox,
        subject: message.subject,
        from: message.from,
        to: message.to,
        cc: message.cc,
        bcc: message.bcc,
        reply_to: message.reply_to,
        envelope: message.envelope,
        received_at: id.received_at(),
        date: message.date,
        size: message.blob.len,
        is_read,
        warnings: message.warnings,
        snippet: message.snippet,
        attachment_count: message.attachment_count,
    }
}

/// A record and what its bytes hold.
pub(crate) fn whole(
    id: MessageId,
    record: &records::Message,
    envelope: Envelope,
    is_read: bool,
    parsed: trapline_mime::Parsed,
) -> Message {
    let trapline_mime::Parsed { digest, message_id, html, text, headers, .. } = parsed;
    let trapline_mime::Parsed { attachments, alternatives, links, codes, .. } = parsed;
    Message {
        id,
        inbox_id: id.inbox,
        message_id,
        subject: digest.subject,
        from: digest.from,
        to: digest.to,
        cc: digest.cc,
        bcc: digest.bcc,
        reply_to: digest.reply_to,
        envelope,
        received_at: id.received_at(),
        date: digest.date,
        size: record.blob.len,
        is_read,
        html,
        text,
        headers,
        attachments,
        alternatives,
        links,
        codes,
        warnings: digest.warnings,
    }
}
