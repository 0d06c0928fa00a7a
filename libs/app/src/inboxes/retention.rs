//! The bound on an inbox's messages: reads stop at it, and what is beyond it is removed soon after.
//!
//! For each inbox that mail arrives in, a count is kept in memory; only when it passes the bound is
//! anything read. Processes count for themselves: each counts the rows anew after an eighth of the bound,
//! so that an inbox that N of them write to holds at most its bound and N eighths of it on disk, and in
//! no answer.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::sync::Cache;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trapline_model::{InboxId, MessageId};
use trapline_store::{
    Bus, Clock, LiveEvent, Op, Scan, Store, Value,
    records::{Mark, Message},
};
use uuid::Uuid;

use crate::{
    Result, announce::announce, inbox_versions::InboxVersions, keyed_locks::KeyedLocks,
    log_throttle::LogThrottle, message_scans::message_keys, parts::Parts,
    segment_reviews::plan_reviews,
};

/// Inboxes whose count is known; for any other the first mail counts anew.
const CACHE_CAPACITY: u64 = 100_000;
/// Between a trim that failed and the next try, if no mail comes before.
const RETRY_DELAY: Duration = Duration::from_secs(10);
/// Mails after which a process among several counts an inbox of a small bound anew.
const MIN_RECOUNT: u64 = 16;
/// Between two passes, so that a full inbox under load is read once for many mails.
const PASS_INTERVAL: Duration = Duration::from_millis(500);
/// Rows beyond the bound that are read at a time.
const PAGE_ROWS: usize = 1_000;

/// An inbox that may have more messages than its bound.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OverBound {
    max_messages: u32,
    /// Changes with every message, to tell whether one came during a trim.
    mails: u64,
}

/// Counts what arrives in each inbox, and removes what is over its bound.
pub(crate) struct Retention {
    store: Arc<dyn Store>,
    bus: Arc<dyn Bus>,
    clock: Clock,
    versions: Arc<InboxVersions>,
    /// Whether other processes store messages too.
    shared: bool,
    counts: Cache<InboxId, Arc<AtomicU64>>,
    /// Inboxes that may be over their bound. One stays here until what is beyond is gone.
    over: Mutex<HashMap<InboxId, OverBound>>,
    /// Held while an inbox is trimmed, so that each removed message is announced once.
    locks: KeyedLocks,
    wake: Notify,
    not_trimmed: LogThrottle,
}

impl Retention {
    pub(crate) fn new(parts: &Parts) -> Self {
        Self {
            store: parts.ports.store.clone(),
            bus: parts.ports.bus.clone(),
            clock: parts.clock.clone(),
            versions: parts.versions.clone(),
            shared: !parts.is_alone,
            counts: Cache::new(CACHE_CAPACITY),
            over: Mutex::default(),
            locks: KeyedLocks::new(),
            wake: Notify::new(),
            not_trimmed: LogThrottle::new(),
        }
    }

    /// Notes a new inbox, which is empty.
    pub(crate) fn created(&self, inbox: InboxId) {
        if !self.shared {
            self.counts.insert(inbox, Arc::default());
        }
    }

    /// The number to count on from, with so many rows in the store. With other processes it is close to the
    /// bound, so that the rows are counted anew after an eighth of it.
    fn initial_count(&self, rows: u64, max: u64) -> u64 {
        let recount_after = (max / 8).max(MIN_RECOUNT);
        if self.shared { rows.max(max.saturating_sub(recount_after)) } else { rows }
    }

    /// Counts a message that was stored.
    pub(crate) fn received(&self, inbox: InboxId, max_messages: u32) {
        let known = self.counts.get(&inbox);
        let count = known.map(|count| count.fetch_add(1, Ordering::Relaxed) + 1);
        if count.is_none_or(|count| count > u64::from(max_messages)) {
            let mut over = self.over();
            let mails = over.get(&inbox).map_or(0, |over| over.mails) + 1;
            over.insert(inbox, OverBound { max_messages, mails });
            drop(over);
            self.wake.notify_one();
        }
    }

