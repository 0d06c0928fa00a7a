//! Claims a forward, and prepares the mail for the relay.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use trapline_model::{ForwardId, MessageId, Principal};
use trapline_store::{Job, Lane, PortError, load, records::Forward};

use super::{
    Forwarding,
    history::{ForwardHistory, Refused},
    rewrite::{self, ForwardHeaders, Rewritten},
};
use crate::{
    Error, OutgoingMail, Result,
    in_flight::Claim,
    jobs::{self, Claimed},
    mail::{EmailAddress, format_date, format_mailbox},
};

/// The delays after the first attempt, the second, and so on.
pub(super) const BACKOFF: &[Duration] = &[
    Duration::from_mins(1),
    Duration::from_mins(5),
    Duration::from_mins(15),
    Duration::from_hours(1),
    Duration::from_hours(4),
];

/// The work of [`Lane::Forward`]: one attempt of one forward.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ForwardWork {
    message: MessageId,
    forward: ForwardId,
    /// Number of the attempt, from 1. A job for one that has ended already is a repeat.
    attempt: u32,
}

/// A message to be sent through the relay to one recipient; claimed by this process until it is dropped.
#[derive(Debug)]
pub struct ForwardAttempt {
    /// The mail for the relay.
    pub outgoing: OutgoingMail,
    /// Number of the attempt, from 1 to 6.
    pub number: u32,
    pub(super) forward: Forward,
    /// The message as it was caught and the added fields, while it is not an attachment yet.
    whole: Option<(Bytes, ForwardHeaders)>,
    _claim: Claim,
}

impl ForwardAttempt {
    /// Makes the message an attachment of one from the service itself, for a relay that refuses it as
    /// it is. False when it is one already.
    pub fn wrap(&mut self) -> bool {
        let Some((raw, headers)) = self.whole.take() else { return false };
        let Rewritten { content, utf8_header, .. } = rewrite::wrap_as_attachment(&raw, &headers);
        self.outgoing.content = content;
        self.outgoing.utf8_header = utf8_header;
        true
    }
}

impl Forwarding {
    /// Claims the job's forward, if it is still to be sent.
    ///
    /// # Errors
    ///
    /// When a backend does not answer.
    pub async fn claim(&self, job: &Job) -> Result<Claimed<ForwardAttempt>> {
        let work: ForwardWork = jobs::work(job)?;
        let Some(claim) = self.in_flight.take(work.forward.0) else {
            return Ok(self.jobs.claimed_elsewhere(job)?);
        };
        let row = Forward::row(work.message, work.forward);
        let Some((forward, _)) = load::<Forward>(&*self.store, &row).await? else {
            return Ok(self.jobs.without_row(job)?);
        };
        let Some(next) = next_job(&forward)? else { return Ok(Claimed::Finished) };
        if work.attempt <= forward.attempts {
            // A repeat. What comes after it may have been lost with the process that ran it first.
            return Ok(Claimed::Reschedule(next));
        }
        match self.prepare(&forward).await? {
            Ok((outgoing, whole)) => {
                let number = forward.attempts + 1;
                let attempt = ForwardAttempt { outgoing, number, forward, whole, _claim: claim };
                Ok(Claimed::Run(Box::new(attempt)))
            }
            Err(why) => {
                self.refuse_forward(forward, why).await?;
                Ok(Claimed::Finished)
            }
        }
    }

    /// Prepares the mail for the relay; the inner error says why nothing may be sent.
    async fn prepare(&self, forward: &Forward) -> Result<Result<PreparedForward, &'static str>> {
        let Ok(outbound) = self.mail.identity() else { return Ok(Err("outbound_disabled")) };
        if self.mail.is_our_domain(&forward.to) {
            return Ok(Err("own_address"));
        }
        let mailbox = EmailAddress::parse("to", &forward.to)?;
        if self.verified_address(forward.team, &mailbox).await?.is_none() {
            return Ok(Err("address_removed"));
        }
        let raw = match self.messages.raw(&Principal::system(forward.team), forward.message).await {
            Err(Error::NotFound) => return Ok(Err("message_gone")),
            Err(Error::Damaged(_)) => return Ok(Err("message_damaged")),
            raw => raw?,
        };
        let inbox = forward.message.inbox.to_string();
        let history = self.messages.run_parser(raw.clone(), ForwardHistory::of).await?;
        let hops = match history.check(forward.automatic, |mark| self.is_our_mark(mark)) {
            Err(Refused(why)) => return Ok(Err(why)),
            Ok(hops) => hops,
        };
        let id = forward.id.to_string();
        let headers = ForwardHeaders {
            from: format_mailbox(&outbound.from),
            to: forward.to.clone(),
            date: format_date(self.clock.now()),
            message_id: format!("<{id}@{}>", crate::mail::id_domain(&outbound.from)),
            boundary: format!("=_{id}"),
            mark: format!("{inbox}; hops={hops}; by={}", self.sign_mark(&inbox)),
        };
        let (shared, of) = (raw.clone(), headers.clone());
        let rewritten = self
            .messages
            .run_parser(raw.clone(), move |_| rewrite::rewrite_for_forward(&shared, &of));
        let Rewritten { content, utf8_header, is_whole } = rewritten.await?;
        let whole = is_whole.then_some((raw, headers));
        let from = self.mail.envelope_sender(outbound, &id);
        Ok(Ok((OutgoingMail { from, to: forward.to.clone(), content, utf8_header }, whole)))
    }

    /// Whether this installation wrote a mark: only it can sign the inbox's id.
    fn is_our_mark(&self, mark: &super::history::ForwardMark) -> bool {
        mark.by == self.sign_mark(&mark.inbox)
    }

    fn sign_mark(&self, inbox: &str) -> String {
        self.secrets.sign(&format!("forwarded:{inbox}"))[..16].to_owned()
    }
}

type PreparedForward = (OutgoingMail, Option<(Bytes, ForwardHeaders)>);

/// The job for the attempt that a forward's row says is next; none when it has ended.
pub(super) fn next_job(forward: &Forward) -> Result<Option<Job>, PortError> {
    let Some(due) = forward.next_attempt_at else { return Ok(None) };
    let (message, id) = (forward.message, forward.id);
    let work = ForwardWork { message, forward: id, attempt: forward.attempts + 1 };
    jobs::job(Lane::Forward, id.to_string(), 1, work, due).map(Some)
}
