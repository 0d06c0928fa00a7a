//! What a mock keeps, and what a call asks for and changes of it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trapline_model::Time;

use crate::DueStep;

/// Objects of a kind that a list is made from, the newest.
pub const MAX_LISTED: usize = 1_000;

/// An object of a mock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredObject {
    /// One of the provider's kinds.
    pub kind: String,
    /// The provider's id.
    pub id: String,
    /// Where it is in its flow, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// When it was made, by the mock's clock.
    pub created_at: Time,
    /// When it was last changed, by the mock's clock.
    pub updated_at: Time,
    /// The provider's own JSON.
    pub object: Value,
    /// What the provider knows of it and does not show.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub hidden: Value,
}

/// Something that has to be read before a call can go on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Want {
    /// One row of the mock's state.
    Row {
        /// Its kind.
        kind: String,
        /// Its id.
        id: String,
    },
    /// The newest objects of a kind.
    Kind {
        /// The kind.
        kind: String,
        /// How many; up to [`MAX_LISTED`].
        most: usize,
    },
    /// Whether one more call is within so many a minute.
    Allowance {
        /// Calls a minute.
        per_minute: u32,
    },
}

/// What was read for a call.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Documents of rows by kind and id; `None` is a row that is not there.
    pub rows: HashMap<(String, String), Option<String>>,
    /// Objects by kind and by how many were wanted, newest first.
    pub kinds: HashMap<(String, usize), Vec<StoredObject>>,
    /// Whether the call is within its rate; seconds to wait if it is not.
    pub allowance: Option<Result<(), u64>>,
}

/// How long a row is kept after it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteLife {
    /// 30 days: objects, and what belongs to them.
    Object,
    /// 24 hours: keys of calls.
    Key,
    /// One hour: what is to be sent.
    Event,
    /// 30 days, and written apart from the rest of its call, of which it need not be one with.
    Apart,
    /// 30 days, in the order of this time. It is written without a look at what was there, and read by no call.
    Log {
        /// When it happened, as the app says.
        at: Time,
    },
}

impl WriteLife {
    /// Whether it need not be written together with the rest of its call.
    #[must_use]
    pub fn is_apart(self) -> bool {
        matches!(self, Self::Apart | Self::Log { .. })
    }
}

/// A change of one row of the mock's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The new document; `None` removes the row.
    pub doc: Option<String>,
    /// How long it is kept.
    pub life: WriteLife,
    /// Whether it holds a secret, so that it must not be stored in clear.
    pub is_secret: bool,
}

/// Something that happened in a mock, of which the app is told.
#[derive(Debug, Clone)]
pub struct MockEvent {
    /// The provider's name of it.
    pub name: &'static str,
    /// The object that it is about.
    pub object_id: Option<String>,
    /// Where it is sent; `None` is to the mock's address and to what the app registered.
    pub url: Option<String>,
    /// The address that the app registered and whose own secret signs it, where the event is for one alone.
    pub endpoint: Option<String>,
    /// The type of the body.
    pub content_type: &'static str,
    /// The bytes that are sent.
    pub body: String,
}

/// What follows from a call: the row `~out` of the call has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outgoing {
    /// What is sent, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<OutgoingEvent>,
    /// Steps that are taken later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<DueStep>,
}

/// An event on its way to one address, with what the settings make of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutgoingEvent {
    /// The provider's name of it.
    pub event: String,
    /// The object that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_id: Option<String>,
    /// Where it is sent.
    pub url: String,
    /// The registered address whose own secret signs it; the mock's secret signs it else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The type of the body.
    pub content_type: String,
    /// The bytes that are sent.
    pub body: String,
    /// Milliseconds that the first attempt waits.
    #[serde(default)]
    pub delay_ms: u64,
    /// It is never sent.
    #[serde(default)]
    pub dropped: bool,
    /// Its signature is wrong.
    #[serde(default)]
    pub bad_signature: bool,
    /// Its signature is so many seconds old.
    #[serde(default)]
    pub stale_by_seconds: u64,
    /// The only status that says it was received; none where any from 200 to 299 does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expects: Option<u16>,
}
