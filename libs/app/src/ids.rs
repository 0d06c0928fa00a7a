//! New ids, in the order in which they are made.

use std::sync::Mutex;

use sha2::{Digest as _, Sha256};
use trapline_model::{MessageId, Time};
use trapline_store::Clock;
use uuid::{ContextV7, Timestamp, Uuid};

/// Makes `UUIDv7`s that never decrease, whatever the clock does.
pub(crate) struct Ids {
    clock: Clock,
    last: Mutex<(i64, ContextV7)>,
}

impl Ids {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, last: Mutex::new((0, ContextV7::new())) }
    }

    /// An id greater than every earlier one.
    pub(crate) fn next(&self) -> Uuid {
        self.at_least(self.clock.now())
    }

    /// An id greater than every earlier one and than `seen`, which may be of a process whose clock is
    /// ahead. This process's time is not moved by it.
    pub(crate) fn next_after(&self, seen: Uuid) -> Uuid {
        let next = self.next();
        if next > seen {
            return next;
        }
        let mut random = [0; 10];
        random.copy_from_slice(&next.as_bytes()[6..]);
        let millis = u64::try_from((seen.as_u128() >> 80) + 1).unwrap_or(u64::MAX);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    fn at_least(&self, now: Time) -> Uuid {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        last.0 = last.0.max(now.millis());
        let millis = u64::try_from(last.0).unwrap_or(0);
        let nanos = u32::try_from(millis % 1000).unwrap_or(0) * 1_000_000;
        Uuid::new_v7(Timestamp::from_unix(&last.1, millis / 1000, nanos))
    }
}

/// The id of what a mail sets off for `whom`, the same however often it is made: a UUIDv7 (RFC 9562,
/// section 5.7) with the mail's time, and with a hash of both in place of random bits.
pub(crate) fn of_mail(message: MessageId, whom: &[u8]) -> Uuid {
    let hash = Sha256::new()
        .chain_update(message.inbox.0.as_bytes())
        .chain_update(message.uuid.as_bytes())
        .chain_update(whom)
        .finalize();
    of_hash(message.received_at(), &hash.into())
}

/// An id with a time, and with a hash in place of random bits: a UUIDv7 (RFC 9562, section 5.7).
pub(crate) fn of_hash(at: Time, hash: &[u8; 32]) -> Uuid {
    let mut bits = [0; 10];
    bits.copy_from_slice(&hash[..10]);
    // 48 bits hold the milliseconds.
    let millis = u64::try_from(at.millis()).unwrap_or(0).min((1 << 48) - 1);
    uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid()
}

/// Smallest `UUIDv7` of a time.
pub(crate) fn least_at(time: Time) -> Uuid {
    least(u128::try_from(time.millis()).unwrap_or(0).min((1 << 48) - 1))
}

/// Smallest `UUIDv7` (RFC 9562, section 5.7) of a time in milliseconds.
pub(crate) fn least(millis: u128) -> Uuid {
    Uuid::from_u128(millis << 80 | 7 << 76 | 0b10 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_id_comes_after_one_that_was_seen_and_moves_no_other() {
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let (ids, ahead) = (Ids::new(clock.clone()), Ids::new(clock.apart(300_000)));
        let seen = ahead.next();
        let (after, other) = (ids.next_after(seen), ids.next());
        assert!(after > seen && after.get_version_num() == 7);
        assert_eq!(Time::of_uuid(after).millis(), Time::of_uuid(seen).millis() + 1);
        assert_eq!(Time::of_uuid(other), clock.now());
        assert!(ids.next_after(other) > other);
    }

    #[test]
    fn ids_never_decrease_whichever_way_the_clock_jumps() {
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let ids = Ids::new(clock.clone());
        let mut last = Uuid::nil();
        for jump in [0, 300_000, -600_000, 1, -1, 900_000, -86_400_000] {
            clock.turn(jump);
            for _ in 0..100 {
                let next = ids.next();
                assert!(next > last, "{next} after {last}");
                last = next;
            }
        }
    }

    #[test]
    fn ids_never_decrease_though_the_clock_goes_back() {
        let clock = Clock::manual(Time::from_millis(1_800_000_000_000));
        let ids = Ids::new(clock.clone());
        let mut last = ids.next();
        for step in 0..20_000_i64 {
            if step % 7 == 0 {
                clock.advance(Duration::from_millis(1));
            }
            let back = Time::from_millis(clock.now().millis() - step % 3);
            let next = ids.at_least(back);
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }
}
