//! The tables that are prepared, and whether keys fit them.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use trapline_store::{Key, PortError, Result, Scan, Table};

use crate::{database::Database, statements::Statements, values::fit};

/// The statements of each table that was prepared, by its name.
#[derive(Default)]
pub(crate) struct Tables(RwLock<HashMap<&'static str, Arc<Statements>>>);

impl Tables {
    /// Creates the tables that are missing.
    pub(super) async fn prepare(&self, at: &Database, tables: &[&'static Table]) -> Result<()> {
        let made: Vec<_> =
            tables.iter().map(|table| (table.name, Arc::new(Statements::of(table)))).collect();
        let create: String = made.iter().map(|(_, made)| made.create.as_str()).collect();
        at.write(0, move |session| session.atomically(|| session.execute_batch(&create))).await?;
        self.0.write().unwrap_or_else(PoisonError::into_inner).extend(made);
        Ok(())
    }

    /// All that are prepared.
    pub(crate) fn all(&self) -> Vec<Arc<Statements>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The statements for a key that names one row.
    pub(crate) fn for_row(&self, key: &Key) -> Result<Arc<Statements>> {
        let table = key.table;
        if key.partition.len() != table.partition.len() || key.sort.len() != table.sort.len() {
            return Err(PortError::Misuse("a key without a value for each column"));
        }
        if !fit(&key.partition, table.partition) || !fit(&key.sort, table.sort) {
            return Err(PortError::Misuse("a key with a value of the wrong kind"));
        }
        self.of(table)
    }

    /// Whether a scan's bounds fit its table.
    pub(super) fn check_scan(&self, scan: &Scan) -> Result<()> {
        let table = scan.table;
        let whole = scan.partition.len() == table.partition.len();
        if !whole || !fit(&scan.partition, table.partition) {
            return Err(PortError::Misuse("a scan without a whole partition key"));
        }
        if ![&scan.after, &scan.until].into_iter().flatten().all(|key| fit(key, table.sort)) {
            return Err(PortError::Misuse("a scan bound that does not fit the table"));
        }
        self.of(table).map(drop)
    }

    fn of(&self, table: &Table) -> Result<Arc<Statements>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(table.name).cloned().ok_or(PortError::Misuse("a table that is not prepared"))
    }
}
