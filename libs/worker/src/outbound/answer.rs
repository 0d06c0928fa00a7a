//! The outcome of a request.

use std::time::Duration;

use super::{OutboundFailure, RetryAfter};

/// Outcome of a request, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedResponse {
    /// From the start to the status line, or to the failure.
    pub took: Duration,
    /// What came back. A status that is no success is a response too.
    pub outcome: Result<Response, OutboundFailure>,
}

/// The head of an HTTP answer. The body is not read: whoever names an address could otherwise see
/// what is behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// 200 to 999.
    pub status: u16,
    /// When the receiver wants the next try (RFC 9110, section 10.2.3).
    pub retry_after: Option<RetryAfter>,
}

impl TimedResponse {
    /// The status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.outcome.ok().map(|response| response.status)
    }
}
