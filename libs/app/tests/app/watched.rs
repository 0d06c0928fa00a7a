//! A store that tells what was read and written, and what is in the queues, without a search through
//! every minute.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use trapline_model::Time;
use trapline_store::{Key, Op, PortError, Ports, Result, Row, Scan, Storage, Store, Value};

use crate::{
    doubles::{LayeredStore, StoreLayer, as_in_a_cluster},
    support::Bench,
};

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
    writes_to: Mutex<BTreeMap<&'static str, usize>>,
    all_reads: AtomicUsize,
    /// Scans of this table that begin before this time fail if they span more than this.
    short: Mutex<Option<(&'static str, Time, Duration)>>,
}

struct Watched(Arc<dyn Store>, Watch);

/// A bench as in a cluster, with an outbox behind the queue, whose calls of the store are counted.
pub(crate) async fn with_outbox() -> (Bench, Watch) {
    let watch = Watch::default();
    let bench = Bench::with(|ports| {
        watch.over(ports);
        as_in_a_cluster(ports);
    })
    .await;
    (bench, watch)
}

impl Watch {
    pub(crate) fn over(&self, ports: &mut Ports) {
        ports.store = Arc::new(LayeredStore(Watched(ports.store.clone(), self.clone())));
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

    /// Calls that wrote to these tables, since any were asked for.
    pub(crate) fn writes_to(&self, tables: &[&str]) -> usize {
        let writes = std::mem::take(&mut *self.0.writes_to.lock().unwrap());
        writes.iter().filter(|(table, _)| tables.contains(table)).map(|(_, calls)| calls).sum()
    }

    /// Calls that read anything, since this was asked last.
    pub(crate) fn all_reads(&self) -> usize {
        self.0.all_reads.swap(0, Ordering::Relaxed)
    }

    /// Makes scans of a queue fail that begin before a time and are longer than `span`, as those of a
    /// CQL server do where much was removed.
    pub(crate) fn fails_beyond(&self, table: &'static str, before: Time, span: Duration) {
        *self.0.short.lock().unwrap() = Some((table, before, span));
    }

    fn is_too_long(&self, scan: &Scan) -> bool {
        let Some((table, before, longest)) = *self.0.short.lock().unwrap() else { return false };
        let instant = |key: &Option<Vec<Value>>| match key.as_deref() {
            Some([Value::Int(millis), ..]) => Some(Time::from_millis(*millis)),
            _ => None,
        };
        let (Some(from), Some(until)) = (instant(&scan.after), instant(&scan.until)) else {
            return false;
        };
        scan.table.name == table && from < before && until.since(from) > longest
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
impl StoreLayer for Watched {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    async fn get(&self, key: &Key) -> Result<Option<Row>> {
        self.1.0.all_reads.fetch_add(1, Ordering::Relaxed);
        self.0.get(key).await
    }

    async fn scan(&self, scan: Scan) -> Result<Vec<Row>> {
        let is_queue = matches!(scan.table.storage, Storage::Queue { .. });
        let partition = scan.partition.clone();
        self.1.0.all_reads.fetch_add(1, Ordering::Relaxed);
        if self.1.is_too_long(&scan) {
            return Err(PortError::unavailable("too many tombstones"));
        }
        let rows = self.0.scan(scan).await?;
        if is_queue {
            let seen = &self.1.0;
            seen.buckets.lock().unwrap().insert(partition);
            seen.scans.fetch_add(1, Ordering::Relaxed);
            seen.read.fetch_add(rows.len(), Ordering::Relaxed);
        }
        Ok(rows)
    }

    async fn write(&self, ops: Vec<Op>) -> Result<()> {
        self.1.0.writes.fetch_add(1, Ordering::Relaxed);
        for partition in trapline_store::by_partition(ops.clone())? {
            let table = partition[0].key().table.name;
            *self.1.0.writes_to.lock().unwrap().entry(table).or_default() += 1;
        }
        self.0.write(ops.clone()).await?;
        for op in &ops {
            self.1.note(op);
        }
        Ok(())
    }
}
