//! The Retry-After header (RFC 9110, section 10.2.3).

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderValue;
use trapline_model::Time;

/// The longest wait that a receiver can ask for.
const MAX_DELAY: Duration = Duration::from_hours(24);

/// When the receiver wants the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// So long after the answer; at most 24 h.
    Delay(Duration),
    /// At this time by the receiver's clock.
    At(Time),
}

impl RetryAfter {
    /// Reads seconds or an HTTP date in any of its three forms; `None` for anything else.
    pub(super) fn parse(value: &HeaderValue) -> Option<Self> {
        let text = value.to_str().ok()?.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let seconds = text.parse().map_or(MAX_DELAY, Duration::from_secs);
            return Some(Self::Delay(seconds.min(MAX_DELAY)));
        }
        let date = httpdate::parse_http_date(text).ok()?;
        let millis = date.duration_since(UNIX_EPOCH).ok()?.as_millis();
        Some(Self::At(Time::from_millis(i64::try_from(millis).ok()?)))
    }

    /// How long to wait from `now`: at most 24 h, zero for a time that is over.
    #[must_use]
    pub fn delay(self, now: Time) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::At(time) => time.since(now).min(MAX_DELAY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_bounded() {
        let now = Time::from_millis(784_111_777_000);
        let cases = [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("86401", Some(86_400)),
            ("99999999999999999999999999", Some(86_400)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(86_400)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 06 Nov 1994", None),
        ];
        for (text, seconds) in cases {
            let read = RetryAfter::parse(&HeaderValue::from_static(text));
            let delay = read.map(|read| read.delay(now).as_secs());
            assert_eq!(delay, seconds, "{text:?}");
        }
    }
}
