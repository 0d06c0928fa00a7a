//! Rate limits by GCRA, the generic cell rate algorithm: of each key only the theoretical arrival
//! time is kept, the instant at which all of its allowance is there again.

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use trapline_store::{Clock, Limiter, Rate, RateDecision, Result};

/// Keys of one generation.
const GENERATION_KEYS: usize = 50_000;

/// Allowances in memory.
pub(crate) struct MemoryLimiter {
    arrivals: Mutex<ArrivalTimes>,
    clock: Clock,
}

/// Nanoseconds since 1970, by key, in two generations: when the young one is full, the old one is
/// forgotten, and with it the keys that were not used since. That bounds memory at the price of
/// a fresh allowance for them.
#[derive(Default)]
struct ArrivalTimes {
    young: HashMap<Box<str>, i128>,
    old: HashMap<Box<str>, i128>,
}

impl MemoryLimiter {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { arrivals: Mutex::default(), clock }
    }
}

#[async_trait]
impl Limiter for MemoryLimiter {
    async fn take(&self, key: &str, rate: Rate) -> Result<RateDecision> {
        let now = i128::from(self.clock.now().millis()) * 1_000_000;
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let (decision, arrival) = decide(arrivals.of(key), now, rate);
        arrivals.keep(key, arrival, now);
        Ok(decision)
    }
}

impl ArrivalTimes {
    fn of(&self, key: &str) -> Option<i128> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    fn keep(&mut self, key: &str, arrival: i128, now: i128) {
        if let Some(known) = self.young.get_mut(key) {
            *known = arrival;
            return;
        }
        if self.young.len() >= GENERATION_KEYS {
            self.old = mem::take(&mut self.young);
            self.old.retain(|_, arrival| *arrival > now);
        }
        self.young.insert(key.into(), arrival);
    }
}

/// The decision, and the arrival time to keep.
fn decide(arrival: Option<i128>, now: i128, rate: Rate) -> (RateDecision, i128) {
    let burst = i128::from(rate.burst.max(1));
    let unit = (nanos(rate.per) / burst).max(1);
    let full = unit * burst;
    let current = arrival.unwrap_or(now).max(now);
    let next = current + unit;
    let beyond = next - now - full;
    if beyond > 0 {
        let retry_after = Duration::from_nanos(u64::try_from(beyond).unwrap_or(u64::MAX));
        return (RateDecision::Limited { retry_after }, current);
    }
    let remaining = u32::try_from(-beyond / unit).unwrap_or(u32::MAX);
    (RateDecision::Allowed { remaining }, next)
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX >> 32)
}
