//! Clean-up in steps, between which others write.

use rusqlite::params;
use trapline_store::Result;

use crate::{
    database::Database,
    values::{count, sql},
};

/// Rows removed in one step.
const STEP_ROWS: usize = 500;
/// Unused pages moved out in one step, 1 MB.
const STEP_PAGES: i64 = 128;
/// Steps of one sweep.
const MAX_STEPS: usize = 4;
/// Unused pages that are left for the mail to come, 2 MB.
const SPARE_PAGES: i64 = 256;

/// Removes up to `limit` expired rows, then gives unused pages back, and reserves room again.
pub(crate) async fn sweep(database: &Database, limit: usize) -> Result<u64> {
    let mut removed = 0;
    for statements in database.tables.all() {
        while removed < limit {
            let (text, step) = (statements.sweep.clone(), STEP_ROWS.min(limit - removed));
            let gone = database
                .write_relaxed(move |transaction| {
                    let mut statement = transaction.statement(&text)?;
                    statement.execute(params![transaction.now().millis(), count(step)]).map_err(sql)
                })
                .await?;
            removed += gone;
            if gone < step {
                break;
            }
        }
    }
    for _ in 0..MAX_STEPS {
        if !shrink(database).await? {
            break;
        }
    }
    database.disk.keep_reserve();
    Ok(removed as u64)
}

/// Gives some unused pages back to the file system; whether there may be more.
async fn shrink(database: &Database) -> Result<bool> {
    let unused = |connection: &rusqlite::Connection| {
        connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, i64>(0)).map_err(sql)
    };
    let spare = database.readers.short(unused)? - SPARE_PAGES;
    if spare <= 0 {
        return Ok(false);
    }
    let text = format!("PRAGMA incremental_vacuum({})", spare.min(STEP_PAGES));
    database.write_relaxed(move |transaction| transaction.run(&text)).await?;
    Ok(spare > STEP_PAGES)
}
