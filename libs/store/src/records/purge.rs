//! What goes with an inbox.

use trapline_model::InboxId;
use uuid::Uuid;

use super::TABLES;
use crate::{Column, Key, Kind, Op, Result, RowOwner, Store, Table, Value, When, Writes};

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
