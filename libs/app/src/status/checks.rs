//! The probes that need no wire, and what the one over SMTP needs to know.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::Mutex;
use trapline_model::{Component, MessageId, Principal, TeamId, Time};
use trapline_store::{Lane, LaneStats, records, records::Message};

use super::{Probe, Status, round_trip::ALONE_INTERVAL};
use crate::{Error, NewInbox, Result, jobs::lane_stats, message_scans::message_keys, metrics};

/// Mails that the service's own inbox keeps.
const KEPT_MAILS: u32 = 3;
/// How late the oldest job may be.
const MAX_LATENESS: Duration = Duration::from_mins(5);

/// The inbox that belongs to the service, and when a mail last came back from it.
#[derive(Default)]
pub(super) struct Mailbox {
    inbox: Mutex<Option<records::Inbox>>,
    returned_at: Mutex<Option<Time>>,
}

/// What a probe over SMTP does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeMail {
    /// The recipient, an address of the service's own inbox.
    pub recipient: String,
    /// What the mail is to contain; without it the session ends once the recipient was accepted.
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
        // Between two mails of a process that is alone the session ends before DATA.
        let is_due = !self.is_alone || returned_at.is_none_or(|at| now.since(at) >= ALONE_INTERVAL);
        let token = is_due.then(|| self.ids.next().to_string());
        Ok(ProbeMail { recipient: self.inboxes.address(&inbox), token })
    }

    /// Reads a mail of [`Status::probe_mail`] that was accepted under this id.
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

    /// The inbox of the service itself: that of a team which there is not, so nobody sees it.
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
            let new = NewInbox { max_messages: Some(KEPT_MAILS), ..NewInbox::named("Probes") };
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

    /// How these lanes stand.
    async fn lanes(&self, lanes: &[Lane]) -> Result<Vec<(Lane, LaneStats)>, String> {
        lane_stats(&*self.queue, lanes).await.map_err(|error| error.to_string())
    }

    /// Whether the jobs of these lanes are taken when they are due.
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

/// Whether rows and the bytes of messages are to be had, and there is room for more.
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

/// Whether a job goes through the queue, and none is late.
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

/// Whether a worker that gets a job for it calls a receiver of its own, and no call is late.
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
