//! Forms groups, makes them durable, and answers.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use trapline_model::{InboxId, MessageId, Time};
use trapline_store::{
    BlobRef, Clock, Group, LiveEvent, Op, Ports, Record, When,
    records::{Chore, Message, Task},
    segment::{self, Builder, Class},
};
use uuid::Uuid;

use super::{Draft, Waiting};
use crate::{
    Result, counts::version_key, ids::Ids, inboxes::remaining, janitor, metrics,
    retention::Retention,
};

/// Bounds of one group.
const MAX_MAILS: usize = 512;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The one task that gives messages their ids.
pub(super) struct Committer {
    ports: Ports,
    clock: Clock,
    ids: Arc<Ids>,
    retention: Arc<Retention>,
}

/// A mail's place in a group.
struct Placed {
    ids: Vec<MessageId>,
    /// The inboxes, and how many messages each keeps.
    bounds: Vec<(InboxId, u32)>,
    event: LiveEvent,
}

type Done = oneshot::Sender<Result<Vec<MessageId>, ()>>;

/// A group that is being formed.
struct Forming {
    name: String,
    segment: Builder,
    rows: Vec<Op>,
    mails: Vec<(Placed, Done)>,
}

impl Committer {
    pub(super) fn new(
        ports: Ports,
        clock: Clock,
        ids: Arc<Ids>,
        retention: Arc<Retention>,
    ) -> Self {
        Self { ports, clock, ids, retention }
    }

    /// Runs until the application is gone.
    pub(super) async fn run(self, mut mails: mpsc::Receiver<Waiting>) {
        let mut company = false;
        while let Some(first) = mails.recv().await {
            let batch = gather(first, &mut mails, company).await;
            company = batch.len() > 1;
            self.commit(batch).await;
        }
    }

    /// One segment per retention class, written at the same time.
    async fn commit(&self, batch: Vec<Waiting>) {
        let now = self.clock.now();
        let mut classes: Vec<(Class, Vec<Waiting>)> = Vec::new();
        for waiting in batch {
            let class = Class::for_life(remaining(waiting.0.expires_at(), now));
            match classes.iter_mut().find(|(other, _)| *other == class) {
                Some((_, mails)) => mails.push(waiting),
                None => classes.push((class, vec![waiting])),
            }
        }
        join_all(classes.into_iter().map(|(class, mails)| self.commit_class(class, mails, now)))
            .await;
    }

    async fn commit_class(&self, class: Class, mails: Vec<Waiting>, now: Time) {
        let mut group = Forming {
            name: segment::name(class, self.ids.next()),
            segment: Builder::new(),
            rows: Vec::with_capacity(mails.len() + 1),
            mails: Vec::with_capacity(mails.len()),
        };
        for (draft, done) in mails {
            match self.place(draft, &mut group, now) {
                Ok(placed) => group.mails.push((placed, done)),
                Err(error) => {
                    tracing::error!(%error, "a message's row was not made");
                    answer(done, Err(()));
                }
            }
        }
        self.write(class, group, now).await;
    }

    async fn write(&self, class: Class, group: Forming, now: Time) {
        let Forming { name, segment, mut rows, mails } = group;
        let (started, bytes) = (Instant::now(), segment.len());
        let outcome = match janitor_row(&name, class, now) {
            Ok(chore) => {
                rows.push(chore);
                let bytes = segment.finish();
                self.ports.intake.commit(Group { segment: name, bytes, rows, job: None }).await
            }
            Err(error) => Err(error),
        };
        metrics::group_committed(started.elapsed(), mails.len(), bytes, outcome.is_ok());
        if let Err(error) = outcome {
            tracing::error!(%error, mails = mails.len(), "a group was not stored");
            for (_, done) in mails {
                answer(done, Err(()));
            }
            return;
        }
        join_all(mails.into_iter().map(|(placed, done)| self.announce(placed, done))).await;
    }

    fn place(
        &self,
        draft: Draft,
        group: &mut Forming,
        now: Time,
    ) -> trapline_store::Result<Placed> {
        let Draft { targets, raw, search, parties, mut message } = draft;
        let ids: Vec<_> = targets
            .iter()
            .map(|target| MessageId { inbox: target.inbox, uuid: self.ids.next() })
            .collect();
        let (offset, len) = group.segment.add(&ids, &raw);
        message.blob = BlobRef { segment: group.name.clone(), offset, len };
        let doc = message.doc(&search)?;
        for (id, target) in ids.iter().zip(&targets) {
            let ttl = remaining(target.expires_at, now);
            let key = Message::row(*id);
            group.rows.push(Op::Put { key, doc: doc.clone(), ttl, when: When::Always });
        }
        let bounds = targets.iter().map(|target| (target.inbox, target.max_messages)).collect();
        let (from, to, subject) = (parties.from, parties.to, message.subject);
        let event = LiveEvent::MessageCreated { id: Uuid::nil(), from, to, subject };
        Ok(Placed { ids, bounds, event })
    }

    /// The session is answered first; who listens hears of it right after.
    async fn announce(&self, mail: Placed, done: Done) {
        for (inbox, max_messages) in mail.bounds {
            self.retention.received(inbox, max_messages);
        }
        for id in &mail.ids {
            if let Err(error) = self.ports.cache.bump(&version_key(id.inbox)).await {
                tracing::warn!(%error, "a version mark was not moved");
            }
        }
        answer(done, Ok(mail.ids.clone()));
        for id in mail.ids {
            let mut event = mail.event.clone();
            if let LiveEvent::MessageCreated { id: message, .. } = &mut event {
                *message = id.uuid;
            }
            if let Err(error) = self.ports.bus.publish(id.inbox, event).await {
                tracing::warn!(%error, "a live event was not sent");
            }
        }
    }
}

/// What waits already, and, when the last mail came in company, what the sessions that are about to
/// run bring: as long as a turn of the reactor brings more, the group stays open. There is no timer.
async fn gather(
    first: Waiting,
    mails: &mut mpsc::Receiver<Waiting>,
    company: bool,
) -> Vec<Waiting> {
    let mut bytes = first.0.raw.len();
    let mut batch = vec![first];
    let mut seen = 0;
    loop {
        while batch.len() < MAX_MAILS
            && bytes < MAX_BYTES
            && let Ok(next) = mails.try_recv()
        {
            bytes += next.0.raw.len();
            batch.push(next);
        }
        let full = batch.len() >= MAX_MAILS || bytes >= MAX_BYTES;
        if full || !company || batch.len() == seen {
            return batch;
        }
        seen = batch.len();
        tokio::task::yield_now().await;
    }
}

/// A session that is gone needs no answer; what it sent is stored all the same.
fn answer(done: oneshot::Sender<Result<Vec<MessageId>, ()>>, outcome: Result<Vec<MessageId>, ()>) {
    drop(done.send(outcome));
}

fn janitor_row(segment: &str, class: Class, now: Time) -> trapline_store::Result<Op> {
    let chore = Chore {
        due: now.after(janitor::first_visit(class)),
        subject: segment.to_owned(),
        task: Task::CheckSegment { visits: 0, aliases: Vec::new() },
    };
    Ok(Op::Put { key: chore.key(), doc: chore.doc()?, ttl: None, when: When::Always })
}
