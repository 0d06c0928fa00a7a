//! What goes with an inbox, a message, a webhook or a team.

use trapline_model::{InboxId, MessageId, TeamId, Time, WebhookId};
use uuid::Uuid;

use super::{
    Delivery, DeliveryBucket, DeliveryPayload, InboxEntry, MockEpoch, TABLES, Usage, audit::LOG,
};
use crate::{
    Column, Key, Kind, Op, Record, Result, Row, RowOwner, Scan, Store, Table, Value, When, Writes,
};

/// The writes that remove every row that an inbox owns, in whichever table.
///
/// # Errors
///
/// Those of [`Store::get`].
pub async fn removal_of_inbox(store: &dyn Store, inbox: InboxId) -> Result<Vec<Op>> {
    let owned = || TABLES.into_iter().filter(|table| table.owner == RowOwner::Inbox);
    let key = |table: &'static Table| Key {
        table,
        partition: vec![Value::Uuid(inbox.0)],
        sort: table.sort.iter().map(last).collect(),
    };
    let many = owned().filter(|table| !table.sort.is_empty());
    let mut ops: Vec<_> = many.map(|table| Op::DeleteUntil { until: key(table) }).collect();
    // A guarded row may turn out to have changed; so these come last.
    for key in owned().filter(|table| table.sort.is_empty()).map(key) {
        let when = match (key.table.writes, store.get(&key).await?) {
            (Writes::Plain, _) => When::Always,
            (Writes::Guarded, Some(row)) => When::Version(row.version),
            (Writes::Guarded, None) => continue,
        };
        ops.push(Op::Delete { key, when });
    }
    Ok(ops)
}

/// The value that comes before all others where the newest rows are first.
fn last(column: &Column) -> Value {
    match column.kind {
        Kind::Uuid => Value::Uuid(Uuid::max()),
        Kind::Int => Value::Int(i64::MAX),
        // No text is the last of all; there are no such tables, which a test sees to.
        Kind::Text => Value::Text(char::MAX.to_string()),
    }
}

/// The writes that remove every row that a message owns, in whichever table.
#[must_use]
pub fn removal_of_message(id: MessageId) -> Vec<Op> {
    let owned = TABLES.into_iter().filter(|table| table.owner == RowOwner::Message);
    let partition = [id.inbox.0, id.uuid].map(Value::Uuid);
    let until = owned.map(|table| Key {
        table,
        partition: partition.to_vec(),
        sort: table.sort.iter().map(last).collect(),
    });
    until.map(|until| Op::DeleteUntil { until }).collect()
}

/// The writes that remove the deliveries of a bucket of a webhook's log, what they sent, and the bucket.
#[must_use]
pub fn removal_of_deliveries(webhook: WebhookId, bucket: i64) -> Vec<Op> {
    let length = i64::try_from(Delivery::BUCKET.as_secs() / 60).unwrap_or(i64::MAX);
    let first = bucket.saturating_mul(length);
    let all = |table: &'static Table, period: i64| Op::DeleteUntil {
        until: Key {
            table,
            partition: vec![Value::Uuid(webhook.0), Value::Int(period)],
            sort: vec![Value::Uuid(Uuid::max())],
        },
    };
    let minutes = first..first.saturating_add(length);
    let mut ops: Vec<_> = minutes.map(|minute| all(DeliveryPayload::TABLE, minute)).collect();
    ops.push(all(Delivery::TABLE, bucket));
    // The bucket goes last: without it nobody would find the others.
    ops.push(Op::Delete { key: DeliveryBucket { webhook, bucket }.key(), when: When::Always });
    ops
}

/// The writes that remove the calls and deliveries of an epoch of a mock. What it keeps is guarded, and goes row by
/// row.
#[must_use]
pub fn removal_of_mock(of: MockEpoch) -> Vec<Op> {
    of.log_tables().into_iter().map(|until| Op::DeleteUntil { until }).collect()
}

/// Every part of a table that holds rows of a team at `now`, but for its audit log, which stays for the
/// operator. Each scan reads `limit` rows at most.
#[must_use]
pub fn parts_of_team(team: TeamId, now: Time, limit: usize) -> Vec<Scan> {
    let owned = TABLES.into_iter().filter(|table| table.owner == RowOwner::Team);
    let owned = owned.filter(|table| !LOG.contains(table));
    let parts = owned.flat_map(|table| match table.name {
        name if name == Usage::TABLE.name => Usage::of_team(team, now).collect(),
        name if name == InboxEntry::TABLE.name => InboxEntry::of_team(team).collect(),
        _ => vec![super::team_scan(table, team, limit)],
    });
    parts.map(|scan| Scan { limit, ..scan }).collect()
}

/// The writes that remove these rows of a part of a table.
#[must_use]
pub fn removal_of_rows(part: &Scan, rows: &[Row]) -> Vec<Op> {
    let delete = |row: &Row| Op::Delete {
        key: Key { table: part.table, partition: part.partition.clone(), sort: row.sort.clone() },
        when: match part.table.writes {
            Writes::Plain => When::Always,
            Writes::Guarded => When::Version(row.version),
        },
    };
    rows.iter().map(delete).collect()
}
