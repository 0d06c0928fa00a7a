//! The marks and deletions that a stream was told of lately. Announcements of different processes may
//! overtake each other, and the later one must hold in the end.

use std::collections::{BTreeMap, VecDeque};

use tokio::time::Instant;
use trapline_store::records::InboxState;
use uuid::Uuid;

use super::bookmark::REORDER_WINDOW;
use crate::read_marks;

/// Marks, and ids of deleted messages, that a stream keeps.
const CAPACITY: usize = 64;

/// The marks and deletions that a stream heard of, as far as they are kept.
pub(super) struct RecentChanges {
    marks: BTreeMap<Uuid, (bool, Uuid)>,
    all: Option<InboxState>,
    /// Of a message whose mark is not kept, a mark that is not later than this may not be its last.
    unsure_up_to: Uuid,
    deleted: VecDeque<Uuid>,
    /// Until when a message may be marked whose deletion is not kept.
    unsure_until: Option<Instant>,
}

impl RecentChanges {
    /// Knows nothing yet. `start` is an id of the moment from which on it learns.
    pub(super) fn from(start: Uuid) -> Self {
        let (marks, deleted) = (BTreeMap::new(), VecDeque::new());
        Self { marks, all: None, unsure_up_to: start, deleted, unsure_until: None }
    }

    /// Notes that events were missed before a moment.
    pub(super) fn missed(&mut self, before: Uuid) {
        let all = self.all.take();
        *self =
            Self { all, unsure_until: Some(Instant::now() + REORDER_WINDOW), ..Self::from(before) };
    }

    /// Notes a mark. Returns whether the message is read then; `None` where only the store knows. A
    /// message whose mark is kept no more is passed on.
    pub(super) fn marked(
        &mut self,
        id: Uuid,
        is_read: bool,
        at: Uuid,
        dropped: impl FnOnce(Uuid),
    ) -> Option<bool> {
        let is_unsure = self.unsure_until.is_some_and(|until| until >= Instant::now());
        if is_unsure || (at <= self.unsure_up_to && !self.marks.contains_key(&id)) {
            return None;
        }
        let mark = self.marks.entry(id).or_insert((is_read, at));
        if at > mark.1 {
            *mark = (is_read, at);
        }
        let is_read = read_marks::is_read(id, Some(*mark), self.all.as_ref());
        let oldest = self.marks.iter().min_by_key(|(_, (_, at))| *at);
        if let Some((&oldest, &(_, at))) = oldest.filter(|_| self.marks.len() > CAPACITY) {
            self.marks.remove(&oldest);
            self.unsure_up_to = self.unsure_up_to.max(at);
            dropped(oldest);
        }
        Some(is_read)
    }

    /// Notes what holds for all messages.
    pub(super) fn all_marked(&mut self, state: &InboxState) {
        if self.all.as_ref().is_none_or(|known| known.at < state.at) {
            self.all = Some(state.clone());
        }
    }

    /// Whether a message is read, as far as is known here.
    pub(super) fn is_read(&self, id: Uuid) -> bool {
        read_marks::is_read(id, self.marks.get(&id).copied(), self.all.as_ref())
    }

    /// Notes deletions.
    pub(super) fn deleted(&mut self, ids: &[Uuid]) {
        if self.deleted.len() + ids.len() > CAPACITY {
            self.unsure_until = Some(Instant::now() + REORDER_WINDOW);
        }
        for id in ids.iter().rev().take(CAPACITY) {
            self.deleted.truncate(CAPACITY - 1);
            self.deleted.push_front(*id);
        }
    }

    /// Notes that all messages were deleted.
    pub(super) fn emptied(&mut self) {
        self.unsure_until = Some(Instant::now() + REORDER_WINDOW);
    }

    /// Whether a message is known to be deleted.
    pub(super) fn is_deleted(&self, id: Uuid) -> bool {
        self.deleted.contains(&id)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use trapline_model::InboxId;

    use super::*;

    fn id(number: usize) -> Uuid {
        Uuid::from_u128(number as u128)
    }

    #[test]
    fn the_latest_mark_holds_in_whichever_order_marks_are_heard() {
        let mut recent = RecentChanges::from(id(100));
        assert_eq!(recent.marked(id(1), true, id(103), |_| {}), Some(true));
        assert_eq!(recent.marked(id(1), false, id(102), |_| {}), Some(true));
        assert!(recent.is_read(id(1)));
        let state = |read_up_to: usize, at: usize| InboxState {
            inbox: InboxId(id(9)),
            read_up_to: id(read_up_to),
            at: id(at),
        };
        assert_eq!(recent.marked(id(2), false, id(104), |_| {}), Some(false));
        recent.all_marked(&state(3, 105));
        recent.all_marked(&state(0, 101));
        assert!(recent.is_read(id(2)) && recent.is_read(id(3)) && !recent.is_read(id(4)));
        assert_eq!(recent.marked(id(3), false, id(106), |_| {}), Some(false));
        assert!(!recent.is_read(id(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded_and_what_is_not_known_is_said() {
        let mut recent = RecentChanges::from(id(100));
        // From before the stream.
        assert_eq!(recent.marked(id(1), true, id(99), |_| {}), None);
        let mut dropped = Vec::new();
        for number in 0..=CAPACITY {
            let marked = recent.marked(id(number), true, id(1_000 + number), |id| dropped.push(id));
            assert_eq!(marked, Some(true));
        }
        assert_eq!((dropped, recent.marks.len()), (vec![id(0)], CAPACITY));
        assert_eq!(recent.marked(id(0), false, id(999), |_| {}), None);
        assert_eq!(recent.marked(id(CAPACITY), false, id(999), |_| {}), Some(true));
        recent.deleted(&[id(1), id(2)]);
        assert!(recent.is_deleted(id(1)) && recent.is_deleted(id(2)) && !recent.is_deleted(id(3)));
        assert!(recent.marked(id(3), true, id(5_000), |_| {}).is_some());
        recent.deleted(&(10..10 + 3 * CAPACITY).map(id).collect::<Vec<_>>());
        assert_eq!(recent.deleted.len(), CAPACITY);
        assert!(recent.marked(id(3), true, id(5_001), |_| {}).is_none());
        tokio::time::advance(REORDER_WINDOW + Duration::from_secs(1)).await;
        assert!(recent.marked(id(3), true, id(5_002), |_| {}).is_some());
        recent.missed(id(6_000));
        tokio::time::advance(REORDER_WINDOW + Duration::from_secs(1)).await;
        assert!(recent.marked(id(3), true, id(5_999), |_| {}).is_none());
        assert!(recent.marked(id(3), true, id(6_001), |_| {}).is_some());
        let unread = recent.marks.get(&id(3)).copied().unwrap();
        assert_eq!(unread, (true, id(6_001)));
    }

    #[test]
    fn a_mark_that_is_not_kept_is_told_all_the_same() {
        let mut recent = RecentChanges::from(id(100));
        for number in 1..=CAPACITY {
            recent.marked(id(number), true, id(2_000), |_| {});
        }
        let mut dropped = None;
        let marked = recent.marked(id(0), true, id(1_000), |id| dropped = Some(id));
        assert_eq!((marked, dropped), (Some(true), Some(id(0))));
    }
}
