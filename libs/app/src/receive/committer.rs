//! Forms groups, makes them durable, and answers.

use std::{collections::HashSet, sync::Arc};

use futures_util::{StreamExt as _, future::join_all, stream::FuturesUnordered};
use tokio::{sync::mpsc, time::Instant};
use trapline_model::{InboxId, MessageId, TeamId, Time};
use trapline_store::{
    Clock, Group, Job, Lane, LiveEvent, Op, PortError, Ports, When,
    records::{MaintenanceTask, Message, Task},
    segment::{self, Builder, Class},
};
use uuid::Uuid;

use super::{Done, Draft, Interested, Waiting, announcer::Announcer};
use crate::{
    Error, Result, ids::Ids, inboxes::remaining, janitor, jobs, metrics, retention::Retention,
    versions::Versions,
};

/// Bounds of one group.
const MAX_MAILS: usize = 512;
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of JSON of a row that its announcement may carry.
pub(crate) const MAX_ANNOUNCED: usize = 4 * 1024;
/// Messages, of which a mail to several inboxes makes several: a job must be able to name them all.
const MAX_MESSAGES: usize = 2_000;

/// The one task that gives messages their ids.
pub(crate) struct Committer {
    pub(crate) ports: Ports,
    pub(crate) clock: Clock,
    pub(crate) ids: Arc<Ids>,
    pub(crate) retention: Arc<Retention>,
    pub(crate) versions: Arc<Versions>,
    pub(crate) interested: Interested,
    pub(crate) announcer: Announcer,
    /// Groups that may be written at the same time; at least 1.
    pub(crate) in_flight: usize,
}

/// A mail's place in a group.
struct Placed {
    ids: Vec<MessageId>,
    /// The inboxes, and how many messages each keeps.
    bounds: Vec<(InboxId, u32)>,
    event: LiveEvent,
}

/// A group that is being formed.
struct Forming {
    name: String,
    segment: Builder,
    rows: Vec<Op>,
    mails: Vec<(Placed, Done)>,
    arrived: Vec<(TeamId, MessageId)>,
}

impl Committer {
    /// Runs until the application is gone.
    pub(super) async fn run(self, mut mails: mpsc::Receiver<Waiting>) {
        let mut company = false;
        let mut flights = FuturesUnordered::new();
        let mut announcements = FuturesUnordered::new();
        loop {
            let first = tokio::select! {
                biased;
                Some(()) = announcements.next() => continue,
                Some(stored) = flights.next() => {
                    // No other mail waits for what listeners are told of this one.
                    announcements.push(self.announcer.announce(stored));
                    continue;
                }
                first = mails.recv(), if flights.len() < self.in_flight => first,
            };
            let Some(first) = first else { break };
            let batch = gather(first, &mut mails, company).await;
            company = batch.len() > 1;
            flights.push(self.commit(batch));
        }
        while let Some(stored) = flights.next().await {
            announcements.push(self.announcer.announce(stored));
        }
        while announcements.next().await.is_some() {}
    }

    /// One segment per retention class, written at the same time. Returns who is to hear of what.
    async fn commit(&self, batch: Vec<Waiting>) -> Vec<(InboxId, LiveEvent)> {
        let now = self.clock.now();
        let mut classes: Vec<(Class, Vec<Waiting>)> = Vec::new();
        for waiting in batch {
            let class = Class::for_life(remaining(waiting.0.expires_at(), now));
            match classes.iter_mut().find(|(other, _)| *other == class) {
                Some((_, mails)) => mails.push(waiting),
                None => classes.push((class, vec![waiting])),
            }
        }
        let stored = classes.into_iter().map(|(class, mails)| self.commit_class(class, mails, now));
        join_all(stored).await.into_iter().flatten().collect()
    }

    async fn commit_class(
        &self,
        class: Class,
        mails: Vec<Waiting>,
        now: Time,
    ) -> Vec<(InboxId, LiveEvent)> {
        let bytes = mails.iter().map(|(draft, _)| draft.raw.len()).sum();
        let messages = mails.iter().map(|(draft, _)| draft.targets.len()).sum();
        let mut group = Forming {
            name: segment::name(class, self.ids.next()),
            segment: Builder::with_capacity(bytes, messages),
            rows: Vec::with_capacity(mails.len()),
            mails: Vec::with_capacity(mails.len()),
            arrived: Vec::with_capacity(mails.len()),
        };
        for (draft, done) in mails {
            match self.place(draft, &mut group) {
                Ok(placed) => group.mails.push((placed, done)),
                Err(error) => {
                    tracing::error!(%error, "a message's row was not made");
                    answer(done, Err(Error::Unavailable));
                }
            }
        }
        self.write(class, group, now).await
    }

