//! Where a stream goes on: the id of its events.

use std::{collections::BTreeSet, fmt, str::FromStr, time::Duration};

use trapline_model::{InvalidId, MessageId};
use uuid::Uuid;

/// Among processes, messages are not seen in the order of their ids: one whose process was slow to
/// store it comes after younger ones. So much older than the newest one it may be.
const BEHIND: Duration = Duration::from_mins(1);

/// The id of the newest message that a client was told of, and, where several processes store
/// messages, a sum over the last minute of those.
///
/// The sum tells whether the client has all the messages that are there now. When it does not, it is
/// told of that minute's again: which ones it lacks is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    pub(super) last: MessageId,
    pub(super) told: Option<Sum>,
}

/// The messages after `floor` that a client was told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) floor: Uuid,
    sum: u64,
}

/// Hexadecimal digits of a [`Sum`].
const DIGITS: usize = 48;

impl fmt::Display for Bookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.last)?;
        match self.told {
            Some(Sum { floor, sum }) => write!(f, "-{:032x}{sum:016x}", floor.as_u128()),
            None => Ok(()),
        }
    }
}

impl FromStr for Bookmark {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let Some((last, told)) = text.split_once('-') else {
            return Ok(Self { last: text.parse()?, told: None });
        };
        let digits = told.len() == DIGITS && told.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (floor, sum) = told.split_at_checked(32).filter(|_| digits).ok_or(InvalidId)?;
        let floor = u128::from_str_radix(floor, 16).map_err(|_| InvalidId)?;
        let sum = u64::from_str_radix(sum, 16).map_err(|_| InvalidId)?;
        let told = Some(Sum { floor: Uuid::from_u128(floor), sum });
        Ok(Self { last: last.parse()?, told })
    }
}

/// The messages after `floor` that a client was told of: the last minute's.
#[derive(Debug)]
pub(super) struct Told {
    floor: Uuid,
    ids: BTreeSet<Uuid>,
    sum: u64,
}

impl Told {
    /// None of the messages after `floor`.
    pub(super) fn after(floor: Uuid) -> Self {
        Self { floor, ids: BTreeSet::new(), sum: 0 }
    }

    pub(super) fn contains(&self, id: Uuid) -> bool {
        self.ids.contains(&id)
    }

    /// Takes note of one; whether it is new.
    pub(super) fn insert(&mut self, id: Uuid) -> bool {
        let is_new = self.ids.insert(id);
        if is_new {
            self.sum ^= id.as_u64_pair().1;
        }
        self.floor = self.floor.max(behind(id));
        while let Some(first) = self.ids.first().copied().filter(|first| *first <= self.floor) {
            self.ids.remove(&first);
            self.sum ^= first.as_u64_pair().1;
        }
        is_new
    }

    pub(super) fn sum(&self) -> Sum {
        Sum { floor: self.floor, sum: self.sum }
    }
}

impl Sum {
    /// Whether it is that of these messages.
    pub(super) fn is_of(self, ids: impl Iterator<Item = Uuid>) -> bool {
        ids.fold(0, |sum, id| sum ^ id.as_u64_pair().1) == self.sum
    }
}

/// The least id of the time that is [`BEHIND`] an id's.
fn behind(id: Uuid) -> Uuid {
    let millis = (id.as_u128() >> 80).saturating_sub(BEHIND.as_millis());
    Uuid::from_u128(millis << 80)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// An id of a time in milliseconds, and with a number.
    fn id(millis: u128, number: u128) -> Uuid {
        Uuid::from_u128(millis << 80 | number)
    }

    #[test]
    fn text_is_reversible() {
        let last = "0".repeat(52).parse().unwrap();
        let mut told = Told::after(id(5, 0));
        told.insert(id(7, 99));
        for told in [None, Some(told.sum())] {
            let bookmark = Bookmark { last, told };
            assert_eq!(bookmark.to_string().parse(), Ok(bookmark));
        }
        for text in ["", "7", &format!("{last}-"), &format!("{last}-{}", "g".repeat(48))] {
            assert_eq!(text.parse::<Bookmark>(), Err(InvalidId), "{text:?}");
        }
    }

    #[test]
    fn a_sum_tells_whether_one_is_missing() {
        let mut told = Told::after(id(5, 0));
        assert!(told.insert(id(8, 1)) && told.insert(id(7, 2)));
        assert!(!told.insert(id(8, 1)));
        assert!(told.sum().is_of([id(7, 2), id(8, 1)].into_iter()));
        assert!(!told.sum().is_of([id(7, 2), id(7, 3), id(8, 1)].into_iter()));
    }

    #[test]
    fn a_minute_is_kept() {
        let mut told = Told::after(Uuid::nil());
        told.insert(id(1_000, 1));
        told.insert(id(61_001, 2));
        assert!(!told.contains(id(1_000, 1)) && told.contains(id(61_001, 2)));
        assert!(told.sum().is_of(std::iter::once(id(61_001, 2))));
        assert_eq!(told.sum().floor, id(1_001, 0));
    }
}
