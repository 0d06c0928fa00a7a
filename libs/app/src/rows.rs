//! Reads many rows at once or page by page, writes many at once, and decodes rows of which some may be
//! damaged.

use std::{collections::HashMap, sync::Arc};

use futures_util::future::try_join_all;
use moka::sync::Cache;
use trapline_store::{
    Key, Op, PortError, Record, Result, Row, Scan, Store, Table, Value, When, by_partition, is_v7,
    records::Message,
};
use uuid::Uuid;

use crate::metrics;

/// Rows of one partition from which on they are read by one scan.
const SCAN_FROM: usize = 4;
/// The documents of one batch, in bytes: CQL servers refuse batches of 50 KiB.
const BATCH_BYTES: usize = 32 << 10;
/// Damaged rows that are remembered, so that each is logged once.
const REPORTED_CAPACITY: u64 = 1_000;

/// Ids of rows of one partition.
struct WantedRows {
    table: &'static Table,
    key: Vec<Value>,
    ids: Vec<Uuid>,
}

/// Reads rows. A row that does not decode is left out alone, counted, and logged once.
#[derive(Clone)]
pub(crate) struct RowReader {
    store: Arc<dyn Store>,
    /// Damaged rows that were logged.
    reported: Cache<(&'static str, String), ()>,
}

impl RowReader {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, reported: Cache::new(REPORTED_CAPACITY) }
    }

    /// The row as a record; `None` if it does not decode.
    pub(crate) fn decode<R: Record>(&self, row: &Row) -> Option<R> {
        self.report(R::TABLE.name, row, R::of(row))
    }

    /// The row as a message; `None` if it does not decode.
    pub(crate) fn decode_message(&self, row: &Row) -> Option<Message> {
        self.report("message", row, Message::of(row))
    }

    fn report<T>(&self, table: &'static str, row: &Row, decoded: Result<T>) -> Option<T> {
        let log_once = |error: &PortError| {
            let key = (table, format!("{:?}", row.sort));
            if self.reported.entry(key).or_insert(()).is_fresh() {
                metrics::unreadable_row(table);
                tracing::error!(%error, row = ?row.sort, "a row that cannot be read is left out");
            }
        };
        decoded.inspect_err(log_once).ok()
    }

    /// The rows that are there, of tables that are sorted newest first by one `UUIDv7`. Rows of one
    /// partition are read together with those between them, so they should lie near each other.
    pub(crate) async fn find(&self, keys: Vec<Key>) -> Result<HashMap<Uuid, Row>> {
        let mut places = HashMap::new();
        let mut partitions: Vec<WantedRows> = Vec::new();
        for Key { table, partition, sort } in keys {
            let [Value::Uuid(id)] = sort.as_slice() else { continue };
            let place = *places.entry((table.name, partition.clone())).or_insert(partitions.len());
            match partitions.get_mut(place) {
                Some(known) => known.ids.push(*id),
                None => partitions.push(WantedRows { table, key: partition, ids: vec![*id] }),
            }
        }
        let reads = partitions.iter().map(|partition| self.rows_in(partition));
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    async fn rows_in(&self, partition: &WantedRows) -> Result<HashMap<Uuid, Row>> {
        let Some(scan) = partition.scan() else {
            return self.rows_one_by_one(partition, &partition.ids).await;
        };
        let limit = scan.limit;
        let rows = self.store.scan(scan).await?;
        let is_cut_off = rows.len() == limit;
        let mut found = HashMap::new();
        for row in rows {
            if let [Value::Uuid(id)] = row.sort.as_slice()
                && partition.ids.contains(id)
            {
                found.insert(*id, row);
            }
        }
        if is_cut_off {
            let missing = partition.ids.iter().filter(|id| !found.contains_key(*id)).copied();
            let missing: Vec<_> = missing.collect();
            found.extend(self.rows_one_by_one(partition, &missing).await?);
        }
        Ok(found)
    }

    async fn rows_one_by_one(
        &self,
        WantedRows { table, key, .. }: &WantedRows,
        ids: &[Uuid],
    ) -> Result<HashMap<Uuid, Row>> {
        let gets = ids.iter().map(|id| async move {
            let key = Key { table, partition: key.clone(), sort: vec![Value::Uuid(*id)] };
            Ok(self.store.get(&key).await?.map(|row| (*id, row)))
        });
        Ok(try_join_all(gets).await?.into_iter().flatten().collect())
    }
}

impl WantedRows {
    /// From the newest to the oldest of the rows; none where one by one is as good.
    fn scan(&self) -> Option<Scan> {
        let (oldest, newest) = (self.ids.iter().min()?, self.ids.iter().max()?);
        // A scan begins behind its first bound.
        let behind = Uuid::from_u128(newest.as_u128().checked_add(1)?);
        if self.ids.len() < SCAN_FROM || !is_v7(behind) || !is_v7(*oldest) {
            return None;
        }
        Some(Scan {
            table: self.table,
            partition: self.key.clone(),
            after: Some(vec![Value::Uuid(behind)]),
            until: Some(vec![Value::Uuid(*oldest)]),
            limit: self.ids.len() * 2,
            keys_only: false,
        })
    }
}

/// Reads a scan page by page, each of at most as many rows as its limit.
pub(crate) struct Pages<'a> {
    store: &'a dyn Store,
    /// The scan of the next page; `None` after the last one.
    scan: Option<Scan>,
}

impl<'a> Pages<'a> {
    pub(crate) fn of(store: &'a dyn Store, scan: Scan) -> Self {
        Self { store, scan: Some(scan) }
    }

    /// The rows of the next page, which may be none; `None` after the last page.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Row>>> {
        let Some(scan) = self.scan.take() else { return Ok(None) };
        let rows = self.store.scan(scan.clone()).await?;
        let last = rows.last().filter(|_| rows.len() >= scan.limit);
        self.scan = last.map(|last| Scan { after: Some(last.sort.clone()), ..scan });
        Ok(Some(rows))
    }
}

/// Deletes a row that was read at this version. One that was changed or deleted since is left as it is.
pub(crate) async fn delete_unchanged(store: &dyn Store, key: Key, version: i64) -> Result<()> {
    match store.write(vec![Op::Delete { key, when: When::Version(version) }]).await {
        Err(PortError::Conflict) => Ok(()),
        outcome => outcome,
    }
}

/// Writes rows that need not be there together: those of one partition in one write, as far as every
/// store takes them.
pub(crate) async fn write_all(store: &dyn Store, ops: Vec<Op>) -> Result<()> {
    let batches = by_partition(ops)?.into_iter().flat_map(in_batches);
    try_join_all(batches.map(|batch| store.write(batch))).await.map(drop)
}

/// Cuts the writes of one partition into batches of bounded size, each with one at least.
fn in_batches(ops: Vec<Op>) -> Vec<Vec<Op>> {
    let mut batches: Vec<Vec<Op>> = Vec::new();
    let mut room = 0;
    for op in ops {
        let size = size_of::<Op>() + if let Op::Put { doc, .. } = &op { doc.len() } else { 0 };
        if let Some(batch) = batches.last_mut().filter(|_| size <= room) {
            batch.push(op);
        } else {
            room = BATCH_BYTES;
            batches.push(vec![op]);
        }
        room = room.saturating_sub(size);
    }
    batches
}
