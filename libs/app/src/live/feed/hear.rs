//! What a stream does with what it hears.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tokio::time::Instant;
use trapline_model::MessageId;
use trapline_store::{LiveEvent, records};
use uuid::Uuid;

use super::{Deleted, Feed, bookmark::BEHIND};
use crate::Result;

impl Feed {
    /// Makes ready what an event tells; whether the inbox is still there.
    pub(super) async fn hear(&mut self, event: Arc<LiveEvent>) -> Result<bool> {
        match &*event {
            LiveEvent::MessageCreated { id, record, .. } => {
                self.created(*id, record.as_deref()).await?;
            }
            LiveEvent::MessageUpdated { id, marked } => {
                self.updated(*id, marked.as_deref()).await?;
            }
            LiveEvent::MessagesDeleted { ids } => {
                for id in ids {
                    self.told.delete(*id);
                }
                self.recent.deleted(ids);
                self.deleted = Some(Deleted::of(event.clone()));
            }
            LiveEvent::InboxEmptied => {
                self.told.delete_all();
                self.recent.emptied();
                self.doubt = Some(Instant::now() + BEHIND);
                let data = json!({ "inboxId": self.inbox.id, "ids": [], "all": true });
                self.tell("message.deleted", data.to_string().into());
            }
            LiveEvent::InboxUpdated { changed } => {
                self.inbox_changed(changed.as_deref()).await?;
            }
            LiveEvent::InboxDeleted => return Ok(false),
            LiveEvent::LoginChanged { .. } | LiveEvent::HooksChanged { .. } => {}
        }
        Ok(true)
    }

    /// Tells of a message, unless the client was told of it. What its announcement carries spares the
    /// store a read for each stream.
    async fn created(&mut self, uuid: Uuid, record: Option<&records::Message>) -> Result<()> {
        if !self.is_new(uuid) {
            return Ok(());
        }
        let id = self.id_of(uuid);
        let is_sure = self.doubt.is_none_or(|until| until < Instant::now());
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
                self.told.insert(uuid);
                self.cursor = self.cursor.max(uuid);
                self.tell("message.created", data);
            }
            None => self.told.delete(uuid),
        }
        Ok(())
    }

    /// Whether the client is to be told of a message.
    pub(super) fn is_new(&self, id: Uuid) -> bool {
        // In one process nothing is stored so late that its id is not kept any more.
        (self.shared || id > self.told.floor()) && !self.told.contains(id)
    }

    pub(super) async fn read_payload(&mut self, id: MessageId) -> Result<Option<Bytes>> {
        self.live.read_for_stream(id.inbox, self.live.payload_of(id)).await
    }

    pub(super) fn tell_deleted(&mut self, ids: &[Uuid]) {
        let ids: Vec<_> = ids.iter().map(|id| self.id_of(*id)).collect();
        let data = json!({ "inboxId": self.inbox.id, "ids": ids });
        self.tell("message.deleted", data.to_string().into());
    }
}
