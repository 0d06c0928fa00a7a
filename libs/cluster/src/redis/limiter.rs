//! Rate limits by GCRA in one script, with the same decisions as in one process.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use trapline_store::{Limiter, Rate, RateDecision, Result};

use super::{
    client::{Client, Script},
    meters::RedisCall,
};

/// The longest time of an allowance that is told apart: in nanoseconds it fits the 53 bits that a
/// script's numbers have.
const MAX_PERIOD: Duration = Duration::from_hours(90 * 24);

/// Allowances in Redis.
pub(super) struct RedisLimiter {
    client: Arc<Client>,
    script: Script,
}

/// What an allowance is made of, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    unit: u64,
    full: u64,
}

impl RedisLimiter {
    pub(super) fn new(client: Arc<Client>) -> Self {
        Self { client, script: Script::new(include_str!("scripts/take.lua")) }
    }
}

#[async_trait]
impl Limiter for RedisLimiter {
    async fn take(&self, key: &str, rate: Rate) -> Result<RateDecision> {
        let (clock, allowance) = (&self.client.clock, Allowance::of(rate));
        let now = u64::try_from(clock.now().millis()).unwrap_or_default();
        let ttl = clock.real(Duration::from_nanos(allowance.full)).as_millis() + 1;
        let ttl = u64::try_from(ttl).unwrap_or(u64::MAX);
        let arguments = [now, allowance.unit, allowance.full, ttl];
        let key = self.client.key("limit", key);
        let beyond = self.client.run(RedisCall::Limit, &self.script, &key, &arguments).await?;
        Ok(allowance.decision(beyond))
    }
}

impl Allowance {
    fn of(rate: Rate) -> Self {
        let burst = u64::from(rate.burst.max(1));
        let per = u64::try_from(rate.per.min(MAX_PERIOD).as_nanos()).unwrap_or(u64::MAX);
        let unit = (per / burst).max(1);
        Self { unit, full: unit.saturating_mul(burst) }
    }

    /// The decision when the next unit comes `beyond` nanoseconds too early.
    fn decision(self, beyond: i64) -> RateDecision {
        match u64::try_from(beyond) {
            Ok(early) if early > 0 => {
                RateDecision::Limited { retry_after: Duration::from_nanos(early) }
            }
            _ => {
                let left = beyond.unsigned_abs() / self.unit;
                RateDecision::Allowed { remaining: u32::try_from(left).unwrap_or(u32::MAX) }
            }
        }
    }
}
