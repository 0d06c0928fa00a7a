//! The body of a job: its work, when it is due, and where its row in the outbox is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use trapline_model::Time;
use trapline_store::{Job, Lane, PortError, Result, records::Outbox};

use super::MAX_LATENESS;

/// The table that errors name when a job's body does not decode.
pub(super) const TABLE: &str = "job";

/// A job's body.
#[derive(Serialize, Deserialize)]
struct Body<W> {
    due: Time,
    /// When its row in the outbox is due; `None` is when the job is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row: Option<Time>,
    /// How often it was put back for a process that can do it.
    #[serde(default, skip_serializing_if = "is_zero")]
    put_back: u32,
    work: W,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Makes a job that is to run at `due`. The id is stable: the same id is the same job.
pub(crate) fn job<W: Serialize>(
    lane: Lane,
    id: String,
    attempt: u32,
    work: W,
    due: Time,
) -> Result<Job> {
    let body = serde_json::to_value(Body { due, row: None, put_back: 0, work }).map_err(corrupt)?;
    Ok(Job { id, lane, attempt, body })
}

/// The work that a job asks for.
pub(crate) fn work<W: DeserializeOwned>(job: &Job) -> Result<W> {
    Body::deserialize(&job.body).map(|body| body.work).map_err(corrupt)
}

/// When a job is due.
pub(crate) fn due(job: &Job) -> Result<Time> {
    decode_without_work(job).map(|body| body.due)
}

/// The same job with its row in the outbox due at `row`.
pub(crate) fn with_row_due_at(job: &Job, row: Time) -> Result<Job> {
    with_body(job, Body { row: Some(row), ..decode_all(job)? })
}

/// The same job with other work.
pub(crate) fn with_work<W: Serialize>(job: &Job, work: W) -> Result<Job> {
    let Body { due, row, put_back, .. } = decode_without_work(job)?;
    with_body(job, Body { due, row, put_back, work })
}

/// The same job for another time.
pub(crate) fn rescheduled_at(old: &Job, due: Time) -> Result<Job> {
    let next: serde_json::Value = work(old)?;
    job(old.lane, old.id.clone(), old.attempt, next, due)
}

pub(super) fn times_put_back(job: &Job) -> Result<u32> {
    decode_without_work(job).map(|body| body.put_back)
}

/// The same job for another time, put back once more.
pub(super) fn put_back(job: &Job, due: Time) -> Result<Job> {
    let body = decode_all(job)?;
    let put_back = body.put_back.saturating_add(1);
    with_body(job, Body { due, row: None, put_back, ..body })
}

/// The job with its row in the outbox ahead of the janitor, which reads no minute again that it passed: a
/// job that is overdue by more than a minute has its row at the present time.
pub(super) fn with_row_ahead(job: &Job, now: Time) -> Result<Cow<'_, Job>> {
    let is_late = now.since(due(job)?) > MAX_LATENESS;
    Ok(if is_late { Cow::Owned(with_row_due_at(job, now)?) } else { Cow::Borrowed(job) })
}

/// The job's row in the outbox.
pub(super) fn row_of(job: &Job) -> Result<Outbox> {
    let body = decode_without_work(job)?;
    Ok(Outbox { due: body.row.unwrap_or(body.due), job: job.clone() })
}

fn decode_without_work(job: &Job) -> Result<Body<serde::de::IgnoredAny>> {
    Body::deserialize(&job.body).map_err(corrupt)
}

fn decode_all(job: &Job) -> Result<Body<serde_json::Value>> {
    Body::deserialize(&job.body).map_err(corrupt)
}

fn with_body<W: Serialize>(job: &Job, body: Body<W>) -> Result<Job> {
    let body = serde_json::to_value(body).map_err(corrupt)?;
    Ok(Job { body, ..job.clone() })
}

fn corrupt(source: serde_json::Error) -> PortError {
    PortError::Corrupt { table: TABLE, source }
}
