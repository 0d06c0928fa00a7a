//! Mail that the service itself sends, and how sending does.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::{MailId, Time};

use super::{int, single, uuid};
use crate::{Key, Order, Record, Scan, Storage, Table, Value, Writes};

/// The tables of these records.
pub(super) const TABLES: &[&Table] = &[MAIL, MAIL_SEND, MAIL_FAILURE];

const MAIL: &Table = &Table {
    name: "mail",
    partition: &[uuid("mail_id")],
    about: "A mail that the service itself sends.",
    ..Table::PLAIN
};

const MAIL_SEND: &Table = &Table { name: "mail_send", about: "What was sent, by day.", ..BY_DAY };

/// Apart from the sends, so that few failures are found among many successes.
const MAIL_FAILURE: &Table =
    &Table { name: "mail_failure", about: "What could not be sent, by day.", ..BY_DAY };

const BY_DAY: Table = Table {
    name: "",
    partition: &[int("day")],
    sort: &[int("at_ms"), uuid("mail_id")],
    order: Order::NewestFirst,
    writes: Writes::Plain,
    storage: Storage::Log { window: Duration::from_hours(2), ttl: MailSend::KEPT },
    ..Table::PLAIN
};

const DAY_MS: i64 = 86_400_000;

/// A mail that the service itself sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    /// The mail's id.
    pub id: MailId,
    /// The recipient.
    pub to: String,
    /// The whole message, sealed, for links in it open doors; gone once the mail has ended.
    pub sealed: Option<String>,
    /// Attempts that have ended.
    pub attempts: u32,
    /// When the next one is due; none once the mail has ended.
    pub next_attempt_at: Option<Time>,
    /// Whether the relay accepted the mail.
    pub sent: bool,
    /// Why the last attempt failed, a stable word.
    pub error: Option<String>,
}

impl Mail {
    /// How long a mail's row is kept.
    pub const KEPT: Duration = Duration::from_hours(7 * 24);

    /// The mail's row.
    #[must_use]
    pub fn row(id: MailId) -> Key {
        single(MAIL, Value::Uuid(id.0))
    }
}

impl Record for Mail {
    const TABLE: &'static Table = MAIL;
    fn key(&self) -> Key {
        Self::row(self.id)
    }
}

/// How an attempt to send a mail ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailSend {
    /// The time of the attempt's end.
    pub at: Time,
    /// The mail.
    pub mail: MailId,
    /// Whether the relay did its part; that it refused one recipient is no fault of it.
    pub ok: bool,
}

impl MailSend {
    /// How long attempts are kept.
    pub const KEPT: Duration = Duration::from_hours(48);

    /// The attempts on a day since a time, newest first.
    #[must_use]
    pub fn on_day(day: Time, since: Time, limit: usize) -> Scan {
        day_scan(MAIL_SEND, day, since, limit)
    }
}

impl Record for MailSend {
    const TABLE: &'static Table = MAIL_SEND;
    fn key(&self) -> Key {
        day_key(MAIL_SEND, self.at, self.mail)
    }
}

/// A mail that ran out of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailFailure {
    /// The time of the attempt's end.
    pub at: Time,
    /// The mail.
    pub mail: MailId,
}

impl MailFailure {
    /// The failures on a day since a time, newest first.
    #[must_use]
    pub fn on_day(day: Time, since: Time, limit: usize) -> Scan {
        day_scan(MAIL_FAILURE, day, since, limit)
    }
}

impl Record for MailFailure {
    const TABLE: &'static Table = MAIL_FAILURE;
    fn key(&self) -> Key {
        day_key(MAIL_FAILURE, self.at, self.mail)
    }
}

fn day_of(at: Time) -> Vec<Value> {
    vec![Value::Int(at.millis().div_euclid(DAY_MS))]
}

fn day_key(table: &'static Table, at: Time, mail: MailId) -> Key {
    let sort = vec![Value::Int(at.millis()), Value::Uuid(mail.0)];
    Key { table, partition: day_of(at), sort }
}

fn day_scan(table: &'static Table, day: Time, since: Time, limit: usize) -> Scan {
    let until = Some(vec![Value::Int(since.millis())]);
    Scan { table, partition: day_of(day), after: None, until, limit, keys_only: false }
}
