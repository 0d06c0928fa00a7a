//! The probes that need no connection, and the mail that the one over SMTP sends.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::Mutex;
use trapline_model::{Component, MessageId, Principal, TeamId, Time};
use trapline_store::{Lane, LaneStats, records, records::Message};

use super::{Probe, Status, round_trip::ALONE_INTERVAL};
use crate::{Error, NewInbox, Result, jobs::lane_stats, message_scans::message_keys, metrics};

/// Messages that the service's own inbox keeps.
const MAX_MESSAGES: u32 = 3;
/// How long the oldest job may be overdue.
const MAX_LATENESS: Duration = Duration::from_mins(5);

/// The inbox that belongs to the service, and when a mail last came back from it.
#[derive(Default)]
pub(super) struct Mailbox {
    inbox: Mutex<Option<records::Inbox>>,
    returned_at: Mutex<Option<Time>>,
}

/// The mail of a probe over SMTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeMail {
    /// The recipient, an address of the service's own inbox.
    pub recipient: String,
    /// A text that the mail has to contain; with `None` no mail is sent, and the session ends once the
    /// recipient was accepted.
    pub token: Option<String>,
}

impl Status {
    /// The mail to send to the service's own listener.
    ///
    /// # Errors
    ///
    /// When the store does not answer.
    pub async fn probe_mail(&self) -> Result<ProbeMail> {
        let inbox = self.own_inbox().await?;
        let (returned_at, now) = (*self.mailbox.returned_at.lock().await, self.clock.now());
        // A single process, whose disk each mail writes to, mostly ends the session before DATA.
        let is_due = !self.is_alone || returned_at.is_none_or(|at| now.since(at) >= ALONE_INTERVAL);
        let token = is_due.then(|| self.ids.next().to_string());
        Ok(ProbeMail { recipient: self.inboxes.address(&inbox), token })
    }

    /// Checks that a mail of [`Status::probe_mail`], accepted under this id, can be read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when it is not there, and [`Error::Damaged`] when it is not what was sent.
    pub async fn mail_returned(&self, id: MessageId, token: &str) -> Result<()> {
        let raw = self.messages.raw(&service(), id).await?;
        if memchr::memmem::find(&raw, token.as_bytes()).is_none() {
            return Err(Error::Damaged(id.to_string()));
        }
        *self.mailbox.returned_at.lock().await = Some(self.clock.now());
        Ok(())
    }

    /// The inbox of the service itself, made if there is none. Nobody is in its team, so nobody sees it.
    async fn own_inbox(&self) -> Result<records::Inbox> {
        let mut known = self.mailbox.inbox.lock().await;
        if let Some(inbox) = &*known {
            match self.inboxes.record(TeamId::SERVICE, inbox.id).await {
                Err(Error::NotFound) => {}
                found => return found,
            }
        }
        let inbox = if let Some(inbox) = self.inboxes.some_of(TeamId::SERVICE).await? {
            inbox
        } else {
            let new = NewInbox { max_messages: Some(MAX_MESSAGES), ..NewInbox::named("Probes") };
            let made = self.inboxes.create(&service(), new).await?;
            self.inboxes.record(TeamId::SERVICE, made.id).await?
        };
        Ok(known.insert(inbox).clone())
    }

    /// The newest mail that a probe left.
    async fn newest_mail(&self) -> Result<Option<MessageId>> {
        let known = self.mailbox.inbox.lock().await.as_ref().map(|inbox| inbox.id);
        let inbox = match known {
            Some(inbox) => inbox,
            None => match self.inboxes.some_of(TeamId::SERVICE).await? {
                Some(inbox) => inbox.id,
                None => return Ok(None),
            },
        };
        let rows = self.store.scan(message_keys(inbox, 1)).await?;
        Ok(rows.first().map(|row| MessageId { inbox, uuid: Message::id(row) }))
    }

    async fn storage_works(&self) -> Result<()> {
        self.store.ping().await?;
        self.room.check().await?;
        if let Some(newest) = self.newest_mail().await? {
            self.messages.raw(&service(), newest).await?;
        }
        Ok(())
    }

    /// The statistics of these lanes.
    async fn lanes(&self, lanes: &[Lane]) -> Result<Vec<(Lane, LaneStats)>, String> {
        lane_stats(&*self.queue, lanes).await.map_err(|error| error.to_string())
    }

    /// Checks that the jobs of these lanes are taken when they are due.
    fn is_on_time(&self, lanes: &[(Lane, LaneStats)]) -> Result<(), String> {
        let overdue: u64 = lanes.iter().map(|(_, stats)| stats.overdue).sum();
        let late = lanes.iter().filter_map(|(_, stats)| stats.oldest_overdue).max();
        let late = late.unwrap_or_default();
        if overdue >= self.max_overdue_jobs.max(1) || late > MAX_LATENESS {
            return Err(format!("{overdue} jobs are overdue, one by {} s", late.as_secs()));
        }
        Ok(())
    }
}

fn service() -> Principal {
    Principal::system(TeamId::SERVICE)
}

/// Checks that rows and bytes of messages can be read, and that the disk has room for more.
pub struct StorageProbe(pub Arc<Status>);

#[async_trait]
impl Probe for StorageProbe {
    fn component(&self) -> Component {
        Component::Storage
    }

    async fn take(&self) -> Result<(), String> {
        self.0.storage_works().await.map_err(|error| error.to_string())
    }
}

/// Checks that a job goes through the queue, and that none is late.
pub struct QueueProbe(pub Arc<Status>);

#[async_trait]
impl Probe for QueueProbe {
    fn component(&self) -> Component {
        Component::Queue
    }

    async fn take(&self) -> Result<(), String> {
        let lanes = self.0.lanes(&Lane::ALL).await?;
        for (lane, stats) in &lanes {
            metrics::lane(*lane, stats);
        }
        self.0.is_on_time(&lanes)?;
        self.0.probe_round_trip(Lane::Housekeeping, &self.0.queue_trip).await
    }
}

/// Checks that a worker, which gets a job for it, calls a receiver of its own, and that no call is late.
pub struct WebhookProbe(pub Arc<Status>);

#[async_trait]
impl Probe for WebhookProbe {
    fn component(&self) -> Component {
        Component::Webhooks
    }

    async fn take(&self) -> Result<(), String> {
        let lanes = self.0.lanes(&[Lane::Webhook, Lane::WebhookSlow]).await?;
        self.0.is_on_time(&lanes)?;
        self.0.probe_round_trip(Lane::Webhook, &self.0.webhook_trip).await
    }
}
