//! Where a stream goes on: the id of its events.

use std::{collections::BTreeSet, fmt, str::FromStr, time::Duration};

use trapline_model::{InboxId, InvalidId, MessageId, Time};
use trapline_store::is_v7;
use uuid::Uuid;

use crate::ids::least;

/// How much older than the newest known message one may be that becomes visible only now. Processes make
/// ids for themselves, so a message whose process was slow to store it comes after younger ones.
pub(super) const REORDER_WINDOW: Duration = Duration::from_mins(1);

/// The id of the newest message that a client was told of, and, where several processes store
/// messages, a checksum of those of the last minute.
///
/// The checksum tells whether the client has all the messages that are there now. When it does not, it is
/// told of that minute's again: which ones it lacks is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bookmark {
    pub(super) last: MessageId,
    pub(super) seen: Option<Checksum>,
}

/// Checksum (exclusive or of ids) of the messages after `floor` that a client was told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checksum {
    pub(super) floor: Uuid,
    sum: u64,
}

/// Hexadecimal digits of a [`Checksum`].
const DIGITS: usize = 48;

impl fmt::Display for Bookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.last)?;
        match self.seen {
            Some(Checksum { floor, sum }) => write!(f, "-{:032x}{sum:016x}", floor.as_u128()),
            None => Ok(()),
        }
    }
}

impl Bookmark {
    /// Reads what a client sends. What is no bookmark of this inbox comes before all its messages.
    pub(super) fn read(text: &str, inbox: InboxId, now: Time) -> Self {
        let is_ours = |read: &Self| {
            read.last.inbox == inbox && read.last.received_at() <= now.after(REORDER_WINDOW)
        };
        let oldest = Self { last: MessageId { inbox, uuid: Uuid::nil() }, seen: None };
        text.parse().ok().filter(is_ours).unwrap_or(oldest)
    }
}

impl FromStr for Bookmark {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let Some((last, seen)) = text.split_once('-') else {
            return Ok(Self { last: bound(text.parse()?), seen: None });
        };
        let digits = seen.len() == DIGITS && seen.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (floor, sum) = seen.split_at_checked(32).filter(|_| digits).ok_or(InvalidId)?;
        let floor = u128::from_str_radix(floor, 16).map_err(|_| InvalidId)?;
        let sum = u64::from_str_radix(sum, 16).map_err(|_| InvalidId)?;
        let seen = Some(Checksum { floor: v7(Uuid::from_u128(floor)), sum });
        Ok(Self { last: bound(last.parse()?), seen })
    }
}

fn bound(id: MessageId) -> MessageId {
    MessageId { uuid: v7(id.uuid), ..id }
}

/// The messages of the last minute, which are those after `floor`, that a client was told of.
#[derive(Debug)]
pub(super) struct SeenWindow {
    floor: Uuid,
    ids: BTreeSet<Uuid>,
    /// Those of them that are deleted, which the checksum leaves out.
    gone: BTreeSet<Uuid>,
    sum: u64,
}

impl SeenWindow {
    /// None of the messages after `floor`.
    pub(super) fn after(floor: Uuid) -> Self {
        Self { floor, ids: BTreeSet::new(), gone: BTreeSet::new(), sum: 0 }
    }

    /// Whether the client knows of a message: also of the one that it says it was told of last, whose
    /// announcement may come only now.
    pub(super) fn contains(&self, id: Uuid) -> bool {
        id == self.floor || self.ids.contains(&id)
    }

    /// Adds a message; whether it is new.
    pub(super) fn insert(&mut self, id: Uuid) -> bool {
        let is_new = self.ids.insert(id);
        if is_new {
            self.sum ^= id.as_u64_pair().1;
        }
        self.floor = self.floor.max(window_floor(id));
        while let Some(first) = self.ids.first().copied().filter(|first| *first <= self.floor) {
            self.ids.remove(&first);
            if !self.gone.remove(&first) {
                self.sum ^= first.as_u64_pair().1;
            }
        }
        is_new
    }

    /// Notes that a message is deleted; an announcement of its arrival may still come.
    pub(super) fn delete(&mut self, id: Uuid) {
        if id <= self.floor || !self.gone.insert(id) {
            return;
        }
        if !self.ids.insert(id) {
            self.sum ^= id.as_u64_pair().1;
        }
    }

    /// Notes that all messages are deleted.
    pub(super) fn delete_all(&mut self) {
        self.gone.clone_from(&self.ids);
        self.sum = 0;
    }

    /// The id up to which messages are not kept.
    pub(super) fn floor(&self) -> Uuid {
        self.floor
    }

    pub(super) fn checksum(&self) -> Checksum {
        Checksum { floor: self.floor, sum: self.sum }
    }
}

