//! Outbound mail: what the service itself has to say, and what every message on its way out has in
//! common.
//!
//! A mail is a row and a job, as a webhook's delivery is. The row keeps the message sealed until it is
//! sent; the worker gives it to the relay.

mod address;
mod compose;
mod health;
mod notification;
mod relay;
mod send;

use std::{sync::Arc, time::Duration};

use trapline_model::Address;
use trapline_store::{Clock, Queue, Store};

use crate::{
    Error, Jobs, Outbound, Result, Settings, ids::Ids, in_flight::InFlight, parts::Parts,
    secrets::Secrets,
};

pub(crate) use address::{EmailAddress, domain_of};
pub(crate) use compose::{
    EmailTemplate, base64_lines, encode_header_text, format_date, format_mailbox, shown_name,
};
pub use health::MailHealth;
pub(crate) use notification::{Action, Notification};
pub use relay::{OutgoingMail, Relay, RelayError, RelayStage};
pub use send::MailAttempt;

/// Mail that the service itself sends. It uses no other service.
pub struct OutboundMail {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    clock: Clock,
    ids: Arc<Ids>,
    secrets: Arc<Secrets>,
    settings: Arc<Settings>,
    jobs: Jobs,
    /// Mails that a job of this process works on.
    in_flight: Arc<InFlight>,
}

impl OutboundMail {
    pub(crate) fn new(parts: &Parts) -> Self {
        Self {
            store: parts.ports.store.clone(),
            queue: parts.ports.queue.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            secrets: parts.secrets.clone(),
            settings: parts.settings.clone(),
            jobs: parts.jobs.clone(),
            in_flight: Arc::default(),
        }
    }

    /// Whether there is a relay, so that mail can be sent.
    pub(crate) fn is_enabled(&self) -> bool {
        self.settings.outbound.is_some()
    }

    /// Whom mail is from; [`Error::OutboundDisabled`] without a relay.
    pub(crate) fn identity(&self) -> Result<&Outbound> {
        self.settings.outbound.as_ref().ok_or(Error::OutboundDisabled)
    }

    /// Whether an address is one of ours: what is sent there comes back.
    pub(crate) fn is_our_domain(&self, address: &str) -> bool {
        let (domain, ours) = (domain_of(address), self.settings.mail_domain.as_str());
        let above = domain.len().checked_sub(ours.len());
        above.is_some_and(|above| {
            domain.is_char_boundary(above)
                && domain[above..].eq_ignore_ascii_case(ours)
                && (above == 0 || domain.as_bytes()[above - 1] == b'.')
        })
    }

    /// The envelope's sender of what goes out under this id: an address that says, to us only, which
    /// message bounced.
    pub(crate) fn envelope_sender(&self, outbound: &Outbound, id: &str) -> String {
        let made = || {
            let proof = self.secrets.sign(&format!("bounce:{id}"));
            format!("bounce+{id}.{}@{}", &proof[..8], self.settings.mail_domain)
        };
        outbound.bounces.clone().unwrap_or_else(made)
    }
}

/// The domain under which ids of messages are made.
pub(crate) fn id_domain(from: &Address) -> &str {
    domain_of(&from.address)
}

/// The delay after the attempt with this number, from 1; `None` after the last.
pub(crate) fn backoff_after(schedule: &[Duration], attempt: u32) -> Option<Duration> {
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    schedule.get(index).copied()
}
