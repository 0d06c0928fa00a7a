//! What every adapter checks before it touches its backend, so that a misuse writes nothing.

use std::collections::{HashMap, HashSet};

use super::{Column, Key, Kind, Op, Order, PortError, Result, Scan, Value, When, Writes};

impl Key {
    /// Checks that there is a value of the right kind for each key column;
    /// [`PortError::Misuse`] if not.
    pub fn check(&self) -> Result<()> {
        let Self { table, partition, sort } = self;
        if partition.len() != table.partition.len() || sort.len() != table.sort.len() {
            return Err(PortError::Misuse("a key without a value for each column"));
        }
        if !fit(partition, table.partition) || !fit(sort, table.sort) {
            return Err(PortError::Misuse("a key with a value of the wrong kind"));
        }
        Ok(())
    }
}

impl Scan {
    /// Checks that the partition key is whole and that the bounds fit the sort columns;
    /// [`PortError::Misuse`] if not.
    pub fn check(&self) -> Result<()> {
        let table = self.table;
        let whole = self.partition.len() == table.partition.len();
        if !whole || !fit(&self.partition, table.partition) {
            return Err(PortError::Misuse("a scan without a whole partition key"));
        }
        if ![&self.after, &self.until].into_iter().flatten().all(|key| fit(key, table.sort)) {
            return Err(PortError::Misuse("a scan bound that does not fit the table"));
        }
        Ok(())
    }
}

impl Op {
    /// Checks the key, and that the table takes this kind of write; [`PortError::Misuse`] if not.
    pub fn check(&self) -> Result<()> {
        let table = self.key().table;
        let fits = match (self, table.writes) {
            (Self::DeleteUntil { .. }, Writes::Plain) => table.order == Order::NewestFirst,
            (Self::Put { when, .. } | Self::Delete { when, .. }, Writes::Plain) => {
                *when == When::Always
            }
            (Self::Put { when, .. }, Writes::Guarded) => *when != When::Always,
            (Self::Delete { when, .. }, Writes::Guarded) => matches!(when, When::Version(_)),
            (Self::DeleteUntil { .. }, Writes::Guarded) => false,
        };
        if !fits {
            return Err(PortError::Misuse("a kind of write that the table does not take"));
        }
        self.key().check()
    }
}

/// Operations by partition, in the order in which each partition comes first. Each of them has
/// been checked, and no row of a guarded table comes twice: the conditions of one partition are
/// decided together, before any of its writes.
pub fn by_partition(ops: Vec<Op>) -> Result<Vec<Vec<Op>>> {
    let mut homes = HashMap::new();
    let mut partitions: Vec<Vec<Op>> = Vec::new();
    for op in ops {
        op.check()?;
        let Key { table, partition, .. } = op.key();
        let home = *homes.entry((table.name, partition.clone())).or_insert(partitions.len());
        match partitions.get_mut(home) {
            Some(ops) => ops.push(op),
            None => partitions.push(vec![op]),
        }
    }
    partitions.iter().try_for_each(|ops| each_guarded_row_once(ops))?;
    Ok(partitions)
}

fn each_guarded_row_once(ops: &[Op]) -> Result<()> {
    let mut seen = HashSet::new();
    let guarded = ops.iter().map(Op::key).filter(|key| key.table.writes == Writes::Guarded);
    if guarded.into_iter().all(|key| seen.insert(&key.sort)) {
        return Ok(());
    }
    Err(PortError::Misuse("two conditional writes of one row at once"))
}

/// Whether the first columns have values of their kinds.
fn fit(values: &[Value], columns: &[Column]) -> bool {
    let fits = |(value, column): (&Value, &Column)| {
        matches!(
            (value, column.kind),
            (Value::Uuid(_), Kind::Uuid)
                | (Value::Text(_), Kind::Text)
                | (Value::Int(_), Kind::Int)
        )
    };
    values.len() <= columns.len() && values.iter().zip(columns).all(fits)
}
