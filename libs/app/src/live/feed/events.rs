//! Turns events of the bus into events of a stream.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;
use trapline_model::MessageId;
use trapline_store::{LiveEvent, records};
use uuid::Uuid;

use super::{DeletedBatches, Feed, bookmark::REORDER_WINDOW};
use crate::Result;

impl Feed {
    /// Handles an event of the bus; whether the inbox is still there.
    pub(super) async fn on_event(&mut self, event: Arc<LiveEvent>) -> Result<bool> {
        match &*event {
            LiveEvent::MessageCreated { id, record, .. } => {
                self.on_message_created(*id, record.as_deref()).await?;
            }
            LiveEvent::MessageUpdated { id, marked } => {
                self.on_message_updated(*id, marked.as_deref()).await?;
            }
            LiveEvent::MessagesDeleted { ids } => {
                for id in ids {
                    self.seen.delete(*id);
                }
                self.recent.deleted(ids);
                self.deleted = Some(DeletedBatches::of(event.clone()));
            }
            LiveEvent::InboxEmptied => {
                self.seen.delete_all();
                self.recent.emptied();
                self.reorder_until = Some(Instant::now() + REORDER_WINDOW);
                let data = json!({ "inboxId": self.inbox.id, "ids": [], "all": true });
                self.emit("message.deleted", data.to_string().into());
            }
            LiveEvent::InboxUpdated { changed } => {
                self.on_inbox_updated(changed.as_deref()).await?;
            }
            LiveEvent::InboxDeleted => return Ok(false),
            LiveEvent::LoginChanged { .. } | LiveEvent::HooksChanged { .. } => {}
        }
        Ok(true)
    }

    /// Emits a message, unless the client was told of it. What its announcement carries spares the
    /// store a read for each stream.
    async fn on_message_created(
        &mut self,
        uuid: Uuid,
        record: Option<&records::Message>,
    ) -> Result<()> {
        if !self.is_new(uuid) {
            return Ok(());
        }
        let id = self.id_of(uuid);
        let is_sure = self.reorder_until.is_none_or(|until| until < Instant::now());
        let data = match record.filter(|_| is_sure) {
            Some(record) => {
                let is_read = self.recent.is_read(uuid);
                Some(self.live.payload(id, is_read, || record.clone()))
            }
            // One that was deleted meanwhile has an event of its own for that.
            None => self.read_payload(id).await?,
        };
        // Only now: after a fault of the store it is still to be told.
        match data {
            Some(data) => {
                self.seen.insert(uuid);
                self.cursor = self.cursor.max(uuid);
                self.emit("message.created", data);
            }
            None => self.seen.delete(uuid),
        }
        Ok(())
    }

    /// Whether the client is to be told of a message.
    pub(super) fn is_new(&self, id: Uuid) -> bool {
        // In one process nothing is stored so late that its id is not kept any more.
        (self.shared || id > self.seen.floor()) && !self.seen.contains(id)
    }

    pub(super) async fn read_payload(&mut self, id: MessageId) -> Result<Option<Bytes>> {
        self.live.read_for_stream(id.inbox, self.live.payload_of(id)).await
    }

    pub(super) fn emit_deleted(&mut self, ids: &[Uuid]) {
        let ids: Vec<_> = ids.iter().map(|id| self.id_of(*id)).collect();
        let data = json!({ "inboxId": self.inbox.id, "ids": ids });
        self.emit("message.deleted", data.to_string().into());
    }
}
