//! The events of a stream about messages and inboxes that changed.

use serde_json::json;
use tokio::time::Instant;
use trapline_model::Inbox;
use trapline_store::{ChangedInbox, Marked};
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
        let Self { recent, seen, .. } = self;
        let mut is_doubted = false;
        let known = marked.filter(|marked| {
            recent.marked(uuid, marked.is_read, marked.at, |dropped| {
                is_doubted = dropped > seen.floor() && !seen.contains(dropped);
            })
        });
        if is_doubted || (known.is_none() && !seen.contains(uuid)) {
            self.reread_until = Some(Instant::now() + REORDER_WINDOW);
        }
        let data = match known {
            Some(marked) => {
                let is_read = self.recent.is_read(uuid);
                Some(self.live.payload(id, is_read, || marked.record.clone()))
            }
            None => self.read_payload(id).await?,
        };
        if let Some(data) = data {
            self.emit("message.updated", data);
        }
        Ok(())
    }

    /// Emits the inbox as it is now.
    pub(super) async fn on_inbox_updated(&mut self, changed: Option<&ChangedInbox>) -> Result<()> {
        if let Some(state) = changed.and_then(|changed| changed.state.as_ref()) {
            self.recent.all_marked(state);
        }
        let is_late = |changed: &&ChangedInbox| {
            changed.version < self.version || changed.counted_at <= self.counted_at
        };
        match changed {
            Some(changed) if !is_late(&changed) => {
                self.inbox.clone_from(&changed.record);
                (self.version, self.counted_at) = (changed.version, changed.counted_at);
                let inbox = self.live.inboxes.present_changed(changed)?;
                self.emit_inbox(inbox);
                Ok(())
            }
            // It was overtaken by a later one, or says nothing.
            _ => {
                if changed.is_none() {
                    self.reread_until = Some(Instant::now() + REORDER_WINDOW);
                }
                self.emit_inbox_now().await
            }
        }
    }

    /// Reads the inbox, and emits it.
    pub(super) async fn emit_inbox_now(&mut self) -> Result<()> {
        self.counted_at = self.live.ids.next();
        let inbox = self.live.inboxes.get(&self.by, self.inbox.id);
        let inbox = self.live.read_for_stream(self.inbox.id, inbox).await?;
        self.emit_inbox(inbox);
        Ok(())
    }

    fn emit_inbox(&mut self, inbox: Inbox) {
        // It may have been given more time.
        self.ends = ends(inbox.expires_at, self.live.clock.now());
        let inbox = if self.by.may_write() { inbox } else { inbox.without_password() };
        self.emit("inbox.updated", json!({ "inbox": inbox }).to_string().into());
    }
}
