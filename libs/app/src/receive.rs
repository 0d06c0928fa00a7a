//! The receiving path: a mail joins the open group, and is answered when its group is durable.
//!
//! There is no timer: a group is what arrived while the last one was being written. One task forms
//! the groups, so ids and times have the same order; visibility has it too where one group at a time
//! is written.

mod announcer;
mod arrivals;
mod committer;
mod cut;
mod draft;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use trapline_model::{Envelope, MessageId};

use crate::{App, Error, Mailbox, Result, Supervisor, metrics};
pub(crate) use announcer::{Announcer, tell};
pub(crate) use arrivals::{Arrival, Interested};
pub(crate) use committer::{Committer, MAX_ANNOUNCED};
use draft::Draft;

/// Mails that may wait for the open group; each is also bounded in bytes by the SMTP edge.
const WAITING: usize = 1024;
/// Above this a summary is made beside the reactor, not on it: the search for codes reads all texts.
const INLINE_SUMMARY: usize = 64 * 1024;

/// A mail as the edge took it.
#[derive(Debug)]
pub struct Incoming {
    /// Where it goes; each inbox once.
    pub mailboxes: Vec<Mailbox>,
    /// What the session said.
    pub envelope: Envelope,
    /// The bytes as sent.
    pub raw: Bytes,
}

type Done = oneshot::Sender<Result<Vec<MessageId>>>;
type Waiting = (Draft, Done);

/// The entrance to the open group.
pub(crate) struct Receiver(mpsc::Sender<Waiting>);

impl Receiver {
    pub(crate) fn start(committer: Committer, tasks: &Supervisor) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        tasks.spawn("committer", committer.run(receiver));
        Self(sender)
    }
}

impl App {
    /// Stores a mail in each of its inboxes and returns the messages' ids. When it returns, they are
    /// durable and visible; on an error nothing is.
    pub async fn receive(&self, mail: Incoming) -> Result<Vec<MessageId>> {
        let draft = if mail.raw.len() > INLINE_SUMMARY {
            self.cpu.run(move || Draft::of(mail)).await?
        } else {
            Draft::of(mail)
        };
        let bytes = draft.raw.len();
        let (done, committed) = oneshot::channel();
        self.receiver.0.send((draft, done)).await.map_err(|_| Error::Unavailable)?;
        let ids = committed.await.map_err(|_| Error::Unavailable)?;
        if matches!(ids, Err(Error::StorageFull)) {
            self.room.note_full();
        }
        let ids = ids?;
        metrics::messages_stored(ids.len(), bytes);
        Ok(ids)
    }
}
