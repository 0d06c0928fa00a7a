//! Metrics of mocks of other providers' APIs. Providers are of a fixed list; slugs and paths are no labels.

use std::time::Duration;

use metrics::{
    Gauge, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use trapline_model::DeliveryStatus;

use super::number;

const CALLS: &str = "trapline_mock_calls_total";
const SECONDS: &str = "trapline_mock_call_seconds";
const CONFLICTS: &str = "trapline_mock_conflicts_total";
const DELIVERIES: &str = "trapline_mock_deliveries_total";
const BODY_BYTES: &str = "trapline_mock_body_bytes";

pub(super) fn describe() {
    describe_counter!(CALLS, "Calls of mocks by provider and outcome.");
    describe_histogram!(
        SECONDS,
        Unit::Seconds,
        "What calls of mocks took by provider, without what the settings hold them back."
    );
    describe_counter!(
        CONFLICTS,
        "Calls of mocks that were run again, as others changed the same rows."
    );
    describe_counter!(DELIVERIES, "Attempts of webhooks of mocks by provider and outcome.");
    describe_gauge!(BODY_BYTES, Unit::Bytes, "Bytes of requests to mocks that are in memory.");
}

/// A call was answered with this status, or as the settings told it to fail.
pub(crate) fn mock_call(provider: &'static str, status: u16, is_told: bool, took: Duration) {
    let outcome = match status {
        _ if is_told => "told",
        401 => "unauthorized",
        429 => "limited",
        400..500 => "refused",
        500.. => "failed",
        _ => "ok",
    };
    counter!(CALLS, "provider" => provider, "outcome" => outcome).increment(1);
    histogram!(SECONDS, "provider" => provider).record(took.as_secs_f64());
}

/// Somebody else changed what a call was to change.
pub(crate) fn mock_conflict() {
    counter!(CONFLICTS).increment(1);
}

/// A webhook was tried; the outcome is where that left the delivery.
pub(crate) fn mock_delivery(provider: &'static str, status: DeliveryStatus) {
    let outcome = match status {
        DeliveryStatus::Succeeded => "succeeded",
        DeliveryStatus::Pending | DeliveryStatus::Retrying => "retrying",
        DeliveryStatus::Failed => "failed",
    };
    counter!(DELIVERIES, "provider" => provider, "outcome" => outcome).increment(1);
}

/// Counts the bytes of a request until it is dropped.
pub struct MockBody(Gauge, f64);

impl MockBody {
    /// A body of so many bytes came.
    #[must_use]
    pub fn of(bytes: usize) -> Self {
        let (gauge, bytes) = (gauge!(BODY_BYTES), number(bytes as u64));
        gauge.increment(bytes);
        Self(gauge, bytes)
    }
}

impl Drop for MockBody {
    fn drop(&mut self) {
        self.0.decrement(self.1);
    }
}
