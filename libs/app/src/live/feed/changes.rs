//! The events of a stream about messages and inboxes that changed.

use serde_json::{Value, json};
use tokio::time::Instant;
use trapline_model::Inbox;
use trapline_store::{ChangedInbox, Marked, MarkedTogether};
use uuid::Uuid;

use super::{Feed, bookmark::REORDER_WINDOW, ends};
use crate::Result;

impl Feed {
    /// Emits how a message is marked. What its announcement carries spares the store a read for each
    /// stream, unless it may be of a message that is gone, or there may be a later mark.
    pub(super) async fn on_message_updated(
        &mut self,
        uuid: Uuid,
        marked: Option<&Marked>,
    ) -> Result<()> {
        if self.recent.is_deleted(uuid) {
            return Ok(());
        }
        let id = self.id_of(uuid);
        let known = marked.and_then(|marked| {
            let is_read = self.note_mark(uuid, marked.is_read, marked.at)?;
            Some(self.live.payload(id, is_read, || marked.record.clone()))
        });
        if known.is_none() {
            self.doubt(uuid);
        }
        let data = match known {
            Some(data) => Some(data),
            None => self.read_payload(id).await?,
        };
        if let Some(data) = data {
            self.emit("message.updated", data);
        }
        Ok(())
    }

    /// Notes how a message is marked. Returns whether it is read; `None` where only the store knows.
    fn note_mark(&mut self, uuid: Uuid, is_read: bool, at: Uuid) -> Option<bool> {
        let mut dropped = None;
        let is_read = self.recent.marked(uuid, is_read, at, |id| dropped = Some(id));
        if let Some(dropped) = dropped.filter(|id| *id > self.seen.floor()) {
            self.doubt(dropped);
        }
        is_read
    }

    /// Has the rows of announced messages read for a while, unless the client was told of this one, whose
    /// mark is not known.
    fn doubt(&mut self, uuid: Uuid) {
        if !self.seen.contains(uuid) {
            self.reorder_until = Some(Instant::now() + REORDER_WINDOW);
        }
    }

    /// Notes messages that were marked together. Returns what the client is told: those that are so marked
    /// still. Of what is not known here, the store knows.
    async fn note_marks(&mut self, marks: &MarkedTogether) -> Result<Value> {
        let MarkedTogether { ids, is_read, at } = marks;
        let (mut told, mut unknown) = (Vec::with_capacity(ids.len()), Vec::new());
        for uuid in ids.iter().copied() {
            if self.recent.is_deleted(uuid) {
                continue;
            }
            let id = self.id_of(uuid);
            match self.note_mark(uuid, *is_read, *at) {
                Some(read) if read == *is_read => told.push(id),
                Some(_) => {}
                None => {
                    self.doubt(uuid);
                    unknown.push(id);
                }
            }
        }
        if !unknown.is_empty() {
            let marked = self.live.messages.so_marked(&self.inbox, &unknown, *is_read);
            told.extend(self.live.read_for_stream(self.inbox.id, marked).await?);
        }
        Ok(json!({ "ids": told, "isRead": is_read }))
    }

    /// Emits the inbox as it is now.
    pub(super) async fn on_inbox_updated(&mut self, changed: Option<&ChangedInbox>) -> Result<()> {
        if let Some(state) = changed.and_then(|changed| changed.state.as_ref()) {
            self.recent.all_marked(state);
        }
        let marked = changed.and_then(|changed| changed.marks.as_ref());
        let marked = match marked {
            Some(marks) => Some(self.note_marks(marks).await?),
            None => None,
        };
        let is_late = |changed: &&ChangedInbox| {
            changed.version < self.version || changed.counted_at <= self.counted_at
        };
        match changed {
            Some(changed) if !is_late(&changed) => {
                self.inbox.clone_from(&changed.record);
                (self.version, self.counted_at) = (changed.version, changed.counted_at);
                let inbox = self.live.inboxes.present_changed(changed)?;
                self.emit_inbox(inbox, marked);
                Ok(())
            }
            // It was overtaken by a later one, or says nothing.
            _ => {
                if changed.is_none() {
                    self.reorder_until = Some(Instant::now() + REORDER_WINDOW);
                }
                self.emit_inbox_now(marked).await
            }
        }
    }

    /// Reads the inbox, and emits it, with what is told of marked messages.
    pub(super) async fn emit_inbox_now(&mut self, marked: Option<Value>) -> Result<()> {
        self.counted_at = self.live.ids.next();
        let inbox = self.live.inboxes.get(&self.by, self.inbox.id);
        let inbox = self.live.read_for_stream(self.inbox.id, inbox).await?;
        self.emit_inbox(inbox, marked);
        Ok(())
    }

    fn emit_inbox(&mut self, inbox: Inbox, marked: Option<Value>) {
        // It may have been given more time.
        self.ends = ends(inbox.expires_at, self.live.clock.now());
        self.tell_inbox(inbox, marked);
    }

    /// Tells of an inbox, this one or another; who may only read sees no password.
    pub(super) fn tell_inbox(&mut self, inbox: Inbox, marked: Option<Value>) {
        let inbox = if self.by.may_write() { inbox } else { inbox.without_password() };
        let mut data = json!({ "inbox": inbox });
        if let Some(marked) = marked {
            data["marked"] = marked;
        }
        self.emit("inbox.updated", data.to_string().into());
    }
}
