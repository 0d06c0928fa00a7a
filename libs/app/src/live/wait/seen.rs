//! The messages that a wait has examined.

use trapline_model::Time;
use uuid::Uuid;

use crate::{
    ids::least_at,
    live::{feed::window_floor, resync::NewestMessages},
};

/// The messages of an inbox that a wait has examined: all up to `floor`, and a checksum of those after it,
/// since with several processes a message may become visible after younger ones.
pub(super) struct SeenMessages {
    pub(super) floor: Uuid,
    sum: u64,
}

impl SeenMessages {
    /// Nothing but what is older than anybody asks for.
    pub(super) fn before(since: Option<Time>) -> Self {
        Self { floor: since.map_or(Uuid::nil(), least_at), sum: 0 }
    }

    /// All that is there after the floor was looked at, newest first.
    pub(super) fn note(&mut self, ids: &[Uuid]) {
        if let Some(newest) = ids.first() {
            self.floor = self.floor.max(window_floor(*newest));
        }
        self.sum = sum(ids.iter().copied().filter(|id| *id > self.floor));
    }

    /// Whether none of these is new.
    pub(super) fn is_all_of(&self, found: &NewestMessages) -> bool {
        found.after(self.floor).is_some_and(|ids| sum(ids.iter().copied()) == self.sum)
    }
}

fn sum(ids: impl Iterator<Item = Uuid>) -> u64 {
    ids.fold(0, |sum, id| sum ^ id.as_u64_pair().1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(millis: i64, number: u128) -> Uuid {
        Uuid::from_u128(least_at(Time::from_millis(millis)).as_u128() | number)
    }

    fn found(ids: &[Uuid], more: bool) -> NewestMessages {
        NewestMessages { ids: ids.to_vec(), more }
    }

    #[test]
    fn only_what_is_new_is_looked_at() {
        let mut seen = SeenMessages::before(None);
        assert!(seen.is_all_of(&found(&[], false)));
        let [old, one, two] = [id(10, 1), id(100_000, 2), id(100_001, 3)];
        assert!(!seen.is_all_of(&found(&[old], false)));
        seen.note(&[two, one, old]);
        assert_eq!(seen.floor, id(40_001, 0));
        assert!(seen.is_all_of(&found(&[two, one, old], false)));
        assert!(seen.is_all_of(&found(&[two, one, old], true)));
        // Late, new, gone, and not known.
        let late = id(90_000, 7);
        for ids in [&[two, one, late][..], &[id(100_002, 9), two, one], &[two], &[]] {
            assert!(!seen.is_all_of(&found(ids, false)), "{ids:?}");
        }
        assert!(!seen.is_all_of(&found(&[two, one], true)));
    }

    #[test]
    fn what_is_older_than_asked_for_is_not_read() {
        let seen = SeenMessages::before(Some(Time::from_millis(5_000)));
        assert_eq!(seen.floor, id(5_000, 0));
        for millis in [i64::MIN, -1, i64::MAX] {
            assert!(trapline_store::is_v7(
                SeenMessages::before(Some(Time::from_millis(millis))).floor
            ));
        }
    }
}