    async fn write(&self, class: Class, group: Forming, now: Time) -> Vec<(InboxId, LiveEvent)> {
        let Forming { name, segment, rows, mails, arrived } = group;
        let (started, bytes) = (Instant::now(), segment.len());
        let outcome = async {
            let before = vec![janitor_row(&name, class, now)?];
            let (job, rows) = self.announced(&name, &arrived, rows, now).await?;
            let bytes = segment.finish();
            let group = Group { segment: name, bytes, before, rows, job };
            self.ports.intake.commit(group).await
        };
        let outcome = outcome.await;
        metrics::group_committed(started.elapsed(), mails.len(), bytes, outcome.is_ok());
        if let Err(error) = outcome {
            let is_full = matches!(error, PortError::StorageFull);
            // A log on the same disk would take what room is left.
            if !is_full {
                tracing::error!(%error, mails = mails.len(), "a group was not stored");
            }
            for (_, done) in mails {
                answer(done, Err(if is_full { Error::StorageFull } else { Error::Unavailable }));
            }
            return Vec::new();
        }
        self.changed(&mails).await;
        mails.into_iter().flat_map(|(placed, done)| self.stored(placed, done)).collect()
    }

    /// The job that tells of the group, if anybody may want to know, and the rows with its own.
    async fn announced(
        &self,
        segment: &str,
        arrived: &[(TeamId, MessageId)],
        mut rows: Vec<Op>,
        now: Time,
    ) -> trapline_store::Result<(Option<Job>, Vec<Op>)> {
        let arrivals = self.interested.of(arrived).await;
        if arrivals.is_empty() {
            return Ok((None, rows));
        }
        let job = jobs::job(Lane::Received, segment.to_owned(), 1, arrivals, now)?;
        if !self.ports.queue.durable() {
            rows.push(jobs::outbox_put(&job)?);
        }
        Ok((Some(job), rows))
    }

    fn place(&self, draft: Draft, group: &mut Forming) -> trapline_store::Result<Placed> {
        let Draft { targets, raw, search, parties, mut message, envelope } = draft;
        let ids: Vec<_> = targets
            .iter()
            .map(|target| MessageId { inbox: target.inbox, uuid: self.ids.next() })
            .collect();
        message.blob = group.segment.add(&ids, &raw).within(&group.name);
        if let Some(envelope) = envelope {
            // Beside the message, under its ids, so that it lives and moves with it.
            let placed = group.segment.add(&ids, &envelope);
            message.whole_envelope = Some(placed.within(&group.name));
        }
        let doc = message.doc(&search)?;
        for (id, target) in ids.iter().zip(&targets) {
            group.arrived.push((target.team, *id));
            let key = Message::row(*id);
            group.rows.push(Op::Put { key, doc: doc.clone(), ttl: None, when: When::Always });
        }
        let bounds = targets.iter().map(|target| (target.inbox, target.max_messages)).collect();
        let (from, to, subject) = (parties.from, parties.to, message.subject.clone());
        let cut = message.cut;
        let is_short = doc.len() - search.len() <= MAX_ANNOUNCED;
        let record = is_short.then(|| Box::new(message));
        let event = LiveEvent::MessageCreated { id: Uuid::nil(), from, to, subject, cut, record };
        Ok(Placed { ids, bounds, event })
    }

    /// Counts are taken anew from here on, or soon.
    async fn changed(&self, mails: &[(Placed, Done)]) {
        let inboxes: HashSet<_> =
            mails.iter().flat_map(|(mail, _)| &mail.ids).map(|id| id.inbox).collect();
        self.versions.changed_soon(inboxes.into_iter()).await;
    }

    /// Answers the session. Returns what whoever listens is to hear.
    fn stored(
        &self,
        mail: Placed,
        done: Done,
    ) -> impl Iterator<Item = (InboxId, LiveEvent)> + use<> {
        for (inbox, max_messages) in mail.bounds {
            self.retention.received(inbox, max_messages);
        }
        answer(done, Ok(mail.ids.clone()));
        mail.ids.into_iter().map(move |id| {
            let mut event = mail.event.clone();
            if let LiveEvent::MessageCreated { id: message, .. } = &mut event {
                *message = id.uuid;
            }
            (id.inbox, event)
        })
    }
}

/// What waits already, and, when the last mail came in company, what the sessions that are about to
/// run bring: as long as a turn of the reactor brings more, the group stays open. There is no timer.
async fn gather(
    first: Waiting,
    mails: &mut mpsc::Receiver<Waiting>,
    company: bool,
) -> Vec<Waiting> {
    let (mut bytes, mut messages) = (first.0.raw.len(), first.0.targets.len());
    let mut batch = vec![first];
    let mut seen = 0;
    loop {
        while batch.len() < MAX_MAILS
            && bytes < MAX_BYTES
            && messages < MAX_MESSAGES
            && let Ok(next) = mails.try_recv()
        {
            bytes += next.0.raw.len();
            messages += next.0.targets.len();
            batch.push(next);
        }
        let full = batch.len() >= MAX_MAILS || bytes >= MAX_BYTES || messages >= MAX_MESSAGES;
        if full || !company || batch.len() == seen {
            return batch;
        }
        seen = batch.len();
        tokio::task::yield_now().await;
    }
}

/// A session that is gone needs no answer; what it sent is stored all the same.
fn answer(done: Done, outcome: Result<Vec<MessageId>>) {
    drop(done.send(outcome));
}

fn janitor_row(segment: &str, class: Class, now: Time) -> trapline_store::Result<Op> {
    let task = Task::CheckSegment { visits: 0, aliases: Vec::new() };
    let due = now.after(janitor::first_check(class));
    MaintenanceTask::new(due, segment.to_owned(), task).planned()
}
