//! Inboxes that were rows of their team's partition become partitions of their own, with an entry in
//! the list of their team. Logins no longer repeat what the inbox says.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use trapline_store::{
    Column, Key, Kind, Op, PortError, Record as _, Row, Scan, Table, Value, When, Writes,
    records::{Inbox, InboxEntry, Login},
};

use super::Upgrades;
use crate::{Result, inboxes::remaining_ttl, rows::Pages};

const INBOX: &Table = &Table {
    name: "inbox",
    partition: &[Column { name: "team_id", kind: Kind::Uuid }],
    sort: &[Column { name: "inbox_id", kind: Kind::Uuid }],
    writes: Writes::Guarded,
    ..Table::PLAIN
};

const SMTP_LOGIN: &Table = &Table {
    name: "smtp_login",
    partition: &[Column { name: "username", kind: Kind::Text }],
    writes: Writes::Guarded,
    ..Table::PLAIN
};

/// Inboxes that are removed from the old partition together.
const PAGE_ROWS: usize = 100;
/// Inboxes that are moved at once.
const MAX_CONCURRENT_MOVES: usize = 16;

pub(super) async fn run(upgrades: &Upgrades) -> Result<()> {
    upgrades.store.prepare(&[INBOX, SMTP_LOGIN]).await?;
    for partition in upgrades.store.partitions(INBOX).await? {
        let scan = Scan::of(INBOX, partition, PAGE_ROWS);
        let mut pages = Pages::of(&*upgrades.store, scan);
        while let Some(rows) = pages.next().await? {
            let moves = rows.into_iter().map(|row| move_inbox(upgrades, row));
            let gone: Vec<_> =
                stream::iter(moves).buffered(MAX_CONCURRENT_MOVES).try_collect().await?;
            upgrades.store.write(gone.into_iter().flatten().collect()).await?;
        }
    }
    Ok(())
}

/// Writes an inbox to where it belongs, unless an earlier run did. Returns what removes it from where
/// it was.
async fn move_inbox(upgrades: &Upgrades, row: Row) -> Result<Option<Op>> {
    let inbox = match Inbox::of(&row) {
        Ok(inbox) => inbox,
        Err(error) => {
            tracing::error!(%error, inbox = ?row.sort, "an inbox cannot be read, and stays behind");
            return Ok(None);
        }
    };
    let store = &upgrades.store;
    if !inbox.expired(upgrades.clock.now()) {
        let ttl = remaining_ttl(&inbox, upgrades.clock.now());
        let (entry, login) = (InboxEntry::written(&inbox, 1), Login::of(&inbox));
        let writes = vec![
            Op::put(&entry, ttl, When::Always)?,
            Op::put(&login, None, When::Always)?,
            Op::put(&inbox, ttl, When::Absent)?,
        ];
        match store.write(writes).await {
            Ok(()) | Err(PortError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let partition = vec![Value::Text(inbox.username.clone())];
    let key = Key { table: SMTP_LOGIN, partition, sort: Vec::new() };
    if let Some(row) = store.get(&key).await? {
        store.write(vec![Op::Delete { key, when: When::Version(row.version) }]).await?;
    }
    let partition = vec![Value::Uuid(inbox.team.0)];
    let key = Key { table: INBOX, partition, sort: row.sort };
    Ok(Some(Op::Delete { key, when: When::Version(row.version) }))
}
