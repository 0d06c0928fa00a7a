//! Forms groups, makes them durable, and answers.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::join_all, stream::FuturesUnordered};
use tokio::{sync::mpsc, time::Instant};
use trapline_model::{InboxId, MessageId, TeamId, Time};
use trapline_store::{
    Clock, Group, Job, Lane, LiveEvent, Op, PortError, Ports, When,
    records::{MaintenanceTask, Message, TaskKind},
    segment::{self, Builder, Class},
};
use uuid::Uuid;

use super::{Draft, MailReply, QueuedMail, announcer::Announcer, arrivals::ArrivalSubscribers};
use crate::{
    Error, FirstSteps, Result,
    announce::MAX_ANNOUNCED,
    ids::Ids,
    inbox_versions::InboxVersions,
    inboxes::Retention,
    jobs::{self, Jobs},
    metrics,
    onboarding::Step,
    parts::Parts,
    segment_reviews::first_check,
    usage::TeamUsage,
};

/// Mails of one group.
const MAX_GROUP_MAILS: usize = 512;
/// Bytes of the mails of one group.
const MAX_GROUP_BYTES: usize = 8 * 1024 * 1024;
/// Messages of one group, of which a mail to several inboxes makes several: one job names them all.
const MAX_GROUP_MESSAGES: usize = 2_000;
/// Shortest time to live of a row: a time to live of zero would mean none.
const MIN_TTL: Duration = Duration::from_secs(1);

/// The task that gives messages their ids and commits them in groups.
pub(super) struct Committer {
    ports: Ports,
    jobs: Jobs,
    clock: Clock,
    ids: Arc<Ids>,
    usage: Arc<TeamUsage>,
    retention: Arc<Retention>,
    versions: Arc<InboxVersions>,
    subscribers: ArrivalSubscribers,
    announcer: Announcer,
    first_steps: Arc<FirstSteps>,
    /// Groups that may be written at the same time; at least 1.
    max_concurrent_commits: usize,
}

/// A mail that has a place in a group.
struct PendingMail {
    ids: Vec<MessageId>,
    /// The inboxes, and how many messages each keeps.
    bounds: Vec<(InboxId, u32)>,
    event: LiveEvent,
}

/// A group that is being formed.
struct GroupBuilder {
    name: String,
    segment: Builder,
    rows: Vec<Op>,
    mails: Vec<(PendingMail, MailReply)>,
    arrived: Vec<(TeamId, MessageId)>,
}

impl Committer {
    pub(super) fn new(
        parts: &Parts,
        usage: Arc<TeamUsage>,
        retention: Arc<Retention>,
        subscribers: ArrivalSubscribers,
    ) -> Self {
        Self {
            ports: parts.ports.clone(),
            jobs: parts.jobs.clone(),
            clock: parts.clock.clone(),
            ids: parts.ids.clone(),
            usage,
            retention,
            versions: parts.versions.clone(),
            subscribers,
            announcer: Announcer::new(parts.ports.bus.clone()),
            first_steps: parts.first_steps.clone(),
            max_concurrent_commits: parts.settings.groups_in_flight,
        }
    }

    /// Runs until the application is gone.
    pub(super) async fn run(self, mut mails: mpsc::Receiver<QueuedMail>) {
        let mut expect_more = false;
        let mut commits = FuturesUnordered::new();
        let mut announcements = FuturesUnordered::new();
        loop {
            let first = tokio::select! {
                biased;
                Some(()) = announcements.next() => continue,
                Some(stored) = commits.next() => {
                    // No other mail waits for what listeners are told of this one.
                    announcements.push(self.announcer.announce(stored));
                    continue;
                }
                first = mails.recv(), if commits.len() < self.max_concurrent_commits => first,
            };
            let Some(first) = first else { break };
            let batch = gather_batch(first, &mut mails, expect_more).await;
            expect_more = batch.len() > 1;
            commits.push(self.commit(batch));
        }
        while let Some(stored) = commits.next().await {
            announcements.push(self.announcer.announce(stored));
        }
        while announcements.next().await.is_some() {}
    }

    /// Commits one segment per retention class, all at the same time. Returns the events to announce.
    async fn commit(&self, batch: Vec<QueuedMail>) -> Vec<(InboxId, LiveEvent)> {
        let now = self.clock.now();
        let mut classes: Vec<(Class, Vec<QueuedMail>)> = Vec::new();
        for queued in batch {
            let remaining = queued.draft.expires_at().map(|at| at.since(now));
            let class = Class::for_lifetime(remaining);
            match classes.iter_mut().find(|(other, _)| *other == class) {
                Some((_, mails)) => mails.push(queued),
                None => classes.push((class, vec![queued])),
            }
        }
        let stored = classes.into_iter().map(|(class, mails)| self.commit_class(class, mails, now));
        join_all(stored).await.into_iter().flatten().collect()
    }

    async fn commit_class(
        &self,
        class: Class,
        mails: Vec<QueuedMail>,
        now: Time,
    ) -> Vec<(InboxId, LiveEvent)> {
        let bytes = mails.iter().map(|mail| mail.draft.raw.len()).sum();
        let messages = mails.iter().map(|mail| mail.draft.targets.len()).sum();
        let mut group = GroupBuilder {
            name: segment::name(class, self.ids.next()),
            segment: Builder::with_capacity(bytes, messages),
            rows: Vec::with_capacity(mails.len()),
            mails: Vec::with_capacity(mails.len()),
            arrived: Vec::with_capacity(mails.len()),
        };
        for QueuedMail { draft, reply } in mails {
            match self.add_to_group(draft, &mut group, now) {
                Ok(pending) => group.mails.push((pending, reply)),
                Err(error) => {
                    tracing::error!(%error, "a message's row was not made");
                    answer(reply, Err(Error::Unavailable));
                }
            }
        }
        self.write(class, group, now).await
    }

