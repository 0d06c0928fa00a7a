//! The receiving path: a mail joins the open group, and is answered when its group is durable.
//!
//! There is no timer: a group is what arrived while the last one was being written. One task forms
//! the groups, so ids and times have the same order; visibility has it too where one group at a time
//! is written. It uses access, inboxes, messages and usage; who is told of arrivals subscribes.

mod announcer;
mod arrivals;
mod catch_all;
mod committer;

mod draft;
mod quota;
mod sample;
mod truncate;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use trapline_model::{Envelope, MessageId};
use trapline_store::{Clock, Store};

use crate::{
    CpuPool, DeliveryTarget, Error, LoginRefused, Result, Settings, Supervisor,
    access::AccessControl,
    ids::Ids,
    inboxes::{Inboxes, Retention},
    limits::Limits,
    messages::Messages,
    metrics,
    parts::Parts,
    plans::Plans,
    storage_room::StorageRoom,
    usage::TeamUsage,
};
use arrivals::ArrivalSubscribers;
pub(crate) use arrivals::{Arrival, ArrivalSubscriber};
use catch_all::CatchAll;
use committer::Committer;
use draft::Draft;

/// Mails that may wait for the open group; each is also bounded in bytes by the SMTP edge.
const QUEUE_CAPACITY: usize = 1024;
/// Above this a summary is made beside the reactor, not on it: the search for codes reads all texts.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// A mail as the edge took it.
#[derive(Debug)]
pub struct Incoming {
    /// Where it goes; each inbox once.
    pub targets: Vec<DeliveryTarget>,
    /// The envelope, as the SMTP session gave it.
    pub envelope: Envelope,
    /// The message's bytes, as they were sent.
    pub raw: Bytes,
}

/// Where the outcome of a mail goes: the ids of its messages, in the order of its targets.
type MailReply = oneshot::Sender<Result<Vec<MessageId>>>;

/// A mail that waits for the open group.
struct QueuedMail {
    draft: Draft,
    reply: MailReply,
}

/// The services that the receiving path uses.
pub(crate) struct ReceiveUses {
    pub(crate) access: Arc<AccessControl>,
    pub(crate) inboxes: Arc<Inboxes>,
    pub(crate) messages: Arc<Messages>,
    pub(crate) usage: Arc<TeamUsage>,
    pub(crate) retention: Arc<Retention>,
    /// Asked before a group is committed, so each must answer from memory almost always.
    pub(crate) subscribers: Vec<Arc<dyn ArrivalSubscriber>>,
}

/// Takes mail and stores it in groups.
pub struct MailReceiver {
    store: Arc<dyn Store>,
    clock: Clock,
    ids: Arc<Ids>,
    settings: Arc<Settings>,
    limits: Limits,
    room: Arc<StorageRoom>,
    cpu: Arc<CpuPool>,
    access: Arc<AccessControl>,
    inboxes: Arc<Inboxes>,
    messages: Arc<Messages>,
    plans: Arc<Plans>,
    usage: Arc<TeamUsage>,
    /// The entrance to the open group.
    queue: mpsc::Sender<QueuedMail>,
    catch_all: CatchAll,
}

impl MailReceiver {
    /// Also starts the task that forms the groups; it ends once this is dropped.
    pub(crate) fn start(parts: &Parts, uses: ReceiveUses, tasks: &Supervisor) -> Self {
        let ReceiveUses { access, inboxes, messages, usage, retention, subscribers } = uses;
        let (queue, mails) = mpsc::channel(QUEUE_CAPACITY);
        let committer =
            Committer::new(parts, usage.clone(), retention, ArrivalSubscribers(subscribers));
        tasks.spawn("committer", committer.run(mails));
        Self {
            store: parts.ports.store.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            settings: parts.settings.clone(),
            limits: parts.limits.clone(),
            room: parts.room.clone(),
            cpu: parts.cpu.clone(),
            access,
            inboxes,
            messages,
            plans: parts.plans.clone(),
            usage,
            queue,
            catch_all: CatchAll::new(),
        }
    }

    /// The inbox that mail to this address lands in without credentials.
    ///
    /// # Errors
    ///
    /// When the store does not answer, and [`Error::Unavailable`] before the first start of an
    /// installation, which makes the inbox for unknown addresses.
    pub async fn route(&self, recipient: &str) -> Result<Result<DeliveryTarget, LoginRefused>> {
        if let Some(found) = self.access.target_of_address(recipient).await? {
            return Ok(found);
        }
        if !self.settings.catch_all {
            return Ok(Err(LoginRefused::Unknown));
        }
        self.catch_all().await.map(Ok)
    }

    /// Stores a mail in each of its inboxes and returns the messages' ids. When it returns, they are
    /// durable and visible.
    ///
    /// # Errors
    ///
    /// [`Error::QuotaExceeded`] when a team's plan does not allow it, [`Error::StorageFull`] when there
    /// is no room, and [`Error::Unavailable`] when a backend does
    /// not answer; then nothing is stored.
    pub async fn deliver(&self, mail: Incoming) -> Result<Vec<MessageId>> {
        let kept_until = self.check_plans(&mail).await?;
        let draft = if mail.raw.len() > MAX_INLINE_BYTES {
            self.cpu.run(move || Draft::of(mail, &kept_until)).await?
        } else {
            Draft::of(mail, &kept_until)
        };
        let bytes = draft.raw.len();
        let (reply, committed) = oneshot::channel();
        let queued = self.queue.send(QueuedMail { draft, reply }).await;
        queued.map_err(|_| Error::Unavailable)?;
        let ids = committed.await.map_err(|_| Error::Unavailable)?;
        if matches!(ids, Err(Error::StorageFull)) {
            self.room.note_full();
        }
        let ids = ids?;
        metrics::messages_stored(ids.len(), bytes);
        Ok(ids)
    }
}
