//! Every metric of the product: one function each, and the names in one place.
#![expect(clippy::disallowed_macros, reason = "the one place that names metrics")]

mod backups;
mod calls;
mod checks;
mod idp;
mod mocks;
mod process;
mod smtp_codes;

use std::time::Duration;

use metrics::{
    Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use trapline_model::{Component, DeliveryStatus};
use trapline_store::{Lane, LaneStats};

pub use backups::{backup_done, backup_interval, last_backup};
pub(crate) use calls::measured;
pub(crate) use checks::{check_done, spam_engine_up};
pub(crate) use idp::{
    idp_event_lost, idp_event_suppressed, idp_fault, idp_keys_ready, idp_signature,
};
pub use idp::{idp_request, idp_sign_in};
pub use mocks::MockBody;
pub(crate) use mocks::{mock_call, mock_conflict, mock_delivery};
pub use process::{ProcessUse, process, process_started, set_certificate_expiry};

const BUILD: &str = "trapline_build_info";
const HTTP_SECONDS: &str = "trapline_http_request_seconds";
const HTTP_OPEN: &str = "trapline_http_connections";
const HTTP_CONNECTIONS: &str = "trapline_http_connections_total";
const HTTP_FAULTS: &str = "trapline_http_faults_total";
const AUTH_FAILURES: &str = "trapline_api_auth_failures_total";
const SMTP_SESSIONS: &str = "trapline_smtp_sessions";
const SMTP_SESSIONS_TOTAL: &str = "trapline_smtp_sessions_total";
const SMTP_SESSIONS_LIMIT: &str = "trapline_smtp_sessions_limit";
const SMTP_MEMORY: &str = "trapline_smtp_memory_bytes";
const SMTP_MEMORY_LIMIT: &str = "trapline_smtp_memory_limit_bytes";
const SMTP_AUTH: &str = "trapline_smtp_auth_total";
const SMTP_MAILS: &str = "trapline_smtp_mails_total";
const SMTP_REPLIES: &str = "trapline_smtp_replies_total";
const SMTP_FAULTS: &str = "trapline_smtp_faults_total";
const SMTP_SECONDS: &str = "trapline_smtp_deliver_seconds";
const STORED: &str = "trapline_messages_stored_total";
const STORED_BYTES: &str = "trapline_message_bytes_total";
const DAMAGED: &str = "trapline_messages_damaged_total";
const UNREADABLE: &str = "trapline_unreadable_rows_total";
const GROUP_SECONDS: &str = "trapline_group_commit_seconds";
const GROUP_MAILS: &str = "trapline_group_mails";
const GROUP_BYTES: &str = "trapline_group_bytes_total";
const WAITS: &str = "trapline_waits_parked";
const WAIT_ENDED: &str = "trapline_waits_total";
const STREAMS: &str = "trapline_event_streams";
const STREAMS_LIMIT: &str = "trapline_streams_limit";
const DATA_FREE: &str = "trapline_data_free_bytes";
const DATA: &str = "trapline_data_bytes";
const JOBS_READY: &str = "trapline_jobs_ready";
const JOBS_OVERDUE: &str = "trapline_jobs_overdue";
const OLDEST_OVERDUE: &str = "trapline_jobs_oldest_overdue_seconds";
const BACKEND_OPERATIONS: &str = "trapline_backend_operations_total";
const BACKEND_ERRORS: &str = "trapline_backend_errors_total";
const JOBS: &str = "trapline_jobs_total";
const PUT_BACK: &str = "trapline_jobs_put_back_total";
const TASKS: &str = "trapline_chores_total";
const JANITOR_BEHIND: &str = "trapline_janitor_behind_seconds";
const SKEW: &str = "trapline_clock_skew_seconds";
const PROBES: &str = "trapline_probes_total";
const WEBHOOK_SECONDS: &str = "trapline_webhook_attempt_seconds";
const PLAN_REFUSALS: &str = "trapline_plan_refusals_total";
const OPEN_LIMITS: &str = "trapline_redis_open_limits_total";
const MAIL_SENDS: &str = "trapline_mail_sends_total";

/// Gives every metric its help text; once, after the recorder is installed.
pub fn describe() {
    backups::describe();
    calls::describe();
    checks::describe();
    idp::describe();
    mocks::describe();
    process::describe();
    describe_gauge!(BUILD, "1, with the version and the commit of the executable.");
    describe_histogram!(HTTP_SECONDS, Unit::Seconds, "HTTP requests by route, method and status.");
    describe_gauge!(HTTP_OPEN, "HTTP connections that are open.");
    describe_counter!(HTTP_CONNECTIONS, "HTTP connections by outcome.");
    describe_counter!(
        HTTP_FAULTS,
        "HTTP clients that were too slow, found no room, or did not do as TLS wants it, by kind."
    );
    describe_counter!(AUTH_FAILURES, "API keys and metrics tokens that were refused, by kind.");
    describe_gauge!(SMTP_SESSIONS, "SMTP sessions that are open.");
    describe_counter!(SMTP_SESSIONS_TOTAL, "SMTP connections by outcome.");
    describe_gauge!(SMTP_SESSIONS_LIMIT, "SMTP sessions that may be open.");
    describe_gauge!(SMTP_MEMORY, Unit::Bytes, "Memory that mails in SMTP sessions have.");
    describe_gauge!(SMTP_MEMORY_LIMIT, Unit::Bytes, "Memory that these may have.");
    describe_counter!(SMTP_AUTH, "SMTP authentications by outcome.");
    describe_counter!(SMTP_MAILS, "SMTP transactions by reply class.");
    describe_counter!(SMTP_REPLIES, "SMTP replies by code.");
    describe_counter!(SMTP_FAULTS, "SMTP sessions in which something went wrong, by kind.");
    describe_histogram!(SMTP_SECONDS, Unit::Seconds, "From the end of DATA to its reply.");
    describe_counter!(STORED, "Messages stored, one per inbox.");
    describe_counter!(STORED_BYTES, Unit::Bytes, "Bytes of mail stored.");
    describe_counter!(DAMAGED, "Reads of messages whose stored bytes are missing or damaged.");
    describe_counter!(UNREADABLE, "Stored rows that cannot be read and are left out, by table.");
    describe_histogram!(GROUP_SECONDS, Unit::Seconds, "Commits of the receiving path by outcome.");
    describe_histogram!(GROUP_MAILS, "Mails in one commit.");
    describe_counter!(GROUP_BYTES, Unit::Bytes, "Bytes of segments written.");
    describe_gauge!(WAITS, "Waits that are parked.");
    describe_counter!(WAIT_ENDED, "Waits by outcome.");
    describe_gauge!(STREAMS, "Event streams that are open.");
    describe_gauge!(STREAMS_LIMIT, "Waits and event streams that may be open.");
    describe_gauge!(DATA_FREE, Unit::Bytes, "What is free on the disk of the data folder.");
    describe_gauge!(DATA, Unit::Bytes, "Bytes of the files in the data folder.");
    describe_gauge!(
        JOBS_READY,
        "Jobs that are due and wait, by lane; take the greatest of all processes."
    );
    describe_gauge!(JOBS_OVERDUE, "Those that are due for more than a minute, in the same way.");
    describe_gauge!(
        OLDEST_OVERDUE,
        Unit::Seconds,
        "How long the oldest of these has been due, in the same way."
    );
    describe_counter!(
        BACKEND_OPERATIONS,
        "What was asked of the services of a cluster, by backend and operation."
    );
    describe_counter!(
        BACKEND_ERRORS,
        "Operations on the services of a cluster that failed, by backend."
    );
    describe_counter!(JOBS, "Jobs by lane and outcome.");
    describe_counter!(PUT_BACK, "Jobs that a process lacked something for, by what and outcome.");
    describe_counter!(TASKS, "Tasks of the janitor by outcome; parked ones are tried daily.");
    describe_gauge!(JANITOR_BEHIND, Unit::Seconds, "How far the janitor is behind with a queue.");
    describe_gauge!(SKEW, Unit::Seconds, "How far this machine's clock is ahead of the store's.");
    describe_counter!(PROBES, "Probes of the service's own parts, by component and outcome.");
    describe_histogram!(WEBHOOK_SECONDS, Unit::Seconds, "Webhook calls by what they led to.");
    describe_counter!(PLAN_REFUSALS, "What plans did not allow, by limit or feature.");
    describe_counter!(OPEN_LIMITS, "Allowances not counted because the limiter did not answer.");
    describe_counter!(MAIL_SENDS, "Mail given to the relay, by lane and by what that led to.");
}

/// Says which executable this is.
pub fn build(version: &'static str, commit: &'static str) {
    gauge!(BUILD, "version" => version, "commit" => commit).set(1.0);
}

/// Says how many waits and event streams may be open.
pub fn streams_limit(streams: usize) {
    gauge!(STREAMS_LIMIT).set(number(streams as u64));
}

/// Says how many SMTP sessions may be open, and how much memory their mails may have.
pub fn smtp_limits(sessions: usize, memory: usize) {
    gauge!(SMTP_SESSIONS_LIMIT).set(number(sessions as u64));
    gauge!(SMTP_MEMORY_LIMIT).set(number(memory as u64));
}

/// Says how much memory the mails in SMTP sessions have.
pub fn smtp_memory(bytes: usize) {
    gauge!(SMTP_MEMORY).set(number(bytes as u64));
}

/// Says how much is free on the disk of the data folder, and how much the folder takes.
pub fn disk(free: u64, used: u64) {
    gauge!(DATA_FREE).set(number(free));
    gauge!(DATA).set(number(used));
}

/// Says how a lane stands; one process at a time measures that, and the others say 0.
pub(crate) fn lane(lane: Lane, stats: &LaneStats) {
    let oldest = stats.oldest_overdue.unwrap_or_default();
    gauge!(JOBS_READY, "lane" => lane.name()).set(number(stats.ready));
    gauge!(JOBS_OVERDUE, "lane" => lane.name()).set(number(stats.overdue));
    gauge!(OLDEST_OVERDUE, "lane" => lane.name()).set(oldest.as_secs_f64());
}

#[expect(clippy::cast_precision_loss, reason = "precise up to 2^53, and for people")]
fn number(of: u64) -> f64 {
    of as f64
}

/// An HTTP request was answered; `route` is the pattern, never the path.
pub fn http_request(route: &str, method: &str, status: u16, took: Duration) {
    let labels = [
        ("route", route.to_owned()),
        ("method", method.to_owned()),
        ("status", status.to_string()),
    ];
    histogram!(HTTP_SECONDS, &labels).record(took.as_secs_f64());
}

/// An HTTP connection was taken or refused.
pub fn http_connection(outcome: &'static str) {
    counter!(HTTP_CONNECTIONS, "outcome" => outcome).increment(1);
}

/// An HTTP connection began.
pub fn http_connection_opened() {
    gauge!(HTTP_OPEN).increment(1);
}

/// An HTTP connection ended.
pub fn http_connection_closed() {
    gauge!(HTTP_OPEN).decrement(1);
}

/// An HTTP client was too slow, or found no room for its answer.
pub fn http_fault(kind: &'static str) {
    counter!(HTTP_FAULTS, "kind" => kind).increment(1);
}

/// An API key or a metrics token was refused.
pub fn auth_failed(kind: &'static str) {
    counter!(AUTH_FAILURES, "kind" => kind).increment(1);
}

/// An SMTP connection was taken or refused.
pub fn smtp_connection(outcome: &'static str) {
    counter!(SMTP_SESSIONS_TOTAL, "outcome" => outcome).increment(1);
}

/// An SMTP session began.
pub fn smtp_session_opened() {
    gauge!(SMTP_SESSIONS).increment(1);
}

/// An SMTP session ended.
pub fn smtp_session_closed() {
    gauge!(SMTP_SESSIONS).decrement(1);
}

/// A client authenticated, or did not.
pub fn smtp_auth(ok: bool) {
    counter!(SMTP_AUTH, "outcome" => outcome(ok)).increment(1);
}

/// A mail was stored.
pub fn smtp_mail_accepted(took: Duration) {
    counter!(SMTP_MAILS, "outcome" => outcome(true)).increment(1);
    histogram!(SMTP_SECONDS).record(took.as_secs_f64());
}

/// A whole mail was refused.
pub fn smtp_mail_rejected() {
    counter!(SMTP_MAILS, "outcome" => outcome(false)).increment(1);
}

/// A client was sent a reply with this code.
pub fn smtp_reply(code: u16) {
    counter!(SMTP_REPLIES, "code" => smtp_codes::name(code)).increment(1);
}

/// Something went wrong in a session.
pub fn smtp_fault(kind: &'static str) {
    counter!(SMTP_FAULTS, "kind" => kind).increment(1);
}

pub(crate) fn messages_stored(messages: usize, bytes: usize) {
    counter!(STORED).increment(messages as u64);
    counter!(STORED_BYTES).increment(bytes as u64);
}

/// A message was asked for whose bytes are not those that were written.
pub(crate) fn message_damaged() {
    counter!(DAMAGED).increment(1);
}

/// A stored row does not decode.
pub(crate) fn unreadable_row(table: &'static str) {
    counter!(UNREADABLE, "table" => table).increment(1);
}

pub(crate) fn group_committed(took: Duration, mails: usize, bytes: usize, ok: bool) {
    histogram!(GROUP_SECONDS, "outcome" => outcome(ok)).record(took.as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a group has at most a few hundred mails")]
    histogram!(GROUP_MAILS).record(mails as f64);
    counter!(GROUP_BYTES).increment(bytes as u64);
}

/// A job ended, or is tried again.
pub fn job_done(lane: Lane, ok: bool) {
    counter!(JOBS, "lane" => lane.name(), "outcome" => outcome(ok)).increment(1);
}

/// A job was put back for a process that has what this one lacks, or given up.
pub(crate) fn job_put_back(lane: Lane, lacking: &'static str, outcome: &'static str) {
    counter!(PUT_BACK, "lane" => lane.name(), "lacking" => lacking, "outcome" => outcome)
        .increment(1);
}

/// A task of the janitor was done, failed, failed so often that it is tried daily only, or is of a
/// kind that this release does not know.
pub(crate) fn task_done(outcome: &'static str) {
    counter!(TASKS, "outcome" => outcome).increment(1);
}

/// How far the janitor is behind in a shard of a queue.
pub(crate) fn janitor_behind(queue: &'static str, shard: i64, by: Duration) {
    let shard = shard.to_string();
    gauge!(JANITOR_BEHIND, "queue" => queue, "shard" => shard).set(by.as_secs_f64());
}

/// This machine's clock was compared with the store's.
pub(crate) fn clock_skew(millis: i64) {
    #[expect(clippy::cast_precision_loss, reason = "precise for thousands of years")]
    gauge!(SKEW).set(millis as f64 / 1000.0);
}

/// A part of the service was probed.
pub(crate) fn probe_taken(component: Component, ok: bool) {
    counter!(PROBES, "component" => component.id(), "outcome" => outcome(ok)).increment(1);
}

/// A webhook was called; the outcome is where that left the delivery.
pub(crate) fn webhook_attempt(status: DeliveryStatus, took: Duration) {
    let outcome = match status {
        DeliveryStatus::Succeeded => "succeeded",
        DeliveryStatus::Pending | DeliveryStatus::Retrying => "retrying",
        DeliveryStatus::Failed => "failed",
    };
    histogram!(WEBHOOK_SECONDS, "outcome" => outcome).record(took.as_secs_f64());
}

/// A plan did not allow something; `what` is the name of its limit or feature.
pub(crate) fn plan_refused(what: &'static str) {
    counter!(PLAN_REFUSALS, "limit" => what).increment(1);
}

/// The limiter did not answer, and what it would have counted went on.
pub(crate) fn limit_open() {
    counter!(OPEN_LIMITS).increment(1);
}

/// A mail of the service itself, or a forwarded one, was given to the relay.
pub(crate) fn mail_sent(lane: Lane, ok: bool, again: bool) {
    let outcome = match (ok, again) {
        (true, _) => "sent",
        (false, true) => "retrying",
        (false, false) => "failed",
    };
    counter!(MAIL_SENDS, "lane" => lane.name(), "outcome" => outcome).increment(1);
}

pub(crate) fn wait_ended(outcome: &'static str) {
    counter!(WAIT_ENDED, "outcome" => outcome).increment(1);
}

/// Counts as one in a gauge until it is dropped.
pub(crate) struct Gauged(Gauge);

impl Gauged {
    fn new(gauge: Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Gauged {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

pub(crate) fn parked_wait() -> Gauged {
    Gauged::new(gauge!(WAITS))
}

pub(crate) fn open_stream() -> Gauged {
    Gauged::new(gauge!(STREAMS))
}

fn outcome(ok: bool) -> &'static str {
    if ok { "ok" } else { "failed" }
}

#[cfg(test)]
mod tests;
