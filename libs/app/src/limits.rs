//! Allowances that bound what users cause.

use std::sync::Arc;

use trapline_store::{Limiter, Rate, RateDecision};

use crate::{Error, Result, log_throttle::LogThrottle, metrics};

/// Takes from allowances, which all processes share.
#[derive(Clone)]
pub(crate) struct Limits(Arc<dyn Limiter>);

impl Limits {
    pub(crate) fn new(limiter: Arc<dyn Limiter>) -> Self {
        Self(limiter)
    }

    /// Takes one unit of the allowance that `key` names.
    ///
    /// # Errors
    ///
    /// When the limiter does not answer.
    pub(crate) async fn take(&self, key: &str, rate: Rate) -> Result<RateDecision> {
        Ok(self.0.take(key, rate).await?)
    }

    /// Takes one unit of an allowance; `None` when the limiter does not answer, which must not stop
    /// the product.
    pub(crate) async fn take_if_answered(&self, key: &str, rate: Rate) -> Option<RateDecision> {
        static LINE: LogThrottle = LogThrottle::new();
        let taken = self.0.take(key, rate).await;
        taken
            .inspect_err(|error| {
                metrics::limit_open();
                if let Some(left_out) = LINE.due() {
                    tracing::warn!(%error, left_out, "the rate limiter does not answer");
                }
            })
            .ok()
    }

    /// Takes one unit from each of several allowances of a subject, which each have a `per` of their
    /// own. What was taken from those before one that is used up stays taken.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] when one of them is used up, with the time in which a unit is there again.
    pub(crate) async fn take_all(&self, what: &str, subject: &str, rates: &[Rate]) -> Result<()> {
        for rate in rates {
            let key = format!("{what}:{}s:{subject}", rate.per.as_secs());
            if let RateDecision::Limited { retry_after } = self.take(&key, *rate).await? {
                return Err(Error::TooMany { retry_after });
            }
        }
        Ok(())
    }
}
