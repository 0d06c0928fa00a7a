//! Messages: listed, searched, read, shown, marked, removed. It uses inboxes.

mod bound;
mod content;
mod heading;
mod list;
mod many;
mod marks;
mod original;
mod preview;
mod read;

use std::sync::Arc;

use futures_util::future::try_join;
use trapline_model::{Envelope, InboxId, Message, MessageId, Principal, Summary, TeamId};
use trapline_store::{
    Bus, Clock, LiveEvent, Op, Store, When, is_v7,
    records::{self, Mark},
};
use uuid::Uuid;

use crate::{
    AuditAction, AuditLog, Error, Result, Settings,
    announce::announce,
    audit::{Target, TargetKind},
    ids::Ids,
    inbox_versions::InboxVersions,
    inboxes::Inboxes,
    message_scans::message_keys,
    parts::Parts,
    plans::Plans,
    read_marks::ReadMarks,
    rows::RowReader,
    secrets::Secrets,
    segment_reviews::{plan_reviews, reviews},
};
use bound::MessageBound;
use content::MessageBytes;
pub use list::{ListQuery, Page};
pub use original::{Original, Pieces};
pub use preview::{PreviewUrl, RenderedHtml, Signature};
pub use read::Download;

/// Messages of inboxes.
pub struct Messages {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    audit: Arc<AuditLog>,
    settings: Arc<Settings>,
    versions: Arc<InboxVersions>,
    read_marks: ReadMarks,
    rows: RowReader,
    bytes: MessageBytes,
    bound: MessageBound,
    plans: Arc<Plans>,
    inboxes: Arc<Inboxes>,
}

impl Messages {
    pub(crate) fn new(parts: &Parts, inboxes: Arc<Inboxes>) -> Self {
        Self {
            store: parts.ports.store.clone(),
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            audit: parts.audit.clone(),
            settings: parts.settings.clone(),
            versions: parts.versions.clone(),
            read_marks: parts.read_marks.clone(),
            rows: parts.rows.clone(),
            bytes: MessageBytes::new(parts),
            bound: MessageBound::new(parts.ports.store.clone(), parts.versions.clone()),
            plans: parts.plans.clone(),
            inboxes,
        }
    }

    /// Removes a message: it is gone from every answer at once. When its bytes go, ADR 5 says.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message.
    pub async fn delete(&self, by: &Principal, id: MessageId) -> Result<()> {
        let message = self.record(by.team, id).await?;
        let mut ops = reviews(&[message.blob.segment].into(), self.clock.now())?;
        let delete = |key| Op::Delete { key, when: When::Always };
        ops.extend([delete(records::Message::row(id)), delete(Mark::row(id))]);
        let target = Target::new(TargetKind::Message, &id, &message.subject);
        let entry = self.audit.entry(by, AuditAction::MessageDeleted, target).await;
        self.audit.write(&entry, ops).await?;
        self.versions.changed(id.inbox).await;
        announce(&*self.bus, id.inbox, LiveEvent::MessagesDeleted { ids: vec![id.uuid] }).await;
        Ok(())
    }

    /// Removes every message that is in the inbox now.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox.
    pub async fn empty(&self, by: &Principal, id: InboxId) -> Result<()> {
        let inbox = self.inboxes.record(by.team, id).await?;
        if let Some(uuid) = self.newest(id).await? {
            let until = MessageId { inbox: id, uuid };
            plan_reviews(&*self.store, id, None, self.clock.now()).await?;
            let ops = [records::Message::row(until), Mark::row(until)];
            let ops = ops.map(|until| Op::DeleteUntil { until }).into();
            let target = Target::inbox(&inbox);
            let entry = self.audit.entry(by, AuditAction::InboxEmptied, target).await;
            self.audit.write(&entry, ops).await?;
            self.versions.changed(id).await;
        }
        announce(&*self.bus, id, LiveEvent::InboxEmptied).await;
        Ok(())
    }

    /// The message's record, if the inbox is the team's and the message still within its bound.
    pub(crate) async fn record(&self, team: TeamId, id: MessageId) -> Result<records::Message> {
        let inbox = self.inboxes.record(team, id.inbox).await?;
        if !is_v7(id.uuid) {
            return Err(Error::NotFound);
        }
        let key = records::Message::row(id);
        let row = async { Ok(self.store.get(&key).await?) };
        let (row, is_within) = try_join(row, self.bound.contains(&inbox, id)).await?;
        // What is over the bound is out of sight at once, and removed soon after.
        let row = row.filter(|_| is_within).ok_or(Error::NotFound)?;
        Ok(records::Message::of(&row)?)
    }

    /// The newest message that is in the inbox now. Ids of other processes may be ahead of this one's
    /// clock, so "all messages" ends with one that was seen.
    async fn newest(&self, inbox: InboxId) -> Result<Option<Uuid>> {
        let rows = self.store.scan(message_keys(inbox, 1)).await?;
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

/// The full message, of a record and its parsed bytes.
pub(crate) fn full_message(
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
