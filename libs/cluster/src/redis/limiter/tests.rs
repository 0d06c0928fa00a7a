use super::*;

#[test]
fn allowances_fit_a_double() {
    let rates = [
        Rate { burst: 0, per: Duration::from_secs(1) },
        Rate { burst: u32::MAX, per: Duration::ZERO },
        Rate { burst: u32::MAX, per: Duration::MAX },
        Rate { burst: 1, per: Duration::MAX },
    ];
    for rate in rates {
        let Allowance { unit, full } = Allowance::of(rate);
        assert!(unit >= 1 && full >= unit && full + unit < 1 << 54, "{rate:?}");
        assert!(full < 1 << 53, "{rate:?}");
    }
}

#[test]
fn decisions() {
    let allowance = Allowance::of(Rate { burst: 3, per: Duration::from_nanos(31) });
    let limited = |nanos| RateDecision::Limited { retry_after: Duration::from_nanos(nanos) };
    let cases = [
        (-20, RateDecision::Allowed { remaining: 2 }),
        (-19, RateDecision::Allowed { remaining: 1 }),
        (0, RateDecision::Allowed { remaining: 0 }),
        (1, limited(1)),
        (10, limited(10)),
    ];
    for (beyond, decision) in cases {
        assert_eq!(allowance.decision(beyond), decision);
    }
}
