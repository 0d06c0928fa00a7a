//! What a unit of work sees of the writer.

use std::cell::{Cell, RefCell};

use rusqlite::{CachedStatement, Connection, blob::Blob};
use trapline_model::Time;
use trapline_store::{Lane, Result};

use crate::values::sql;

/// The open transaction.
pub(crate) struct Transaction<'c> {
    connection: &'c Connection,
    now: Time,
    woken_lanes: RefCell<Vec<Lane>>,
    /// Whether the transaction is of one caller.
    has_one_caller: bool,
    /// Whether that caller's work failed, and the transaction is to be rolled back.
    is_rolled_back: Cell<bool>,
}

impl<'c> Transaction<'c> {
    /// A transaction for so many callers.
    pub(super) fn new(connection: &'c Connection, now: Time, callers: usize) -> Self {
        let (has_one_caller, is_rolled_back) = (callers == 1, Cell::new(false));
        Self { connection, now, woken_lanes: RefCell::default(), has_one_caller, is_rolled_back }
    }

    /// The time of this commit.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// The statement, compiled before or now.
    pub(crate) fn statement(&self, text: &str) -> Result<CachedStatement<'c>> {
        self.connection.prepare_cached(text).map_err(sql)
    }

    /// The value of the row that was inserted last, to be written in place.
    pub(crate) fn last_blob(&self, table: &str, column: &str) -> Result<Blob<'c>> {
        let row = self.connection.last_insert_rowid();
        self.connection.blob_open("main", table, column, row, false).map_err(sql)
    }

    /// Undoes `work`, which is all that the caller does, if it fails. Only beside other callers that takes a
    /// savepoint, for which SQLite copies each page before it changes.
    pub(crate) fn all_or_nothing<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.has_one_caller {
            return self.atomically(work);
        }
        let outcome = work();
        self.is_rolled_back.set(outcome.is_err());
        outcome
    }

    /// Undoes all of `work` if it fails, and nothing of what other callers did before it.
    pub(crate) fn atomically<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.execute("SAVEPOINT part")?;
        let outcome = work();
        // After some errors SQLite has already rolled back everything, savepoint and all.
        if !self.connection.is_autocommit() {
            if outcome.is_err() {
                self.execute("ROLLBACK TO part")?;
            }
            self.execute("RELEASE part")?;
        }
        outcome
    }

    /// Runs several statements that have no parameters and return no rows.
    pub(crate) fn execute_batch(&self, text: &str) -> Result<()> {
        self.connection.execute_batch(text).map_err(sql)
    }

    /// Runs one statement to its end, past each row that it returns.
    pub(crate) fn run(&self, text: &str) -> Result<()> {
        let mut statement = self.statement(text)?;
        let mut rows = statement.query([]).map_err(sql)?;
        while rows.next().map_err(sql)?.is_some() {}
        Ok(())
    }

    /// Whether there is a table with such a column.
    pub(crate) fn has_column(&self, table: &str, column: &str) -> Result<bool> {
        let sql_text = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?";
        let count: i64 =
            self.statement(sql_text)?.query_row([table, column], |row| row.get(0)).map_err(sql)?;
        Ok(count > 0)
    }

    /// Wakes a worker of the lane after the commit.
    pub(crate) fn wake(&self, lane: Lane) {
        self.woken_lanes.borrow_mut().push(lane);
    }

    /// The lanes to wake after the commit; `None` when there is to be none.
    pub(super) fn woken_lanes(self) -> Option<Vec<Lane>> {
        (!self.is_rolled_back.get()).then(|| self.woken_lanes.into_inner())
    }

    fn execute(&self, text: &str) -> Result<usize> {
        self.statement(text)?.execute([]).map_err(sql)
    }
}
