//! The tables that are the adapter's own, and the schema's version.

use rusqlite::Connection;

/// The version that this release writes, in `PRAGMA user_version`. Version 2 has tables that are split
/// into heads and rests, which releases before it do not know; it opens version 1 as it is.
pub(crate) const VERSION: i64 = 2;

/// `job.seq` is never used twice, so that an old lease cannot name a new job. The index holds all
/// that counting a lane needs.
const OWN: &str = "
    CREATE TABLE IF NOT EXISTS job (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        lane TEXT NOT NULL,
        id TEXT NOT NULL,
        due INTEGER NOT NULL,
        held INTEGER NOT NULL DEFAULT 0,
        takes INTEGER NOT NULL DEFAULT 0,
        attempt INTEGER NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (lane, id)
    );
    CREATE INDEX IF NOT EXISTS job_due ON job (lane, due, held);
    CREATE TABLE IF NOT EXISTS segment_bytes (
        seq INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        bytes BLOB NOT NULL
    );
";

/// The version of what is in the file; 0 when it is new.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Creates the adapter's own tables.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(OWN)?;
    if version(connection)? == VERSION {
        return Ok(());
    }
    connection.pragma_update(None, "user_version", VERSION)
}
