//! Allowances that bound what users cause.

use trapline_store::{Rate, Verdict};

use crate::{App, Error, Result};

impl App {
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
