//! The metadata store.

mod plan;
mod search;
mod tables;
mod walk;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use rusqlite::{CachedStatement, Connection, Row as SqlRow, params_from_iter};
use trapline_store::{
    Key, Narrowed, PortError, Result, Row, Scan, Store, Table, Value, WalkPlace, Walked,
};

pub(crate) use self::{plan::WritePlan, tables::Tables};
use self::{search::HeadSearch, walk::TableWalk};
use crate::{
    database::Database,
    schema::VERSION,
    statements::{Form, Read, partitions, scan},
    values::{Parameter, count, key_columns, sql},
    writer::{SpaceShare, Transaction},
};

/// Rows up to which a scan runs on the caller's thread.
const MAX_INLINE_ROWS: usize = 100;

/// Shortest time between two checks whether the disk has room for mail.
const ROOM_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The size of the mail for which room is checked, in bytes. A larger one may be refused earlier.
const ROOM_CHECK_BYTES: usize = 1 << 20;

/// Rows in SQLite.
pub(crate) struct SqliteStore(pub(crate) Arc<Database>);

#[async_trait]
impl Store for SqliteStore {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.0.tables.prepare(&self.0, tables).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        key.check()?;
        let statements = self.0.tables.of(key.table)?;
        let now = self.0.clock.now().millis();
        self.0.readers.short(|connection| {
            let key_values = key.partition.iter().chain(&key.sort).map(Parameter::Value);
            let mut statement = connection.prepare_cached(&statements.get).map_err(sql)?;
            let parameters = params_from_iter(key_values.chain([Parameter::Int(now)]));
            let mut rows = statement.query(parameters).map_err(sql)?;
            let row = rows.next().map_err(sql)?;
            row.map(|row| {
                let (doc, version) = (row.get(0)?, row.get(1)?);
                Ok(Row { sort: key.sort.clone(), doc, version })
            })
            .transpose()
            .map_err(sql)
        })
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        scan.check()?;
        let form = self.0.tables.of(scan.table)?.form;
        let now = self.0.clock.now().millis();
        if scan.limit <= MAX_INLINE_ROWS {
            return self.0.readers.short(|connection| rows(connection, &scan, form, now));
        }
        self.0.readers.long(move |connection| rows(connection, &scan, form, now)).await
    }

    async fn narrow(&self, scan: Scan, texts: Vec<String>, most: usize) -> Result<Narrowed> {
        scan.check()?;
        let form = self.0.tables.of(scan.table)?.form;
        let now = self.0.clock.now().millis();
        let looking = move |connection: &Connection| {
            let search = HeadSearch { scan: &scan, form, texts: &texts, most, now };
            search.run(connection)
        };
        self.0.readers.long(looking).await
    }

    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        self.0.tables.of(table)?;
        let text = partitions(table);
        let read = move |connection: &Connection| {
            let mut statement = connection.prepare(&text).map_err(sql)?;
            let read = |row: &SqlRow<'_>| key_columns(row, table.partition);
            let found = statement.query_map([], read);
            found.map_err(sql)?.collect::<Result<_, _>>().map_err(sql)
        };
        self.0.readers.long(read).await
    }

    async fn walk(
        &self,
        table: &'static Table,
        after: Option<WalkPlace>,
        limit: usize,
    ) -> Result<Walked> {
        let form = self.0.tables.of(table)?.form;
        let walk = TableWalk { table, form, limit, now: self.0.clock.now().millis() };
        self.0.readers.long(move |connection| walk.run(connection, after)).await
    }

    async fn write(&self, ops: Vec<trapline_store::Op>) -> Result<()> {
        let plan = WritePlan::of(&self.0.tables, ops)?;
        let bytes = plan.bytes();
        self.0.write(bytes, move |transaction| plan.apply(transaction)).await
    }

    async fn ping(&self) -> Result<()> {
        let ask =
            |connection: &Connection| connection.query_row("SELECT 1", [], |_| Ok(())).map_err(sql);
        self.0.readers.short(ask)?;
        let closed = || PortError::unavailable("the writer has ended");
        self.0.writer.is_open().then_some(()).ok_or_else(closed)
    }

    async fn room(&self) -> Result<()> {
        if let Some(has_room) = self.0.room_check.within(ROOM_CHECK_INTERVAL) {
            return has_room.then_some(()).ok_or(PortError::StorageFull);
        }
        let text = format!("PRAGMA user_version = {VERSION}");
        let write = move |transaction: &Transaction<'_>| transaction.execute_batch(&text);
        let answer = self.0.write_within(SpaceShare::Mail, ROOM_CHECK_BYTES, write).await;
        if let Ok(()) | Err(PortError::StorageFull) = answer {
            self.0.room_check.note(answer.is_ok());
        }
        answer
    }
}

/// A scan's statement, and the values that it takes.
fn prepared<'c, 's>(
    connection: &'c Connection,
    range: &'s Scan,
    form: Form,
    what: Read,
    now: i64,
) -> Result<(CachedStatement<'c>, Vec<Parameter<'s>>)> {
    let (after, until) = (range.after.as_deref(), range.until.as_deref());
    let (after, until) = (after.unwrap_or_default(), until.unwrap_or_default());
    let text = scan(range.table, form, after.len(), until.len(), what);
    let key_values = range.partition.iter().chain(after).chain(until).map(Parameter::Value);
    let bounds = [Parameter::Int(now), Parameter::Int(count(range.limit))];
    Ok((connection.prepare_cached(&text).map_err(sql)?, key_values.chain(bounds).collect()))
}

fn rows(connection: &Connection, range: &Scan, form: Form, now: i64) -> Result<Vec<Row>> {
    let what = if range.keys_only { Read::Keys } else { Read::Docs };
    let (mut statement, values) = prepared(connection, range, form, what, now)?;
    let read = |row: &SqlRow<'_>| {
        let sort = key_columns(row, range.table.sort)?;
        let at = sort.len();
        let doc = match (what, form) {
            (Read::Docs, Form::Split) => {
                let (head, rest) = (row.get_ref(at + 1)?.as_str()?, row.get_ref(at + 2)?.as_str()?);
                [head, rest].concat()
            }
            (Read::Docs, Form::Whole) => row.get(at + 1)?,
            (Read::Keys | Read::Heads, _) => String::new(),
        };
        Ok(Row { version: row.get(at)?, sort, doc })
    };
    let found = statement.query_map(params_from_iter(values), read);
    found.map_err(sql)?.collect::<Result<_, _>>().map_err(sql)
}
