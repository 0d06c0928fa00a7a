//! Reads.
//!
//! All of them are `LOCAL_QUORUM`, also those of guarded tables: a conditional write that succeeded
//! was committed at `LOCAL_QUORUM`, so such a read sees it. What it may miss is a write that is
//! still under way, and nobody has been told of that one.

use scylla::{
    response::{PagingState, query_result::QueryRowsResult},
    statement::{bound::BoundStatement, prepared::PreparedStatement},
    value::Row as CqlRow,
};
use trapline_store::{
    Column, Key, PortError, Result, Row, Scan, Table, Value, WalkPlace, Walked, WalkedRow, Writes,
};

use super::{
    CqlStore,
    client::Client,
    dml::{self, Shape},
    stamps::Partition,
    tables::Prepared,
    values::{FoundRow, Param, key_of, number},
};

/// The most rows in a page. Documents are mostly below 1 KB.
const PAGE_ROWS: usize = 500;
/// The same where documents are left out.
const PAGE_KEYS: usize = 5000;

/// Reads one row that is not past its time.
pub(super) async fn get(store: &CqlStore, key: &Key) -> Result<Option<Row>> {
    key.check()?;
    let statements = store.tables.of(key.table)?;
    let now = store.clock.now().millis();
    let found = find(&store.client, &statements.get, key).await?;
    if let Some(row) = &found {
        store.stamps.saw(Partition::of(key.table, &key.partition), row.written);
    }
    let found = found.filter(|row| !row.is_past(now));
    Ok(found.map(|row| Row { sort: key.sort.clone(), doc: row.doc, version: row.version }))
}

/// Reads one row, even if it is past its time. The document comes along.
pub(super) async fn find(
    client: &Client,
    statement: &PreparedStatement,
    key: &Key,
) -> Result<Option<FoundRow>> {
    let values: Vec<_> = key_values(key).collect();
    let bound = statement.clone().bind(&values).map_err(PortError::unavailable)?;
    let (page, _) = client.page(&bound, PagingState::start()).await?;
    rows(&page, &[], key.table.writes)?.next().transpose()
}

/// Reads the write times of what a range delete is to remove; whether that is anything.
pub(super) async fn look_at_range(store: &CqlStore, until: &Key) -> Result<bool> {
    let statements = store.tables.of(until.table)?;
    // Such a delete is refused where it is made into a statement.
    let Prepared::Plain(made) = &statements.writes else { return Ok(true) };
    let Some(range) = &made.range else { return Ok(true) };
    let values: Vec<_> = key_values(until).collect();
    let mut bound = range.written.clone().bind(&values).map_err(PortError::unavailable)?;
    bound.set_page_size(i32::try_from(PAGE_KEYS).unwrap_or(i32::MAX));
    let partition = Partition::of(until.table, &until.partition);
    let (mut found, mut next) = (false, Some(PagingState::start()));
    while let Some(from) = next {
        let (page, behind) = store.client.page(&bound, from).await?;
        for row in page.rows::<CqlRow>().map_err(PortError::unavailable)? {
            found = true;
            let mut columns = row.map_err(PortError::unavailable)?.columns.into_iter();
            if let Some(written) = number(columns.next().flatten()) {
                store.stamps.saw(partition, written);
            }
        }
        next = behind;
    }
    Ok(found)
}

/// Reads part of a partition.
pub(super) async fn scan(store: &CqlStore, scan: Scan) -> Result<Vec<Row>> {
    scan.check()?;
    let statement = bind(store, &scan).await?;
    let now = store.clock.now().millis();
    let partition = Partition::of(scan.table, &scan.partition);
    let mut found = Vec::new();
    let mut next = (scan.limit > 0).then(PagingState::start);
    while let Some(from) = next {
        let (page, behind) = store.client.page(&statement, from).await?;
        for row in rows(&page, scan.table.sort, scan.table.writes)? {
            let row = row?;
            store.stamps.saw(partition, row.written);
            if !row.is_past(now) {
                found.push(Row { sort: row.sort, doc: row.doc, version: row.version });
            }
            if found.len() == scan.limit {
                return Ok(found);
            }
        }
        next = behind;
    }
    Ok(found)
}

