//! The payloads of message events: made once, and shared by the streams that tell of the message.

use std::time::Duration;

use bytes::Bytes;
use moka::sync::Cache;
use trapline_model::MessageId;
use trapline_store::records;

use crate::{Result, live::LiveUpdates, messages::summary};

/// Bytes of the payloads in the cache.
const CACHE_BYTES: u64 = 16 << 20;
/// How long a payload stays in the cache: every listener has heard of the message by then.
const CACHE_TTL: Duration = Duration::from_secs(30);

/// Payloads by message, and by whether it is read: nothing else of a summary ever changes.
pub(crate) struct Payloads(Cache<(MessageId, bool), Bytes>);

impl Default for Payloads {
    fn default() -> Self {
        let weight = |_: &_, bytes: &Bytes| u32::try_from(bytes.len() + 128).unwrap_or(u32::MAX);
        let kept =
            Cache::builder().weigher(weight).max_capacity(CACHE_BYTES).time_to_live(CACHE_TTL);
        Self(kept.build())
    }
}

impl LiveUpdates {
    /// The payload of an event about a message; `None` when it is gone.
    pub(super) async fn payload_of(&self, id: MessageId) -> Result<Option<Bytes>> {
        let is_read = self.read_marks.is_read(id).await?;
        if let Some(known) = self.payloads.0.get(&(id, is_read)) {
            return Ok(Some(known));
        }
        let row = self.store.get(&records::Message::row(id)).await?;
        let record = row.map(|row| records::Message::of(&row)).transpose()?;
        Ok(record.map(|record| self.payload(id, is_read, || record)))
    }

    /// The payload of an event about a message whose record is at hand.
    pub(super) fn payload(
        &self,
        id: MessageId,
        is_read: bool,
        record: impl FnOnce() -> records::Message,
    ) -> Bytes {
        self.payloads.0.get_with((id, is_read), || {
            let message = summary(id, record(), is_read);
            serde_json::json!({ "inboxId": id.inbox, "message": message }).to_string().into()
        })
    }
}
