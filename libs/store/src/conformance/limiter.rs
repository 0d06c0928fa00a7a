//! Rate limits.

use std::time::Duration;

use super::{Harness, fixtures::fresh};
use crate::{Rate, RateDecision};

const RATE: Rate = Rate { burst: 3, per: Duration::from_mins(1) };

async fn take(h: &impl Harness, key: &str) -> RateDecision {
    h.ports().limiter.take(key, RATE).await.unwrap()
}

async fn spend(h: &impl Harness, key: &str) {
    for remaining in [2, 1, 0] {
        assert_eq!(take(h, key).await, RateDecision::Allowed { remaining }, "{}", h.name());
    }
}

async fn limited(h: &impl Harness, key: &str) {
    let RateDecision::Limited { retry_after } = take(h, key).await else {
        panic!("{}: more than the allowance", h.name());
    };
    assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(20));
}

/// The burst can be taken at once; what follows is told when to come again.
pub async fn a_burst_then_nothing(h: &impl Harness) {
    let key = fresh(h).to_string();
    spend(h, &key).await;
    limited(h, &key).await;
    limited(h, &key).await;
}

/// Units come back one by one, never more than the burst.
pub async fn regained_with_time(h: &impl Harness) {
    let key = fresh(h).to_string();
    spend(h, &key).await;
    h.advance(Duration::from_secs(21)).await;
    assert_eq!(take(h, &key).await, RateDecision::Allowed { remaining: 0 });
    limited(h, &key).await;
    h.advance(Duration::from_mins(2)).await;
    spend(h, &key).await;
    limited(h, &key).await;
}

/// One key's use does not count for another.
pub async fn keys_are_apart(h: &impl Harness) {
    let (one, two) = (fresh(h).to_string(), fresh(h).to_string());
    spend(h, &one).await;
    limited(h, &one).await;
    spend(h, &two).await;
}
