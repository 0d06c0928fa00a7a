//! Metrics of mock identity providers.

use std::time::Duration;

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

const IDP_REQUESTS: &str = "trapline_idp_requests_total";
const IDP_SIGN_INS: &str = "trapline_idp_sign_ins_total";
const IDP_FAULTS: &str = "trapline_idp_faults_total";
const IDP_EVENTS_SUPPRESSED: &str = "trapline_idp_events_suppressed_total";
const IDP_EVENTS_LOST: &str = "trapline_idp_events_lost_total";
const IDP_SIGNATURE_SECONDS: &str = "trapline_idp_signature_seconds";
const IDP_KEYS_READY: &str = "trapline_idp_keys_ready";

pub(super) fn describe() {
    describe_counter!(
        IDP_REQUESTS,
        "Requests at mock identity providers that their logs tell of, by endpoint and outcome."
    );
    describe_counter!(IDP_FAULTS, "Faults of mock identity providers that were used, by scenario.");
    describe_counter!(IDP_SIGN_INS, "Sign-ins at these by protocol and outcome.");
    describe_counter!(
        IDP_EVENTS_SUPPRESSED,
        "Entries of activity logs of mock identity providers that were left out of a flood."
    );
    describe_histogram!(
        IDP_SIGNATURE_SECONDS,
        Unit::Seconds,
        "Signatures of mock identity providers by algorithm, without the wait for a processor."
    );
    describe_counter!(IDP_EVENTS_LOST, "Entries of these logs that could not be written.");
    describe_gauge!(IDP_KEYS_READY, "RSA keys that are ready for mock identity providers.");
}

/// A request at a mock identity provider; both words are of a fixed list.
pub fn idp_request(endpoint: &'static str, outcome: &'static str) {
    counter!(IDP_REQUESTS, "endpoint" => endpoint, "outcome" => outcome).increment(1);
}

/// A sign-in at a mock identity provider that was decided; both words are of a fixed list.
pub fn idp_sign_in(protocol: &'static str, outcome: &'static str) {
    counter!(IDP_SIGN_INS, "protocol" => protocol, "outcome" => outcome).increment(1);
}

pub(crate) fn idp_fault(scenario: &'static str) {
    counter!(IDP_FAULTS, "scenario" => scenario).increment(1);
}

pub(crate) fn idp_event_suppressed() {
    counter!(IDP_EVENTS_SUPPRESSED).increment(1);
}

pub(crate) fn idp_event_lost() {
    counter!(IDP_EVENTS_LOST).increment(1);
}

/// A signature was made.
pub(crate) fn idp_signature(alg: &'static str, took: Duration) {
    histogram!(IDP_SIGNATURE_SECONDS, "alg" => alg).record(took.as_secs_f64());
}

/// Keys that are ready right now.
pub(crate) fn idp_keys_ready(count: usize) {
    #[expect(clippy::cast_precision_loss, reason = "there are a handful")]
    gauge!(IDP_KEYS_READY).set(count as f64);
}
