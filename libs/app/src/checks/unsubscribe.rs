//! How one unsubscribes from a message.

use std::sync::Arc;

use trapline_checks::unsubscribe;
use trapline_model::{MessageId, Principal, UnsubscribeReport};

use super::Checks;
use crate::Result;

impl Checks {
    /// What is to be said of unsubscribing from a message. Nobody is asked.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when the team has no such message,
    /// [`Error::Damaged`](crate::Error::Damaged) when its bytes are gone or not those that were stored, and
    /// [`Error::Unavailable`](crate::Error::Unavailable) when too much work waits for a processor.
    pub async fn unsubscribe(
        &self,
        by: &Principal,
        id: MessageId,
    ) -> Result<Arc<UnsubscribeReport>> {
        self.report(by, id, ("unsubscribe", ""), unsubscribe::check).await
    }
}
