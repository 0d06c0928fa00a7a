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
    let mut bits = [0; 10];
    bits.copy_from_slice(&hash[..10]);
    let millis = u64::try_from(message.received_at().millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
