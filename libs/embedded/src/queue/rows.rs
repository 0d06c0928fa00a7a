//! The job table's statements.

use std::time::Duration;

use rusqlite::{Row as SqlRow, params};
use trapline_model::Time;
use trapline_store::{Job, Lane, Lease, PortError, Result};

use super::LEASE_TTL;
use crate::{
    values::{count, sql},
    writer::Transaction,
};

/// When a job is taken again whose body does not decode.
const UNREADABLE_DELAY: Duration = Duration::from_hours(24);

/// How often a job may be taken without an end before a restart lets it wait.
const SUSPECT_TAKES: i64 = 3;

/// Names one lease: the job's row, and how often it had been taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeaseToken {
    pub(super) seq: i64,
    pub(super) takes: i64,
}

pub(super) fn token(lease: &Lease) -> Result<LeaseToken> {
    let token = lease.token.downcast_ref().copied();
    token.ok_or(PortError::Misuse("a lease of another queue"))
}

/// Stores a job unless one with its id is stored already, and wakes a worker.
pub(crate) fn insert(transaction: &Transaction<'_>, job: &Job, due: Option<Time>) -> Result<()> {
    let due = due.unwrap_or(transaction.now()).millis();
    let mut statement = transaction.statement(
        "INSERT INTO job (lane, id, due, attempt, body) VALUES (?, ?, ?, ?, ?) \
         ON CONFLICT DO NOTHING",
    )?;
    let parameters = params![job.lane.name(), job.id, due, job.attempt, job.body.to_string()];
    statement.execute(parameters).map_err(sql)?;
    transaction.wake(job.lane);
    Ok(())
}

/// Takes up to `max` due jobs, the longest due first.
pub(super) fn lease(transaction: &Transaction<'_>, lane: Lane, max: usize) -> Result<Vec<Lease>> {
    let mut due = transaction.statement(
        "SELECT seq, takes + 1, id, attempt, body FROM job WHERE lane = ? AND due <= ? \
         ORDER BY due, seq LIMIT ?",
    )?;
    let now = transaction.now();
    let parameters = params![lane.name(), now.millis(), count(max)];
    let found = due.query_map(parameters, |row| read(row, lane)).map_err(sql)?;
    let found = found.collect::<Result<Vec<_>, _>>().map_err(sql)?;
    let mut hold = transaction
        .statement("UPDATE job SET held = 1, takes = takes + 1, due = ? WHERE seq = ?")?;
    let until = now.after(LEASE_TTL).millis();
    let mut leases = Vec::with_capacity(found.len());
    for (token, job, body) in found {
        let body = match serde_json::from_str(&body) {
            Ok(body) => body,
            Err(error) => {
                // It must not stand before those behind it.
                tracing::error!(%error, job.id, "a stored job does not decode");
                let tomorrow = now.after(UNREADABLE_DELAY).millis();
                hold.execute(params![tomorrow, token.seq]).map_err(sql)?;
                continue;
            }
        };
        hold.execute(params![until, token.seq]).map_err(sql)?;
        leases.push(Lease { job: Job { body, ..job }, token: Box::new(token) });
    }
    Ok(leases)
}

/// Ends the leases of a process that is gone, so that its jobs are due now. One that was taken this often
/// without an end may be what ended the process: it waits its lease out.
pub(crate) fn release(transaction: &Transaction<'_>) -> Result<()> {
    let mut statement =
        transaction.statement("UPDATE job SET held = 0, due = ? WHERE held = 1 AND takes < ?")?;
    let parameters = params![transaction.now().millis(), SUSPECT_TAKES];
    statement.execute(parameters).map_err(sql).map(drop)
}

/// A due job without its body, which may not decode.
fn read(row: &SqlRow<'_>, lane: Lane) -> rusqlite::Result<(LeaseToken, Job, String)> {
    let token = LeaseToken { seq: row.get(0)?, takes: row.get(1)? };
    let (id, attempt, body) = (row.get(2)?, row.get(3)?, serde_json::Value::Null);
    Ok((token, Job { id, lane, attempt, body }, row.get(4)?))
}

/// Removes a leased job; whether the lease still held.
pub(super) fn remove(
    transaction: &Transaction<'_>,
    LeaseToken { seq, takes }: LeaseToken,
) -> Result<bool> {
    let mut statement = transaction.statement("DELETE FROM job WHERE seq = ? AND takes = ?")?;
    Ok(statement.execute([seq, takes]).map_err(sql)? == 1)
}
