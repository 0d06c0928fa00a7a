//! Allowances that bound what users cause.

use trapline_store::{Rate, Verdict};

use crate::{App, Error, Result, repeated::Repeated};

impl App {
    /// Takes one unit of an allowance; `None` when the limiter does not answer, which must not stop
    /// the product.
    pub(crate) async fn take_if_answered(&self, key: &str, rate: Rate) -> Option<Verdict> {
        static LINE: Repeated = Repeated::new();
        let taken = self.ports.limiter.take(key, rate).await;
        taken
            .inspect_err(|error| {
                if let Some(left_out) = LINE.due() {
                    tracing::warn!(%error, left_out, "the rate limiter does not answer");
                }
            })
            .ok()
    }

    /// Takes one unit from each of several allowances of a subject, which each have a `per` of their
    /// own. When one of them is used up, says in which time a unit is there again; what was taken from
    /// those before it stays taken.
    pub(crate) async fn take_all(&self, what: &str, subject: &str, rates: &[Rate]) -> Result<()> {
        for rate in rates {
            let key = format!("{what}:{}s:{subject}", rate.per.as_secs());
            if let Verdict::Limited { retry_after } = self.ports.limiter.take(&key, *rate).await? {
                return Err(Error::TooMany { retry_after });
            }
        }
        Ok(())
    }
}
