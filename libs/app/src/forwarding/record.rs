//! Records the outcome of an attempt to forward.

use trapline_model::ForwardStatus;
use trapline_store::{Job, Lane, Op, PortError, Record as _, When, load, records::Forward};

use super::{
    Forwarding,
    attempt::{BACKOFF, ForwardAttempt, next_job},
};
use crate::{RelayError, Result, mail::backoff_after, metrics};

impl Forwarding {
    /// Records how an attempt ended, and returns the job of the next one, if there is one. A forward
    /// that has ended, or an attempt that another process recorded meanwhile, is left as it is.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn record(
        &self,
        attempt: ForwardAttempt,
        sent: Result<(), RelayError>,
    ) -> Result<Option<Job>> {
        let row = attempt.forward.key();
        let Some((mut forward, _)) = load::<Forward>(&*self.store, &row).await? else {
            return Ok(None);
        };
        if forward.status.is_final() || forward.attempts >= attempt.number {
            return Ok(next_job(&forward)?);
        }
        let now = self.clock.now();
        forward.attempts = attempt.number;
        forward.error = sent.err().map(|error| error.code.to_owned());
        let again = sent.is_err_and(|error| !error.is_final);
        let backoff = backoff_after(BACKOFF, attempt.number).filter(|_| again);
        forward.next_attempt_at = backoff.map(|by| now.after(by));
        forward.status = match (sent, forward.next_attempt_at) {
            (Ok(()), _) => ForwardStatus::Sent,
            (Err(_), Some(_)) => ForwardStatus::Retrying,
            (Err(_), None) => ForwardStatus::Failed,
        };
        forward.completed_at = forward.status.is_final().then_some(now);
        metrics::mail_sent(Lane::Forward, sent.is_ok(), forward.next_attempt_at.is_some());
        self.store.write(vec![put(&forward)?]).await?;
        Ok(next_job(&forward)?)
    }

    /// Ends a forward that is not to be sent.
    pub(super) async fn refuse_forward(&self, mut forward: Forward, why: &str) -> Result<()> {
        tracing::info!(forward.id = %forward.id, why, "a message is not forwarded");
        forward.status = ForwardStatus::Failed;
        forward.error = Some(why.to_owned());
        (forward.next_attempt_at, forward.completed_at) = (None, Some(self.clock.now()));
        metrics::mail_sent(Lane::Forward, false, false);
        Ok(self.store.write(vec![put(&forward)?]).await?)
    }
}

/// The write of a forward's row.
pub(super) fn put(forward: &Forward) -> Result<Op, PortError> {
    Op::put(forward, Some(Forward::KEPT), When::Always)
}
