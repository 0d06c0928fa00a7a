//! What follows from the outcome of an attempt, and when the next attempt is due.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use trapline_model::DeliveryId;

use super::{WebhookFailure, WebhookOutcome, WebhookReply};

/// The delays after the first attempt, the second, and so on.
const BACKOFF: [Duration; 7] = [
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(2),
    Duration::from_hours(4),
];
/// The longest delay that a receiver can ask for.
const MAX_BACKOFF: Duration = Duration::from_hours(4);

/// What follows for a delivery from the outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryDecision {
    Succeeded,
    /// No attempt follows.
    Failed(&'static str),
    /// Another attempt follows; with the delay that the receiver asked for.
    Retry(&'static str, Option<Duration>),
}

pub(crate) fn decide(outcome: &WebhookOutcome) -> DeliveryDecision {
    match outcome.result {
        Ok(WebhookReply { status: 200..=299, .. }) => DeliveryDecision::Succeeded,
        Ok(WebhookReply { status: 429, retry_after }) => {
            DeliveryDecision::Retry("http_4xx", retry_after)
        }
        Ok(WebhookReply { status: 408, .. }) => DeliveryDecision::Retry("http_4xx", None),
        Ok(WebhookReply { status: 503, retry_after }) => {
            DeliveryDecision::Retry("http_5xx", retry_after)
        }
        Ok(WebhookReply { status: 400..=499, .. }) => DeliveryDecision::Failed("http_4xx"),
        Ok(WebhookReply { status: ..=399, .. }) => {
            DeliveryDecision::Failed("redirect_not_followed")
        }
        Ok(WebhookReply { status: 500.., .. }) => DeliveryDecision::Retry("http_5xx", None),
        Err(WebhookFailure { code, is_final: true }) => DeliveryDecision::Failed(code),
        Err(WebhookFailure { code, is_final: false }) => DeliveryDecision::Retry(code, None),
    }
}

/// The delay after the attempt with this number, from 1; `None` after the last.
///
/// It is that of [`BACKOFF`], 10 % more or less, so that what failed together does not come back
/// together. What a receiver asked for is kept between that delay and twice as much, and spread by up to
/// 10 % more. The spread is a hash of the delivery and the attempt, so that a repeated job comes to the
/// same time.
pub(crate) fn backoff_after(
    delivery: DeliveryId,
    attempt: u32,
    asked: Option<Duration>,
) -> Option<Duration> {
    let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let base = *BACKOFF.get(index)?;
    let spread = spread(delivery, attempt);
    Some(match asked {
        None => base * (900 + spread * 2) / 1000,
        Some(asked) => asked.clamp(base, base * 2).min(MAX_BACKOFF) * (1000 + spread) / 1000,
    })
}

/// A number from 0 to 100 that is the same for the same delivery and attempt.
fn spread(delivery: DeliveryId, attempt: u32) -> u32 {
    let hash =
        Sha256::new().chain_update(delivery.0.as_bytes()).chain_update(attempt.to_be_bytes());
    let hash = hash.finalize();
    u32::from(u16::from_be_bytes([hash[0], hash[1]])) % 101
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use uuid::Uuid;

    fn reply(status: u16) -> WebhookOutcome {
        let retry_after = Some(Duration::from_secs(45));
        WebhookOutcome { took: Duration::ZERO, result: Ok(WebhookReply { status, retry_after }) }
    }

    #[test]
    fn each_answer_has_its_meaning() {
        let asked = Some(Duration::from_secs(45));
        let cases = [
            (200, DeliveryDecision::Succeeded),
            (204, DeliveryDecision::Succeeded),
            (299, DeliveryDecision::Succeeded),
            (101, DeliveryDecision::Failed("redirect_not_followed")),
            (301, DeliveryDecision::Failed("redirect_not_followed")),
            (308, DeliveryDecision::Failed("redirect_not_followed")),
            (400, DeliveryDecision::Failed("http_4xx")),
            (404, DeliveryDecision::Failed("http_4xx")),
            (410, DeliveryDecision::Failed("http_4xx")),
            (408, DeliveryDecision::Retry("http_4xx", None)),
            (429, DeliveryDecision::Retry("http_4xx", asked)),
            (500, DeliveryDecision::Retry("http_5xx", None)),
            (502, DeliveryDecision::Retry("http_5xx", None)),
            (503, DeliveryDecision::Retry("http_5xx", asked)),
        ];
        for (status, wanted) in cases {
            assert_eq!(decide(&reply(status)), wanted, "{status}");
        }
        for is_final in [true, false] {
            let result = Err(WebhookFailure { code: "x", is_final });
            let found = decide(&WebhookOutcome { took: Duration::ZERO, result });
            let wanted = if is_final {
                DeliveryDecision::Failed("x")
            } else {
                DeliveryDecision::Retry("x", None)
            };
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn delays_stay_within_a_tenth_of_the_schedule() {
        for number in 0..2_000_u128 {
            let id = DeliveryId(Uuid::from_u128(number));
            for (attempt, base) in (1..).zip(BACKOFF) {
                let backoff = backoff_after(id, attempt, None).unwrap();
                assert!(
                    backoff >= base * 9 / 10 && backoff <= base * 11 / 10,
                    "{attempt}: {backoff:?}"
                );
            }
            assert_eq!((backoff_after(id, 0, None), backoff_after(id, 8, None)), (None, None));
        }
        let spreads = (0..2_000).map(|n| spread(DeliveryId(Uuid::from_u128(n)), 1));
        let (low, high) = spreads.fold((100, 0), |(low, high), n| (low.min(n), high.max(n)));
        assert_eq!((low, high), (0, 100));
    }

    #[test]
    fn what_the_receiver_asks_for_is_kept_within_bounds() {
        let id = DeliveryId(Uuid::from_u128(7));
        let seconds = Duration::from_secs;
        let cases = [
            (1, seconds(0), seconds(30)),
            (1, seconds(45), seconds(45)),
            (1, seconds(86_400), seconds(60)),
            (3, seconds(900), seconds(900)),
            (6, Duration::from_hours(9), Duration::from_hours(4)),
            (7, Duration::from_hours(9), Duration::from_hours(4)),
        ];
        for (attempt, asked, least) in cases {
            let backoff = backoff_after(id, attempt, Some(asked)).unwrap();
            assert!(
                backoff >= least && backoff <= least * 11 / 10,
                "{attempt} {asked:?}: {backoff:?}"
            );
        }
    }
}
