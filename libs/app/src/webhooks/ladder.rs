//! What an attempt's outcome means, and when the next attempt is due.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use trapline_model::DeliveryId;

use super::{Failure, Outcome, Reply};

/// The pauses after the first attempt, the second, and so on.
const PAUSES: [Duration; 7] = [
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(2),
    Duration::from_hours(4),
];
/// The longest pause that a receiver can ask for.
const LONGEST: Duration = Duration::from_hours(4);

/// What an outcome means for its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Succeeded,
    /// No attempt follows.
    Failed(&'static str),
    /// Another attempt may do better; the receiver may have said when.
    Again(&'static str, Option<Duration>),
}

pub(super) fn verdict(outcome: &Outcome) -> Verdict {
    match outcome.result {
        Ok(Reply { status: 200..=299, .. }) => Verdict::Succeeded,
        Ok(Reply { status: 429, retry_after }) => Verdict::Again("http_4xx", retry_after),
        Ok(Reply { status: 408, .. }) => Verdict::Again("http_4xx", None),
        Ok(Reply { status: 503, retry_after }) => Verdict::Again("http_5xx", retry_after),
        Ok(Reply { status: 400..=499, .. }) => Verdict::Failed("http_4xx"),
        Ok(Reply { status: ..=399, .. }) => Verdict::Failed("redirect_not_followed"),
        Ok(Reply { status: 500.., .. }) => Verdict::Again("http_5xx", None),
        Err(Failure { code, is_final: true }) => Verdict::Failed(code),
        Err(Failure { code, is_final: false }) => Verdict::Again(code, None),
    }
}

/// The pause after the attempt with this number; none after the last.
///
/// It is the ladder's, 10 % more or less, so that what failed together does not come back together.
/// What a receiver asked for is kept between the ladder's pause and twice that, and spread by up to
/// 10 % more. The spread is the delivery's own, so that a repeated job comes to the same time.
pub(super) fn pause(
    delivery: DeliveryId,
    attempt: u32,
    asked: Option<Duration>,
) -> Option<Duration> {
    let rung = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let base = *PAUSES.get(rung)?;
    let spread = spread(delivery, attempt);
    Some(match asked {
        None => base * (900 + spread * 2) / 1000,
        Some(asked) => asked.clamp(base, base * 2).min(LONGEST) * (1000 + spread) / 1000,
    })
}

/// 0 to 100.
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

    fn reply(status: u16) -> Outcome {
        let retry_after = Some(Duration::from_secs(45));
        Outcome { took: Duration::ZERO, result: Ok(Reply { status, retry_after }) }
    }

    #[test]
    fn each_answer_has_its_meaning() {
        let asked = Some(Duration::from_secs(45));
        let cases = [
            (200, Verdict::Succeeded),
            (204, Verdict::Succeeded),
            (299, Verdict::Succeeded),
            (101, Verdict::Failed("redirect_not_followed")),
            (301, Verdict::Failed("redirect_not_followed")),
            (308, Verdict::Failed("redirect_not_followed")),
            (400, Verdict::Failed("http_4xx")),
            (404, Verdict::Failed("http_4xx")),
            (410, Verdict::Failed("http_4xx")),
            (408, Verdict::Again("http_4xx", None)),
            (429, Verdict::Again("http_4xx", asked)),
            (500, Verdict::Again("http_5xx", None)),
            (502, Verdict::Again("http_5xx", None)),
            (503, Verdict::Again("http_5xx", asked)),
        ];
        for (status, wanted) in cases {
            assert_eq!(verdict(&reply(status)), wanted, "{status}");
        }
        for is_final in [true, false] {
            let result = Err(Failure { code: "x", is_final });
            let found = verdict(&Outcome { took: Duration::ZERO, result });
            let wanted = if is_final { Verdict::Failed("x") } else { Verdict::Again("x", None) };
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn pauses_stay_within_a_tenth_of_the_ladder() {
        for number in 0..2_000_u128 {
            let id = DeliveryId(Uuid::from_u128(number));
            for (attempt, base) in (1..).zip(PAUSES) {
                let pause = pause(id, attempt, None).unwrap();
                assert!(pause >= base * 9 / 10 && pause <= base * 11 / 10, "{attempt}: {pause:?}");
            }
            assert_eq!((pause(id, 0, None), pause(id, 8, None)), (None, None));
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
            let pause = pause(id, attempt, Some(asked)).unwrap();
            assert!(pause >= least && pause <= least * 11 / 10, "{attempt} {asked:?}: {pause:?}");
        }
    }
}
