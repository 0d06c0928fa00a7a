//! What every adapter checks before it touches its backend, so that a misuse writes nothing.

use std::collections::{HashMap, HashSet};

use uuid::{Uuid, Variant};

use super::{Column, Key, Kind, Op, Order, PortError, Result, Scan, Value, When, Writes};

impl Key {
    /// Checks that there is a value of the right kind for each key column.
    ///
    /// # Errors
    ///
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
    /// Checks that the partition key is whole and that the bounds fit the sort columns.
    ///
    /// # Errors
    ///
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
        let bounds = [&self.after, &self.until].into_iter().flatten().flatten();
        bounds.into_iter().try_for_each(alike_everywhere)
    }
}

impl Op {
    /// Checks the key, and that the table takes this kind of write.
    ///
    /// # Errors
    ///
    /// [`PortError::Misuse`] if not.
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
        if let Self::DeleteUntil { until } = self {
            until.sort.iter().try_for_each(alike_everywhere)?;
        }
        self.key().check()
    }
}

/// Checks that a bound has the same place in the order of every store. CQL compares the version of
/// UUIDs before their time (its type `uuid`), and the ids of rows are version 7: a bound of another
/// version is before or after all of them, whatever its time is.
fn alike_everywhere(bound: &Value) -> Result<()> {
    match bound {
        Value::Uuid(id) if !is_v7(*id) && !id.is_nil() && !id.is_max() => {
            Err(PortError::Misuse("a bound that is no UUIDv7, and neither nil nor max"))
        }
        _ => Ok(()),
    }
}

/// Whether an id has the version and the variant of UUIDv7 (RFC 9562, section 5.7).
#[must_use]
pub fn is_v7(id: Uuid) -> bool {
    id.get_version_num() == 7 && id.get_variant() == Variant::RFC4122
}

/// Operations by partition, in the order in which each partition comes first. Each of them has
/// been checked, and no row of a guarded table comes twice: the conditions of one partition are
/// decided together, before any of its writes.
///
/// # Errors
///
/// [`PortError::Misuse`] for an operation that is not fit, or a guarded row that comes twice.
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