/// Reads the key of each partition of a table, from all nodes.
pub(super) async fn partitions(store: &CqlStore, table: &Table) -> Result<Vec<Vec<Value>>> {
    store.tables.of(table)?;
    let statement = store.client.prepare(dml::partitions(&store.keyspace, table)).await?;
    let mut bound = statement.bind(&()).map_err(PortError::unavailable)?;
    bound.set_page_size(i32::try_from(PAGE_ROWS).unwrap_or(i32::MAX));
    let (mut found, mut next) = (Vec::new(), Some(PagingState::start()));
    while let Some(from) = next {
        let (page, behind) = store.client.page(&bound, from).await?;
        for row in page.rows::<CqlRow>().map_err(PortError::unavailable)? {
            found.push(key_of(row.map_err(PortError::unavailable)?, table.partition)?);
        }
        next = behind;
    }
    Ok(found)
}

/// Reads part of a table, from all nodes.
pub(super) async fn walk(
    store: &CqlStore,
    table: &Table,
    after: Option<WalkPlace>,
    limit: usize,
) -> Result<Walked> {
    store.tables.of(table)?;
    let statement = store.client.prepare(dml::walk(&store.keyspace, table)).await?;
    let mut bound = statement.bind(&()).map_err(PortError::unavailable)?;
    bound.set_page_size(i32::try_from(limit.clamp(1, PAGE_ROWS)).unwrap_or(i32::MAX));
    let from = after.map(|place| PagingState::new_from_raw_bytes(place.0));
    let (page, behind) = store.client.page(&bound, from.unwrap_or_else(PagingState::start)).await?;
    let now = store.clock.now().millis();
    let mut rows = Vec::new();
    for row in page.rows::<CqlRow>().map_err(PortError::unavailable)? {
        let mut partition = row.map_err(PortError::unavailable)?;
        let rest = partition.columns.split_off(table.partition.len());
        let partition = key_of(partition, table.partition)?;
        let row = FoundRow::read(CqlRow { columns: rest }, table.sort, table.writes)?;
        if !row.is_past(now) {
            let expires = row.ends();
            let row = Row { sort: row.sort, doc: row.doc, version: row.version };
            rows.push(WalkedRow { partition, row, expires });
        }
    }
    let place = |state: PagingState| state.as_bytes_slice().map(|bytes| WalkPlace(bytes.to_vec()));
    Ok(Walked { rows, next: behind.and_then(place) })
}

/// A scan's statement with its values. Its pages are no larger than what is wanted, so it needs no
/// LIMIT, which would also count rows past their time.
async fn bind(store: &CqlStore, scan: &Scan) -> Result<BoundStatement> {
    let [after, until] = [&scan.after, &scan.until].map(|key| key.as_deref().unwrap_or_default());
    let shape = Shape { after: after.len(), until: until.len(), keys_only: scan.keys_only };
    let statements = store.tables.of(scan.table)?;
    let statement = statements.scan(&store.client, &store.keyspace, scan.table, shape).await?;
    let values = scan.partition.iter().chain(after).chain(until).map(Param::Value);
    let values: Vec<_> = values.collect();
    let mut bound = statement.bind(&values).map_err(PortError::unavailable)?;
    let largest = if scan.keys_only { PAGE_KEYS } else { PAGE_ROWS };
    bound.set_page_size(i32::try_from(scan.limit.clamp(1, largest)).unwrap_or(i32::MAX));
    Ok(bound)
}

fn rows<'a>(
    page: &'a QueryRowsResult,
    sort: &'a [Column],
    writes: Writes,
) -> Result<impl Iterator<Item = Result<FoundRow>> + 'a> {
    let rows = page.rows::<CqlRow>().map_err(PortError::unavailable)?;
    Ok(rows.map(move |row| FoundRow::read(row.map_err(PortError::unavailable)?, sort, writes)))
}

/// The values of a key, in the order of its columns.
pub(super) fn key_values(key: &Key) -> impl Iterator<Item = Param<'_>> {
    key.partition.iter().chain(&key.sort).map(Param::Value)
}
