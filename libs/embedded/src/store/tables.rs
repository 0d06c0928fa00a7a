//! The tables that are prepared.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use trapline_store::{PortError, Result, Table};

use crate::{
    database::Database,
    statements::{Form, Statements},
    writer::Transaction,
};

/// The statements of each table that was prepared, by its name.
#[derive(Default)]
pub(crate) struct Tables(RwLock<HashMap<&'static str, Arc<Statements>>>);

impl Tables {
    /// Creates the tables that are missing.
    pub(super) async fn prepare(&self, at: &Database, tables: &[&'static Table]) -> Result<()> {
        let tables = tables.to_vec();
        let made =
            at.write(0, move |transaction| transaction.atomically(|| create(transaction, &tables)));
        let made = made.await?;
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

/// Creates the tables that are missing. Returns the statements of each.
fn create(
    transaction: &Transaction<'_>,
    tables: &[&'static Table],
) -> Result<Vec<(&'static str, Arc<Statements>)>> {
    let create = |table: &&'static Table| {
        let form = Form::of(table, transaction.has_column(table.name, "doc")?);
        let statements = Statements::of(table, form);
        transaction.execute_batch(&statements.create)?;
        Ok((table.name, Arc::new(statements)))
    };
    tables.iter().map(create).collect()
}
