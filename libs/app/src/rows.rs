//! Many rows at once, and rows that cannot be read.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use trapline_store::{
    Key, PortError, Record, Result, Row, Scan, Table, Value, is_v7, records::Message,
};
use uuid::Uuid;

use crate::{App, metrics};

/// From so many rows of one partition on, they are read by one scan.
const SCAN_FROM: usize = 4;

/// Ids of rows of one partition.
struct Partition {
    table: &'static Table,
    key: Vec<Value>,
    ids: Vec<Uuid>,
}

impl App {
    /// The row as a record, see [`Self::decoded`].
    pub(crate) fn readable<R: Record>(&self, row: &Row) -> Option<R> {
        self.decoded(R::TABLE.name, row, R::of(row))
    }

    /// The message of a row, see [`Self::decoded`].
    pub(crate) fn readable_message(&self, row: &Row) -> Option<Message> {
        self.decoded("message", row, Message::of(row))
    }

    /// What became of a row. One that does not decode is left out alone: it is counted and told of in
    /// the log once.
    fn decoded<T>(&self, table: &'static str, row: &Row, decoded: Result<T>) -> Option<T> {
        let told = |error: &PortError| {
            if self.unreadable.is_new(table, &row.sort) {
                metrics::unreadable_row(table);
                tracing::error!(%error, row = ?row.sort, "a row that cannot be read is left out");
            }
        };
        decoded.inspect_err(told).ok()
    }

    /// The rows that are there, of tables that are sorted newest first by one `UUIDv7`. Rows of one
    /// partition are read together with those between them, so they should lie near each other.
    pub(crate) async fn rows_of(&self, keys: Vec<Key>) -> Result<HashMap<Uuid, Row>> {
        let mut places = HashMap::new();
        let mut partitions: Vec<Partition> = Vec::new();
        for Key { table, partition, sort } in keys {
            let [Value::Uuid(id)] = sort.as_slice() else { continue };
            let place = *places.entry((table.name, partition.clone())).or_insert(partitions.len());
            match partitions.get_mut(place) {
                Some(known) => known.ids.push(*id),
                None => partitions.push(Partition { table, key: partition, ids: vec![*id] }),
            }
        }
        let reads = partitions.iter().map(|partition| self.rows_in(partition));
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    async fn rows_in(&self, partition: &Partition) -> Result<HashMap<Uuid, Row>> {
        let Some(scan) = partition.scan() else {
            return self.rows_one_by_one(partition, &partition.ids).await;
        };
        let limit = scan.limit;
        let rows = self.ports.store.scan(scan).await?;
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
        Partition { table, key, .. }: &Partition,
        ids: &[Uuid],
    ) -> Result<HashMap<Uuid, Row>> {
        let gets = ids.iter().map(|id| async move {
            let key = Key { table, partition: key.clone(), sort: vec![Value::Uuid(*id)] };
            Ok(self.ports.store.get(&key).await?.map(|row| (*id, row)))
        });
        Ok(try_join_all(gets).await?.into_iter().flatten().collect())
    }
}

impl Partition {
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

/// Rows that were told of; at most so many are remembered.
pub(crate) struct Unreadable(moka::sync::Cache<(&'static str, String), ()>);

impl Default for Unreadable {
    fn default() -> Self {
        Self(moka::sync::Cache::new(1_000))
    }
}

impl Unreadable {
    fn is_new(&self, table: &'static str, sort: &[Value]) -> bool {
        self.0.entry((table, format!("{sort:?}"))).or_insert(()).is_fresh()
    }
}