impl Checksum {
    /// Whether it is the checksum of these messages.
    pub(super) fn is_of(self, ids: impl Iterator<Item = Uuid>) -> bool {
        ids.fold(0, |sum, id| sum ^ id.as_u64_pair().1) == self.sum
    }
}

/// Smallest `UUIDv7` of the instant [`REORDER_WINDOW`] (60 s) before that of `id`.
pub(crate) fn window_floor(id: Uuid) -> Uuid {
    least((id.as_u128() >> 80).saturating_sub(REORDER_WINDOW.as_millis()))
}

/// The id itself, or the least one of its time where it is of another version: stores order ids by
/// their version first.
fn v7(id: Uuid) -> Uuid {
    if is_v7(id) { id } else { least(id.as_u128() >> 80) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// An id of a time in milliseconds, and with a number.
    fn id(millis: u128, number: u128) -> Uuid {
        Uuid::from_u128(least(millis).as_u128() | number)
    }

    #[test]
    fn bounds_are_ids_that_stores_order_by_time() {
        for millis in [0, 59_999, 60_000, 1_800_000_000_000, (1 << 48) - 1] {
            let bound = window_floor(id(millis, 99));
            assert!(is_v7(bound), "{bound}");
            assert_eq!(bound.as_u128() >> 80, millis.saturating_sub(60_000));
            assert!(bound <= id(millis.saturating_sub(60_000), 0));
        }
    }

    #[test]
    fn what_is_no_bookmark_of_the_inbox_comes_before_everything() {
        let now = Time::from_millis(1_800_000_000_000);
        let [ours, other] = [1, 2].map(|number| InboxId(id(1, number)));
        let of = |inbox, millis| MessageId { inbox, uuid: id(millis, 3) }.to_string();
        let read = |text: &str| Bookmark::read(text, ours, now).last.uuid;
        assert_eq!(read(&of(ours, 1_799_999_999_999)), id(1_799_999_999_999, 3));
        let later = of(ours, 1_900_000_000_000);
        for text in ["nonsense", "7", &of(other, 1_799_999_999_999), &later] {
            assert_eq!(read(text), Uuid::nil(), "{text}");
        }
        // An id of another version, as older releases had them in bookmarks, is taken by its time.
        let floor = 1_799_999_940_000_u128 << 80;
        let old = format!("{}-{floor:032x}{:016x}", of(ours, 1_799_999_999_999), 0);
        let seen = Bookmark::read(&old, ours, now).seen.unwrap();
        assert_eq!(seen.floor, id(1_799_999_940_000, 0));
    }

    #[test]
    fn text_is_reversible() {
        let last = MessageId { inbox: InboxId(Uuid::nil()), uuid: id(5, 1) };
        let mut seen = SeenWindow::after(id(5, 0));
        seen.insert(id(7, 99));
        for seen in [None, Some(seen.checksum())] {
            let bookmark = Bookmark { last, seen };
            assert_eq!(bookmark.to_string().parse(), Ok(bookmark));
        }
        for text in ["", "7", &format!("{last}-"), &format!("{last}-{}", "g".repeat(48))] {
            assert_eq!(text.parse::<Bookmark>(), Err(InvalidId), "{text:?}");
        }
    }

    #[test]
    fn a_sum_tells_whether_one_is_missing() {
        let mut seen = SeenWindow::after(id(5, 0));
        assert!(seen.insert(id(8, 1)) && seen.insert(id(7, 2)));
        assert!(!seen.insert(id(8, 1)));
        assert!(seen.checksum().is_of([id(7, 2), id(8, 1)].into_iter()));
        assert!(!seen.checksum().is_of([id(7, 2), id(7, 3), id(8, 1)].into_iter()));
    }

    #[test]
    fn a_sum_is_of_what_is_not_deleted() {
        let mut seen = SeenWindow::after(id(5, 0));
        seen.insert(id(7, 1));
        seen.insert(id(7, 2));
        seen.delete(id(7, 1));
        // Deleted before it is told, and twice.
        seen.delete(id(7, 3));
        seen.delete(id(7, 3));
        assert!(!seen.insert(id(7, 3)) && seen.contains(id(7, 3)));
        assert!(seen.checksum().is_of(std::iter::once(id(7, 2))));
        seen.insert(id(61_000, 1));
        assert!(seen.checksum().is_of(std::iter::once(id(61_000, 1))));
        seen.delete_all();
        assert!(seen.checksum().is_of(std::iter::empty()));
    }

    #[test]
    fn a_minute_is_kept() {
        let mut seen = SeenWindow::after(Uuid::nil());
        seen.insert(id(1_000, 1));
        seen.insert(id(61_001, 2));
        assert!(!seen.contains(id(1_000, 1)) && seen.contains(id(61_001, 2)));
        assert!(seen.checksum().is_of(std::iter::once(id(61_001, 2))));
        assert_eq!(seen.checksum().floor, id(1_001, 0));
    }
}
