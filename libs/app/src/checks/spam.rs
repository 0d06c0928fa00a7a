//! What engines say of a message.

use std::sync::Arc;

use trapline_checks::spam;
use trapline_model::{MessageId, Principal, SpamReport};

use super::Checks;
use crate::{Error, Result};

impl Checks {
    /// What `engine` says of a message; the built-in one when none is named.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, [`Error::Invalid`] when no engine has that
    /// name, [`Error::Damaged`] when its bytes are gone or not those that were stored, and
    /// [`Error::Unavailable`] when too much work waits for a processor.
    pub async fn spam(
        &self,
        by: &Principal,
        id: MessageId,
        engine: Option<&str>,
    ) -> Result<Arc<SpamReport>> {
        if engine.is_some_and(|name| name != spam::ENGINE) {
            self.messages.record(by.team, id).await?;
            let message = format!("this server has the engine {} only", spam::ENGINE);
            return Err(Error::invalid("engine", "engine_not_configured", message));
        }
        let (threshold, now) = (self.settings.spam_threshold, self.clock.now());
        let check = move |raw: &[u8]| spam::check(raw, id.received_at(), threshold, now);
        self.report(by, id, ("spam", spam::ENGINE), check).await
    }
}
