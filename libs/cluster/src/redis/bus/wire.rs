//! Events and channels as Redis sees them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use trapline_model::InboxId;
use trapline_store::{LiveEvent, Signal};
use uuid::Uuid;

/// Bytes of the largest event that is sent as such.
const MAX_EVENT_BYTES: usize = 64 << 10;

/// Deleted messages that one event names, 39 bytes each.
const MAX_IDS: usize = 1000;

/// Sent in place of an event that is too large, and understood as a gap like all that is no event,
/// such as an event of a newer release.
pub(super) const GAP: &[u8] = b"null";

/// The inbox's channel.
pub(in super::super) fn channel(namespace: &str, inbox: InboxId) -> String {
    format!("{namespace}:inbox:{}", inbox.0)
}

/// The inbox that a channel is for.
pub(in super::super) fn inbox_of(namespace: &str, channel: &[u8]) -> Option<InboxId> {
    let rest = channel.strip_prefix(namespace.as_bytes())?.strip_prefix(b":inbox:")?;
    Uuid::try_parse_ascii(rest).ok().map(InboxId)
}

/// The event in JSON, in several parts when it is about many messages.
pub(super) fn encode(event: LiveEvent) -> Vec<Vec<u8>> {
    match event {
        LiveEvent::MessagesDeleted { ids } if ids.len() > MAX_IDS => ids
            .chunks(MAX_IDS)
            .map(|ids| payload(&LiveEvent::MessagesDeleted { ids: ids.to_vec() }))
            .collect(),
        event => vec![payload(&event)],
    }
}

fn payload(event: &LiveEvent) -> Vec<u8> {
    match serde_json::to_vec(event) {
        Ok(json) if json.len() <= MAX_EVENT_BYTES => json,
        _ => GAP.to_vec(),
    }
}

/// What listeners are to hear.
pub(in super::super) fn decode(payload: &[u8]) -> Signal {
    serde_json::from_slice(payload).map_or(Signal::Gap, |event| Signal::Event(Arc::new(event)))
}
