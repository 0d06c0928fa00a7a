//! The scans of an inbox's messages.

use trapline_model::InboxId;
use trapline_store::{Key, Scan, Value, records::Message};
use uuid::Uuid;

/// The keys of an inbox's newest messages, newest first.
pub(crate) fn message_keys(inbox: InboxId, limit: usize) -> Scan {
    let Key { table, partition, .. } = Message::all(inbox);
    Scan { table, partition, after: None, until: None, limit, keys_only: true }
}

/// An inbox's messages behind `after`, newest first.
pub(crate) fn message_rows(inbox: InboxId, after: Option<Uuid>, limit: usize) -> Scan {
    let after = after.map(|uuid| vec![Value::Uuid(uuid)]);
    Scan { after, keys_only: false, ..message_keys(inbox, limit) }
}
