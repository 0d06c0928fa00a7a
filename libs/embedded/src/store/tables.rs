//! The tables that are prepared.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use trapline_store::{PortError, Result, Table};

use crate::{database::Database, statements::Statements};

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

    /// The statements of a table that was prepared.
    pub(super) fn of(&self, table: &Table) -> Result<Arc<Statements>> {
        let tables = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tables.get(table.name).cloned().ok_or(PortError::Misuse("a table that is not prepared"))
    }
}