    async fn write(
        &self,
        class: Class,
        group: GroupBuilder,
        now: Time,
    ) -> Vec<(InboxId, LiveEvent)> {
        let GroupBuilder { name, segment, rows, mails, arrived } = group;
        let (started, bytes) = (Instant::now(), segment.len());
        let outcome = async {
            let before = vec![check_task(&name, class, now)?];
            let (job, rows) = self.with_received_job(&name, &arrived, rows, now).await?;
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
            for (_, reply) in mails {
                answer(reply, Err(if is_full { Error::StorageFull } else { Error::Unavailable }));
            }
            return Vec::new();
        }
        self.usage.stored(arrived.iter().map(|(team, _)| *team));
        self.note_first_messages(&arrived);
        self.bump_versions(&mails).await;
        mails.into_iter().flat_map(|(mail, reply)| self.answer_stored(mail, reply)).collect()
    }

    /// The `Received` job of the group, if a subscriber may want it, and the rows with the job's own.
    async fn with_received_job(
        &self,
        segment: &str,
        arrived: &[(TeamId, MessageId)],
        mut rows: Vec<Op>,
        now: Time,
    ) -> trapline_store::Result<(Option<Job>, Vec<Op>)> {
        let arrivals = self.subscribers.of(arrived).await;
        if arrivals.is_empty() {
            return Ok((None, rows));
        }
        let job = jobs::job(Lane::Received, segment.to_owned(), 1, arrivals, now)?;
        rows.extend(self.jobs.outbox_row(&job)?);
        Ok((Some(job), rows))
    }

    fn add_to_group(
        &self,
        draft: Draft,
        group: &mut GroupBuilder,
        now: Time,
    ) -> trapline_store::Result<PendingMail> {
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
            let ttl = target.kept_until.map(|until| until.since(now).max(MIN_TTL));
            group.rows.push(Op::Put { key, doc: doc.clone(), ttl, when: When::Always });
        }
        let bounds = targets.iter().map(|target| (target.inbox, target.max_messages)).collect();
        let (from, to, subject) = (parties.from, parties.to, message.subject.clone());
        let cut = message.cut;
        let is_short = doc.len() - search.len() <= MAX_ANNOUNCED;
        let record = is_short.then(|| Box::new(message));
        let event = LiveEvent::MessageCreated { id: Uuid::nil(), from, to, subject, cut, record };
        Ok(PendingMail { ids, bounds, event })
    }

    /// Notes, beside the receiving path, which teams have a message for the first time.
    fn note_first_messages(&self, arrived: &[(TeamId, MessageId)]) {
        let news = arrived.iter().map(|(team, _)| *team);
        for team in news.filter(|team| self.first_steps.is_unnoted(*team, Step::Message)) {
            let first_steps = self.first_steps.clone();
            tokio::spawn(async move { first_steps.note(team, Step::Message).await });
        }
    }

    /// Moves the versions of the inboxes, so that their messages are counted anew.
    async fn bump_versions(&self, mails: &[(PendingMail, MailReply)]) {
        let inboxes: HashSet<_> =
            mails.iter().flat_map(|(mail, _)| &mail.ids).map(|id| id.inbox).collect();
        self.versions.changed_soon(inboxes.into_iter()).await;
    }

    /// Answers the session. Returns the events to announce.
    fn answer_stored(
        &self,
        mail: PendingMail,
        reply: MailReply,
    ) -> impl Iterator<Item = (InboxId, LiveEvent)> + use<> {
        for (inbox, max_messages) in mail.bounds {
            self.retention.received(inbox, max_messages);
        }
        answer(reply, Ok(mail.ids.clone()));
        mail.ids.into_iter().map(move |id| {
            let mut event = mail.event.clone();
            if let LiveEvent::MessageCreated { id: message, .. } = &mut event {
                *message = id.uuid;
            }
            (id.inbox, event)
        })
    }
}

/// Drains the queue. If the previous group had more than one mail, also yields to the runtime until a
/// yield adds no mail, so that concurrent sessions join this group. Uses no timer.
async fn gather_batch(
    first: QueuedMail,
    mails: &mut mpsc::Receiver<QueuedMail>,
    expect_more: bool,
) -> Vec<QueuedMail> {
    let (mut bytes, mut messages) = (first.draft.raw.len(), first.draft.targets.len());
    let mut batch = vec![first];
    let mut seen = 0;
    loop {
        while batch.len() < MAX_GROUP_MAILS
            && bytes < MAX_GROUP_BYTES
            && messages < MAX_GROUP_MESSAGES
            && let Ok(next) = mails.try_recv()
        {
            bytes += next.draft.raw.len();
            messages += next.draft.targets.len();
            batch.push(next);
        }
        let full = batch.len() >= MAX_GROUP_MAILS
            || bytes >= MAX_GROUP_BYTES
            || messages >= MAX_GROUP_MESSAGES;
        if full || !expect_more || batch.len() == seen {
            return batch;
        }
        seen = batch.len();
        tokio::task::yield_now().await;
    }
}

/// A session that is gone needs no answer; what it sent is stored all the same.
fn answer(reply: MailReply, outcome: Result<Vec<MessageId>>) {
    drop(reply.send(outcome));
}

fn check_task(segment: &str, class: Class, now: Time) -> trapline_store::Result<Op> {
    let task = TaskKind::CheckSegment { visits: 0, aliases: Vec::new() };
    let due = now.after(first_check(class));
    MaintenanceTask::new(due, segment.to_owned(), task).planned()
}
