//! Instants as the API writes them.

use std::{fmt, str::FromStr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use uuid::Uuid;

/// Text that is not an ISO 8601 instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an ISO 8601 time, such as 2026-01-31T09:30:00.123Z")]
pub struct InvalidTime;

/// An instant to the millisecond, written as ISO 8601 in UTC: `2026-01-31T09:30:00.123Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Timestamp);

impl Time {
    /// Milliseconds since 1970, cut to what a timestamp can hold (the years -9999 to 9999).
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        let end = if millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Self(Timestamp::from_millisecond(millis).unwrap_or(end))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// The instant in a UUIDv7.
    #[must_use]
    pub fn of_uuid(uuid: Uuid) -> Self {
        let (seconds, nanos) = uuid.get_timestamp().map_or((0, 0), |time| time.to_unix());
        let millis = seconds.saturating_mul(1000).saturating_add(u64::from(nanos / 1_000_000));
        Self::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// How long from `earlier` until this instant; zero when it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(
            u64::try_from(self.millis().saturating_sub(earlier.millis())).unwrap_or(0),
        )
    }

    /// This instant minus `by`, cut to what a timestamp can hold.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.millis().saturating_sub(by))
    }

    /// This instant plus `by`, cut to what a timestamp can hold.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.millis().saturating_add(by))
    }
}

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self::from_millis(at.as_millisecond())
    }
}

impl From<Time> for Timestamp {
    fn from(at: Time) -> Self {
        at.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Time {
    type Err = InvalidTime;
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        text.parse::<Timestamp>().map(Self::from).map_err(|_| InvalidTime)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl utoipa::PartialSchema for Time {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(
                utoipa::openapi::KnownFormat::DateTime,
            )))
            .description(Some("ISO 8601 in UTC with milliseconds."))
            .examples([serde_json::json!("2026-01-31T09:30:00.123Z")])
            .into()
    }
}

impl utoipa::ToSchema for Time {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn text_has_milliseconds_and_utc() {
        assert_eq!(Time::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        let time: Time = "2026-01-31T10:30:00.123456+01:00".parse().unwrap();
        assert_eq!(time.to_string(), "2026-01-31T09:30:00.123Z");
        assert!("2026-01-31".parse::<Time>().is_err());
    }
}
