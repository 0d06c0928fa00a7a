use super::*;

fn allowed(decision: RateDecision) -> bool {
    matches!(decision, RateDecision::Allowed { .. })
}

#[test]
fn odd_rates_neither_overflow_nor_block() {
    let rates = [
        Rate { burst: 0, per: Duration::from_secs(1) },
        Rate { burst: u32::MAX, per: Duration::ZERO },
        Rate { burst: u32::MAX, per: Duration::MAX },
        Rate { burst: 1, per: Duration::MAX },
    ];
    for rate in rates {
        let (decision, arrival) = decide(None, 0, rate);
        assert!(allowed(decision), "{rate:?}");
        decide(Some(arrival), 0, rate);
    }
}

#[test]
fn a_longer_row_of_takes_is_bounded_by_the_rate() {
    let rate = Rate { burst: 5, per: Duration::from_nanos(50) };
    let mut arrival = None;
    let mut taken = 0;
    for now in 0..1000 {
        let (decision, next) = decide(arrival, now, rate);
        taken += u32::from(allowed(decision));
        arrival = Some(next);
    }
    assert_eq!(taken, 5 + 99);
}

#[test]
fn keys_are_bounded_and_the_used_ones_stay() {
    let mut arrivals = ArrivalTimes::default();
    arrivals.keep("used", 9, 0);
    for number in 0..3 * GENERATION_KEYS {
        arrivals.keep(&number.to_string(), 9, 0);
        let used = arrivals.of("used");
        assert_eq!(used, Some(9));
        arrivals.keep("used", 9, 0);
        assert!(arrivals.young.len() + arrivals.old.len() <= 2 * GENERATION_KEYS);
    }
    assert_eq!(arrivals.of("0"), None);
}
