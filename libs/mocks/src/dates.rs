//! Dates as providers write them.

use jiff::{Span, Timestamp, tz::TimeZone};
use trapline_model::Time;

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_MS: i64 = 86_400_000;

/// `Fri, 02 Jan 2026 03:04:05 +0000` (RFC 5322, section 3.3).
pub(crate) fn rfc2822(time: Time) -> String {
    let text = time.to_string();
    // 1970 began on a Thursday.
    let day = usize::try_from(time.millis().div_euclid(DAY_MS).rem_euclid(7)).unwrap_or(0);
    let month = text.get(5..7).and_then(|month| month.parse::<usize>().ok()).unwrap_or(1);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let month = MONTHS.get(month.saturating_sub(1)).copied().unwrap_or_default();
    format!("{}, {} {month} {} {} +0000", DAYS[day], part(8, 10), part(0, 4), part(11, 19))
}

/// So many months later: on the same day of the month, or on the last one where there is no such day.
pub(crate) fn after_months(time: Time, months: i64) -> Time {
    let at = Timestamp::from(time).to_zoned_datetime(TimeZone::UTC);
    let later = Span::new().try_months(months).and_then(|span| at.checked_add(span));
    later.map_or(Time::from_millis(i64::MAX), |later| Time::from(later.timestamp()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn dates_have_their_day() {
        let cases = [
            ("2026-01-02T03:04:05.678Z", "Fri, 02 Jan 2026 03:04:05 +0000"),
            ("1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 +0000"),
            ("2000-02-29T23:59:59.999Z", "Tue, 29 Feb 2000 23:59:59 +0000"),
        ];
        for (time, wanted) in cases {
            assert_eq!(rfc2822(time.parse().unwrap()), wanted);
        }
    }

    #[test]
    fn months_are_of_the_calendar() {
        let cases = [
            ("2026-01-31T03:04:05.678Z", 1, "2026-02-28T03:04:05.678Z"),
            ("2028-01-31T00:00:00.000Z", 1, "2028-02-29T00:00:00.000Z"),
            ("2026-12-15T00:00:00.000Z", 12, "2027-12-15T00:00:00.000Z"),
            ("2026-01-31T00:00:00.000Z", 2, "2026-03-31T00:00:00.000Z"),
        ];
        for (time, months, wanted) in cases {
            assert_eq!(after_months(time.parse().unwrap(), months).to_string(), wanted);
        }
        let never = after_months(Time::from_millis(0), i64::MAX);
        assert!(never > Time::from_millis(0));
    }
}
