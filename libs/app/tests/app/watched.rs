//! A store that tells what was read and written, and what is in the queues, without a search through
//! every minute.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use trapline_store::{Key, Op, Ports, Result, Row, Scan, Storage, Store, Table, Value};

/// What a store was asked.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<Seen>);

/// The partition and sort keys of a row.
type Place = (Vec<Value>, Vec<Value>);

#[derive(Default)]
struct Seen {
    rows: Mutex<BTreeMap<Place, (&'static str, String)>>,
    buckets: Mutex<BTreeSet<Vec<Value>>>,
    scans: AtomicUsize,
    read: AtomicUsize,
    writes: AtomicUsize,
}

struct Watched(Arc<dyn Store>, Watch);

impl Watch {
    pub(crate) fn over(&self, ports: &mut Ports) {
        ports.store = Arc::new(Watched(ports.store.clone(), self.clone()));
    }

    /// The sort keys and documents in a queue's table.
    pub(crate) fn queued(&self, table: &str) -> Vec<(Vec<Value>, String)> {
        let rows = self.0.rows.lock().unwrap();
        let of_table = rows.iter().filter(|(_, (name, _))| *name == table);
        of_table.map(|((_, sort), (_, doc))| (sort.clone(), doc.clone())).collect()
    }

    /// Scans of queues and the rows that they brought, since this was asked last.
    pub(crate) fn reads(&self) -> (usize, usize) {
        (self.0.scans.swap(0, Ordering::Relaxed), self.0.read.swap(0, Ordering::Relaxed))
    }

    /// The partitions of queues that were read since this was asked last.
    pub(crate) fn buckets(&self) -> BTreeSet<Vec<Value>> {
        std::mem::take(&mut self.0.buckets.lock().unwrap())
    }

    /// Calls that wrote, since this was asked last.
    pub(crate) fn writes(&self) -> usize {
        self.0.writes.swap(0, Ordering::Relaxed)
    }

    fn note(&self, op: &Op) {
        let Key { table, partition, sort } = op.key().clone();
        if !matches!(table.storage, Storage::Queue { .. }) {
            return;
        }
        let mut rows = self.0.rows.lock().unwrap();
        match op {
            Op::Put { doc, .. } => rows.insert((partition, sort), (table.name, doc.clone())),
            _ => rows.remove(&(partition, sort)),
        };
    }
}

#[async_trait]
impl Store for Watched {
    async fn prepare(&self, tables: &[&'static Table]) -> Result<()> {
        self.0.prepare(tables).await
    }
    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.0.get(key).await
    }
    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let is_queue = matches!(scan.table.storage, Storage::Queue { .. });
        let partition = scan.partition.clone();
        let rows = self.0.scan(scan).await?;
        if is_queue {
            let seen = &self.1.0;
            seen.buckets.lock().unwrap().insert(partition);
            seen.scans.fetch_add(1, Ordering::Relaxed);
            seen.read.fetch_add(rows.len(), Ordering::Relaxed);
        }
        Ok(rows)
    }
    async fn partitions(&self, table: &'static Table) -> Result<Vec<Vec<Value>>> {
        self.0.partitions(table).await
    }
    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.1.0.writes.fetch_add(1, Ordering::Relaxed);
        self.0.write(ops.clone()).await?;
        for op in &ops {
            self.1.note(op);
        }
        Ok(())
    }
    async fn ping(&self) -> Result<()> {
        self.0.ping().await
    }
    async fn room(&self) -> Result<()> {
        self.0.room().await
    }
}