    /// Removes what is over the bound, if the inbox may be over it.
    async fn trim_if_over(&self, inbox: InboxId) -> Result<()> {
        if !self.over().contains_key(&inbox) {
            return Ok(());
        }
        let _lock = self.locks.lock(inbox.0).await;
        let over = self.over().get(&inbox).copied();
        let Some(over) = over else { return Ok(()) };
        self.trim_locked(inbox, over.max_messages).await?;
        let mut known = self.over();
        if known.get(&inbox) == Some(&over) {
            known.remove(&inbox);
        }
        Ok(())
    }

    /// Removes every message beyond the newest `max_messages`.
    pub(crate) async fn trim(&self, inbox: InboxId, max_messages: u32) -> Result<()> {
        let _lock = self.locks.lock(inbox.0).await;
        self.trim_locked(inbox, max_messages).await
    }

    /// Trims an inbox whose lock is held.
    async fn trim_locked(&self, inbox: InboxId, max_messages: u32) -> Result<()> {
        let count = Arc::new(AtomicU64::new(0));
        // Counts what arrives during the scan twice at most, which only makes the next one earlier.
        self.counts.insert(inbox, count.clone());
        let max = usize::try_from(max_messages).unwrap_or(usize::MAX);
        let rows = self.store.scan(message_keys(inbox, max + PAGE_ROWS)).await?;
        let rows_kept = rows.len().min(max) as u64;
        let initial_count = self.initial_count(rows_kept, u64::from(max_messages));
        count.fetch_add(initial_count, Ordering::Relaxed);
        let beyond: Vec<_> = rows.iter().skip(max).map(Message::id).collect();
        let kept = max.checked_sub(1).and_then(|last| rows.get(last)).map(|row| row.sort.clone());
        match beyond.first() {
            Some(newest) => self.remove(inbox, kept, *newest, beyond.clone()).await,
            None => Ok(()),
        }
    }

    /// Removes `newest` and everything older, of which `ids` are the newest; `kept` is the row before.
    async fn remove(
        &self,
        inbox: InboxId,
        kept: Option<Vec<Value>>,
        newest: Uuid,
        mut ids: Vec<Uuid>,
    ) -> Result<()> {
        // All of them are read before they go, so that each is named once.
        while let Some(oldest) = ids.last() {
            let after = Some(vec![Value::Uuid(*oldest)]);
            let rest = self.store.scan(Scan { after, ..message_keys(inbox, PAGE_ROWS) }).await?;
            if rest.is_empty() {
                break;
            }
            ids.extend(rest.iter().map(Message::id));
        }
        let until = MessageId { inbox, uuid: newest };
        plan_reviews(&*self.store, inbox, kept, self.clock.now()).await?;
        let ops = [Message::row(until), Mark::row(until)];
        self.store.write(ops.map(|until| Op::DeleteUntil { until }).into()).await?;
        self.announce_deleted(inbox, ids).await;
        Ok(())
    }

    async fn announce_deleted(&self, inbox: InboxId, ids: Vec<Uuid>) {
        self.versions.changed(inbox).await;
        announce(&*self.bus, inbox, LiveEvent::MessagesDeleted { ids }).await;
    }

    /// Trims inboxes that may be over their bound, until shutdown.
    pub(crate) async fn run(self: Arc<Self>, shutdown: CancellationToken) {
        let passes = async {
            let mut all_trimmed = true;
            loop {
                tokio::select! {
                    () = self.wake.notified() => {}
                    () = self.clock.sleep(RETRY_DELAY), if !all_trimmed => {}
                }
                all_trimmed = self.pass().await;
                tokio::time::sleep(PASS_INTERVAL).await;
            }
        };
        shutdown.run_until_cancelled(passes).await;
    }

    /// Trims each inbox that may be over its bound. Returns whether all were trimmed.
    async fn pass(&self) -> bool {
        let over: Vec<_> = self.over().keys().copied().collect();
        let mut all_trimmed = true;
        for inbox in over {
            if let Err(error) = self.trim_if_over(inbox).await {
                all_trimmed = false;
                if let Some(left_out) = self.not_trimmed.due() {
                    tracing::warn!(%error, left_out, "an inbox is not trimmed yet");
                }
            }
        }
        all_trimmed
    }

    fn over(&self) -> std::sync::MutexGuard<'_, HashMap<InboxId, OverBound>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
