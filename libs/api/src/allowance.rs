//! What whoever asks may still ask for: the headers that say so.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use trapline_app::{App, Error as AppError, Rate, RateDecision};

use crate::error::whole_seconds;

/// An allowance, and what is left of it; `None` where there is none.
pub(crate) type Metered = Option<(Rate, RateDecision)>;

/// What a client has left that was put off before it was metered, as one that guesses keys is.
pub(crate) fn of_refused(app: &App, error: &AppError) -> Metered {
    let AppError::TooMany { retry_after } = error else { return None };
    let rate = app.settings().address_rate?;
    Some((rate, RateDecision::Limited { retry_after: *retry_after }))
}

/// Writes the headers of draft-ietf-httpapi-ratelimit-headers-11.
pub(crate) fn write(headers: &mut HeaderMap, rate: Rate, decision: RateDecision) {
    let (remaining, full_in) = match decision {
        RateDecision::Allowed { remaining } => (remaining, regained_in(rate, remaining)),
        RateDecision::Limited { retry_after } => (0, retry_after),
    };
    let policy = format!("\"api\";q={};w={}", rate.burst, whole_seconds(rate.per));
    let state = format!("\"api\";r={remaining};t={}", whole_seconds(full_in));
    for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// When the whole allowance is there again.
fn regained_in(rate: Rate, remaining: u32) -> Duration {
    let taken = rate.burst.saturating_sub(remaining);
    rate.per.saturating_mul(taken) / rate.burst.max(1)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_allowance_is_written_as_the_draft_says() {
        let rate = Rate { burst: 600, per: Duration::from_mins(1) };
        let written = |decision| {
            let mut headers = HeaderMap::new();
            write(&mut headers, rate, decision);
            assert_eq!(headers["ratelimit-policy"], "\"api\";q=600;w=60");
            headers["ratelimit"].to_str().unwrap().to_owned()
        };
        assert_eq!(written(RateDecision::Allowed { remaining: 590 }), "\"api\";r=590;t=1");
        assert_eq!(written(RateDecision::Allowed { remaining: 300 }), "\"api\";r=300;t=30");
        let retry_after = Duration::from_millis(2100);
        assert_eq!(written(RateDecision::Limited { retry_after }), "\"api\";r=0;t=3");
    }
}
