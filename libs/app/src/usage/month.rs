//! Calendar months in UTC, by which messages are counted.

use jiff::{Timestamp, civil, tz::Offset};
use trapline_model::Time;

/// A calendar month: the year times 100, and the number of the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Month(i64);

impl Month {
    /// The month in which an instant is.
    pub(super) fn of(at: Time) -> Self {
        let at = Offset::UTC.to_datetime(at.into());
        Self::new(at.year().into(), at.month().into())
    }

    fn new(year: i64, month: i64) -> Self {
        Self(year * 100 + month)
    }

    /// As rows have it.
    pub(super) fn number(self) -> i64 {
        self.0
    }

    pub(super) fn next(self) -> Self {
        match (self.0.div_euclid(100), self.0.rem_euclid(100)) {
            (year, 12) => Self::new(year + 1, 1),
            (year, month) => Self::new(year, month + 1),
        }
    }

    /// The instant at which the month begins.
    pub(super) fn begins_at(self) -> Time {
        let (year, month) = (self.0.div_euclid(100), self.0.rem_euclid(100));
        let day = i16::try_from(year).ok().zip(i8::try_from(month).ok());
        let day = day.and_then(|(year, month)| civil::Date::new(year, month, 1).ok());
        let begins = day.and_then(|day| Offset::UTC.to_timestamp(day.into()).ok());
        begins.unwrap_or(Timestamp::MAX).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_where_the_next_begin() {
        for (at, month, begins, next) in [
            ("2026-01-31T23:59:59.999Z", 202_601, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
            ("2026-02-01T00:00:00Z", 202_602, "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
            ("2026-12-31T23:59:59Z", 202_612, "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ] {
            let time = |text: &str| text.parse::<Time>().ok();
            let found = time(at).map(Month::of);
            assert_eq!(found.map(Month::number), Some(month), "{at}");
            assert_eq!(found.map(Month::begins_at), time(begins), "{at}");
            assert_eq!(found.map(|month| month.next().begins_at()), time(next), "{at}");
        }
    }
}
