//! Copies of the database as it is at one moment, for backups.

use std::{io, path::Path};

use rusqlite::{Connection, params};
use trapline_model::Time;
use trapline_store::{Job, Lane, PortError, Result, Store, records::Outbox};

use crate::{
    database::Database,
    open::{self, DATABASE_FILE},
    values::{count, sql},
};

/// Jobs read at a time.
const PAGE_JOBS: usize = 500;

/// Copies the database by one read transaction: copying its pages would begin anew whenever another process
/// writes.
pub(crate) async fn snapshot(database: &Database, folder: &Path) -> Result<()> {
    let from = database.disk.folder().join(DATABASE_FILE);
    let folder = folder.to_owned();
    let copy = move || {
        open::folder(&folder).map_err(PortError::unavailable)?;
        let to = folder.join(DATABASE_FILE);
        // SQLite writes into an empty file that is there, and this one is for its owner only.
        open::private_file(&to).map_err(PortError::unavailable)?;
        let connection = open::copier(&from).map_err(sql)?;
        let copied = connection.execute("VACUUM INTO ?", [to.to_string_lossy()]);
        copied.map(drop).map_err(sql)
    };
    tokio::task::spawn_blocking(copy).await.map_err(PortError::unavailable)?
}

/// The length of the database with its log, in bytes.
pub(crate) fn size(database: &Database) -> io::Result<u64> {
    let path = database.disk.folder().join(DATABASE_FILE);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = std::fs::metadata(log).map_or(0, |file| file.len());
    Ok(std::fs::metadata(path)?.len().saturating_add(log))
}

/// Writes each job into the outbox.
pub(crate) async fn put_jobs_into_outbox(database: &Database, store: &dyn Store) -> Result<()> {
    let mut behind = 0;
    loop {
        let jobs = database.readers.long(move |connection| jobs(connection, behind)).await?;
        let Some((last, _)) = jobs.last() else { return Ok(()) };
        behind = *last;
        let puts = jobs.into_iter().filter_map(|(_, outbox)| Some(outbox?.put()));
        store.write(puts.collect::<Result<_>>()?).await?;
    }
}

/// The jobs behind one of these numbers, with their own; `None` for one that this release cannot read.
fn jobs(connection: &Connection, behind: i64) -> Result<Vec<(i64, Option<Outbox>)>> {
    let text =
        "SELECT seq, lane, id, due, attempt, body FROM job WHERE seq > ? ORDER BY seq LIMIT ?";
    let mut statement = connection.prepare_cached(text).map_err(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        let (seq, lane, id) = (row.get(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        let (due, attempt) = (Time::from_millis(row.get(3)?), row.get(4)?);
        Ok((seq, lane, due, id, attempt, row.get::<_, String>(5)?))
    };
    let found = statement.query_map(params![behind, count(PAGE_JOBS)], read).map_err(sql)?;
    let mut jobs = Vec::new();
    for row in found {
        let (seq, lane, due, id, attempt, body) = row.map_err(sql)?;
        let known = Lane::ALL.into_iter().find(|known| known.name() == lane);
        let job = known.zip(serde_json::from_str(&body).ok());
        let job = job.map(|(lane, body)| Outbox { due, job: Job { id, lane, attempt, body } });
        if job.is_none() {
            tracing::warn!(lane, "a job cannot be read, and is not in the copy");
        }
        jobs.push((seq, job));
    }
    Ok(jobs)
}
