//! Creates forwards for a rule or a request. Following a rule twice creates each forward once.

use std::time::Duration;

use futures_util::future::try_join_all;
use trapline_model::{
    Forward, ForwardId, ForwardMatch, ForwardStatus, MessageId, Principal, TeamId,
};
use trapline_store::{
    PortError, Rate, RateDecision, load_all,
    records::{self, ForwardRule, Message},
};

use super::{Forwarding, attempt::next_job, record::put};
use crate::{
    AuditAction, Filter, Result,
    audit::{Target, TargetKind},
    filter::Matcher,
    ids,
    mail::EmailAddress,
    receive::Arrival,
};

/// Messages whose forwards are started together.
const MESSAGES_PER_BATCH: usize = 64;
/// Messages of one inbox that are forwarded without anybody asking.
const AUTOMATIC_RATE: Rate = Rate { burst: 20, per: Duration::from_mins(1) };
/// Messages that a team forwards by hand to one person, under whatever tags.
const BY_HAND_RATES: [Rate; 2] = [
    Rate { burst: 30, per: Duration::from_mins(10) },
    Rate { burst: 200, per: Duration::from_hours(24) },
];

impl Forwarding {
    /// Forwards a message to confirmed addresses, now.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NotFound`] when the team has no such message, [`crate::Error::OutboundDisabled`] without a
    /// relay, [`crate::Error::Invalid`] for recipients that are not confirmed, [`crate::Error::TooMany`] for too many
    /// messages to one person, and when a backend does not answer.
    pub async fn forward(
        &self,
        by: &Principal,
        message: MessageId,
        to: &[String],
    ) -> Result<Vec<Forward>> {
        let team = by.team;
        let record = self.messages.record(team, message).await?;
        self.mail.identity()?;
        let to = self.verified(team, to).await?;
        for email in &to {
            let key = format!("{team}:{}", EmailAddress::parse("to", email)?.owner());
            self.limits.take_all("forward:by-hand", &key, &BY_HAND_RATES).await?;
        }
        let forwards: Vec<_> = to
            .into_iter()
            .map(|to| new_forward(ForwardId(self.ids.next()), team, message, to, false))
            .collect();
        let target = Target::new(TargetKind::Message, &message, &record.subject);
        self.audit.begin(by, AuditAction::MessageForwarded, target).await?;
        self.start_forwards(&forwards, &forwards).await?;
        Ok(forwards.iter().map(present).collect())
    }

    /// Forwards what arrived in inboxes with a rule that wants it. Returns what is left to a process
    /// that has a relay.
    pub(crate) async fn start_forwards_of(&self, arrivals: &[Arrival]) -> Result<Vec<Arrival>> {
        let mut left = Vec::new();
        for arrival in arrivals {
            let rules = self.cache.of(arrival.team).await?;
            let Some(rule) = rules.iter().find(|rule| rule.wants(arrival.inbox)) else { continue };
            if self.settings.outbound.is_none() {
                // One process knows that there is no other.
                if !self.is_alone {
                    left.push(arrival.clone());
                }
                continue;
            }
            let matcher = matcher(rule.matching.as_ref());
            for some in arrival.messages.chunks(MESSAGES_PER_BATCH) {
                let ids = some.iter().map(|uuid| MessageId { inbox: arrival.inbox, uuid: *uuid });
                let found = ids.map(|id| self.automatic_forwards(rule, &matcher, id));
                let found = try_join_all(found).await?.into_iter().flatten().collect::<Vec<_>>();
                let new = found.iter().filter(|(_, stored)| !stored);
                let new: Vec<_> = new.map(|(forward, _)| forward.clone()).collect();
                let all: Vec<_> = found.into_iter().map(|(forward, _)| forward).collect();
                self.start_forwards(&new, &all).await?;
            }
        }
        Ok(left)
    }

    /// Stores the new forwards, and a job for each that has not been tried.
    async fn start_forwards(
        &self,
        new: &[records::Forward],
        all: &[records::Forward],
    ) -> Result<()> {
        let rows = new.iter().map(put).collect::<Result<_, PortError>>()?;
        let jobs = all.iter().map(next_job).collect::<Result<Vec<_>, PortError>>()?;
        let jobs: Vec<_> = jobs.into_iter().flatten().collect();
        Ok(self.jobs.schedule_with(rows, &jobs).await?)
    }

    /// The forwards that a rule asks of a message and that have not been tried, and whether each is
    /// stored already.
    async fn automatic_forwards(
        &self,
        rule: &ForwardRule,
        matcher: &Matcher,
        id: MessageId,
    ) -> Result<Vec<(records::Forward, bool)>> {
        let row = self.store.get(&Message::row(id)).await?;
        let Some(message) = row.and_then(|row| self.rows.decode_message(&row)) else {
            return Ok(Vec::new());
        };
        // Bounces have no sender, so that nothing answers them; to forward them would.
        if message.envelope.from.is_empty()
            || !self.messages.matches_heading(&message, matcher).await?
        {
            return Ok(Vec::new());
        }
        let mut found = Vec::with_capacity(rule.to.len());
        for to in &rule.to {
            let forward = ForwardId(ids::of_mail(id, to.as_bytes()));
            let row = records::Forward::row(id, forward);
            let row = self.store.get(&row).await?;
            match row.map(|row| self.rows.decode::<records::Forward>(&row)) {
                Some(Some(known)) if known.status == ForwardStatus::Pending => {
                    found.push((known, true));
                }
                // Tried, or not to be read.
                Some(_) => {}
                None => found.push((new_forward(forward, rule.team, id, to.clone(), true), false)),
            }
        }
        if found.iter().any(|(_, stored)| !stored) && !self.take_automatic_allowance(id).await? {
            tracing::warn!(inbox = %id.inbox, "an inbox forwards too much; a message is left out");
            found.retain(|(_, stored)| *stored);
        }
        Ok(found)
    }

    async fn take_automatic_allowance(&self, id: MessageId) -> Result<bool> {
        let key = format!("forward:{}", id.inbox);
        let decision = self.limits.take(&key, AUTOMATIC_RATE).await?;
        Ok(matches!(decision, RateDecision::Allowed { .. }))
    }

    /// How the forwards of a message stand, newest first.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NotFound`] when the team has no such message, and when the store does not answer.
    pub async fn forwards(&self, by: &Principal, message: MessageId) -> Result<Vec<Forward>> {
        let team = by.team;
        self.messages.record(team, message).await?;
        let scan = records::Forward::of_message(message, 1_000);
        let forwards = load_all::<records::Forward>(&*self.store, scan).await?;
        Ok(forwards.iter().map(present).collect())
    }
}

fn matcher(matching: Option<&ForwardMatch>) -> Matcher {
    let ForwardMatch { from, to, subject } = matching.cloned().unwrap_or_default();
    Matcher::new(&Filter { to, from, subject, ..Filter::default() })
}

fn new_forward(
    id: ForwardId,
    team: TeamId,
    message: MessageId,
    to: String,
    automatic: bool,
) -> records::Forward {
    let asked_at = trapline_model::Time::of_uuid(id.0);
    records::Forward {
        id,
        team,
        message,
        to,
        automatic,
        status: ForwardStatus::Pending,
        error: None,
        attempts: 0,
        next_attempt_at: Some(asked_at),
        completed_at: None,
    }
}

fn present(row: &records::Forward) -> Forward {
    Forward {
        id: row.id,
        message_id: row.message,
        to: row.to.clone(),
        status: row.status,
        error: row.error.clone(),
    }
}
