//! The test message: a real mail through the real receiving path.

use std::{sync::Arc, time::Duration};

use jiff::fmt::rfc2822::DateTimePrinter;
use trapline_model::{Envelope, InboxId, Message, Principal};
use trapline_store::{Rate, RateDecision};

use super::{Incoming, MailReceiver};
use crate::{DeliveryTarget, Error, Result};

/// Test messages of one inbox in a minute.
const SAMPLES_PER_MINUTE: u32 = 10;
const TEMPLATE: &str = include_str!("sample.eml");

impl MailReceiver {
    /// Stores the sample message in an inbox, at most ten times a minute, and returns it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and [`Error::TooMany`] beyond ten a minute.
    pub async fn test_message(&self, by: &Principal, id: InboxId) -> Result<Message> {
        let inbox = self.inboxes.record(by.team, id).await?;
        self.meter_samples(id).await?;
        let to = self.inboxes.address(&inbox);
        let from = format!("hello@{}", self.settings.mail_domain);
        let mail = Incoming {
            raw: self.sample(&from, &to).into(),
            envelope: Envelope { from, to: vec![to] },
            targets: vec![DeliveryTarget(Arc::new(inbox))],
        };
        let ids = self.deliver(mail).await?;
        let id = ids.first().copied().ok_or(Error::Unavailable)?;
        self.messages.get(by, id).await
    }

    fn sample(&self, from: &str, to: &str) -> String {
        let date = rfc2822(self.clock.now());
        let number = self.ids.next().simple().to_string();
        TEMPLATE
            .replace('\n', "\r\n")
            .replace("{from}", from)
            .replace("{to}", to)
            .replace("{date}", &date)
            .replace("{id}", &format!("{number}@{}", self.settings.mail_domain))
            .replace("{base_url}", &self.settings.base_url)
            .replace("{code}", &code(&number))
    }

    /// Counts by the minute of the clock, so that no minute sees more than ten.
    async fn meter_samples(&self, id: InboxId) -> Result<()> {
        let now = self.clock.now().millis();
        let minute = now.div_euclid(60_000);
        let rate = Rate { burst: SAMPLES_PER_MINUTE, per: Duration::from_hours(24) };
        match self.limits.take(&format!("sample:{id}:{minute}"), rate).await? {
            RateDecision::Allowed { .. } => Ok(()),
            RateDecision::Limited { .. } => {
                let left = 60_000 - now.rem_euclid(60_000);
                let retry_after = Duration::from_millis(left.unsigned_abs());
                Err(Error::TooMany { retry_after })
            }
        }
    }
}

/// Six digits out of an id's random end.
fn code(number: &str) -> String {
    let random = number.bytes().rev().take(8).fold(0_u32, |sum, byte| sum * 7 + u32::from(byte));
    format!("{:06}", 100_000 + random % 900_000)
}

fn rfc2822(at: trapline_model::Time) -> String {
    DateTimePrinter::new().timestamp_to_string(&at.into()).unwrap_or_default()
}
