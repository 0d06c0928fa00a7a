//! Stores mails of the service itself, and records the attempts to send them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use trapline_model::MailId;
use trapline_store::{
    Job, Lane, Op, PortError, When, load,
    records::{Mail, MailFailure, MailSend},
};

use super::{EmailTemplate, OutboundMail, OutgoingMail, RelayError, RelayStage, backoff_after};
use crate::{
    Error, Result,
    in_flight::Claim,
    jobs::{self, Claimed},
    metrics,
};

/// Delays between the attempts to send a mail of the service itself, for which somebody waits: 51 minutes
/// in all.
const BACKOFF: &[Duration] = &[
    Duration::from_secs(15),
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_mins(30),
];

/// The work of [`Lane::Mail`]: one attempt of one mail.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct MailWork {
    mail: MailId,
    /// Number of the attempt, from 1. A job for one that has ended already is a repeat.
    attempt: u32,
}

/// A mail to be sent; claimed by this process until it is dropped.
#[derive(Debug)]
pub struct MailAttempt {
    /// The mail for the relay.
    pub outgoing: OutgoingMail,
    /// Number of the attempt, from 1 to 6.
    pub number: u32,
    mail: MailId,
    _claim: Claim,
}

impl OutboundMail {
    /// Stores a mail, to be sent at once.
    pub(crate) async fn send(&self, to: &str, template: &EmailTemplate) -> Result<()> {
        let (id, now) = (MailId(self.ids.next()), self.clock.now());
        let message = template.message(&self.identity()?.from, to, &id.to_string(), now);
        let mail = Mail {
            id,
            to: to.to_owned(),
            sealed: Some(self.secrets.seal(&seal_context(id), &message)?),
            attempts: 0,
            next_attempt_at: Some(now),
            sent: false,
            error: None,
        };
        let job = next_job(&mail)?.ok_or(Error::Unavailable)?;
        Ok(self.jobs.schedule_with(vec![put(&mail)?], &[job]).await?)
    }

    /// Claims the job's mail, if it is still to be sent.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::WrongMasterKey`] when the mail does not open.
    pub async fn claim(&self, job: &Job) -> Result<Claimed<MailAttempt>> {
        let work: MailWork = jobs::work(job)?;
        let Some(claim) = self.in_flight.take(work.mail.0) else {
            return Ok(self.jobs.claimed_elsewhere(job)?);
        };
        let row = load::<Mail>(&*self.store, &Mail::row(work.mail)).await?;
        let Some((mail, _)) = row else {
            return Ok(self.jobs.without_row(job)?);
        };
        let Some(next) = next_job(&mail)? else { return Ok(Claimed::Finished) };
        if work.attempt <= mail.attempts {
            // A repeat. What comes after it may have been lost with the process that ran it first.
            return Ok(Claimed::Reschedule(next));
        }
        let sealed = mail.sealed.as_deref().unwrap_or_default();
        let message = self.secrets.open(&seal_context(mail.id), sealed)?;
        let from = self.envelope_sender(self.identity()?, &mail.id.to_string());
        let content = vec![message.into()];
        let outgoing = OutgoingMail { from, to: mail.to, content, utf8_header: false };
        let number = mail.attempts + 1;
        Ok(Claimed::Run(Box::new(MailAttempt { outgoing, number, mail: mail.id, _claim: claim })))
    }

    /// Records how sending ended, and returns the job of the next attempt, if there is one.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn record(
        &self,
        attempt: MailAttempt,
        sent: Result<(), RelayError>,
    ) -> Result<Option<Job>> {
        let row = load::<Mail>(&*self.store, &Mail::row(attempt.mail)).await?;
        let Some((mut mail, _)) = row else { return Ok(None) };
        if mail.next_attempt_at.is_none() || mail.attempts >= attempt.number {
            return Ok(next_job(&mail)?);
        }
        let now = self.clock.now();
        mail.attempts = attempt.number;
        mail.sent = sent.is_ok();
        mail.error = sent.err().map(|error| error.code.to_owned());
        let again = sent.is_err_and(|error| !error.is_final);
        let backoff = backoff_after(BACKOFF, attempt.number).filter(|_| again);
        mail.next_attempt_at = backoff.map(|by| now.after(by));
        if mail.next_attempt_at.is_none() {
            mail.sealed = None;
        }
        metrics::mail_sent(Lane::Mail, sent.is_ok(), mail.next_attempt_at.is_some());
        let ok = sent.is_ok() || sent.is_err_and(|error| error.stage == RelayStage::Recipient);
        let note = MailSend { at: now, mail: mail.id, ok };
        let mut ops = vec![put(&mail)?, kept(&note)?];
        if again && mail.next_attempt_at.is_none() {
            tracing::error!(mail.id = %mail.id, error = mail.error, "a mail was given up");
            ops.push(kept(&MailFailure { at: now, mail: mail.id })?);
        }
        self.store.write(ops).await?;
        Ok(next_job(&mail)?)
    }
}

/// The job for the attempt that a mail's row says is next; none when it has ended.
fn next_job(mail: &Mail) -> Result<Option<Job>, PortError> {
    let Some(due) = mail.next_attempt_at else { return Ok(None) };
    let work = MailWork { mail: mail.id, attempt: mail.attempts + 1 };
    jobs::job(Lane::Mail, mail.id.to_string(), 1, work, due).map(Some)
}

fn put(mail: &Mail) -> Result<Op, PortError> {
    Op::put(mail, Some(Mail::KEPT), When::Always)
}

fn kept<R: trapline_store::Record>(row: &R) -> Result<Op, PortError> {
    Op::put(row, Some(MailSend::KEPT), When::Always)
}

fn seal_context(id: MailId) -> String {
    format!("mail:{id}")
}
