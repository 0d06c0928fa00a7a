//! Checks of a message, computed from its stored bytes when somebody asks. It uses messages.
//!
//! Nothing is written, and nothing runs on the receiving path.

mod html;
mod spam;
mod unsubscribe;

use std::sync::Arc;

use bytes::Bytes;
use trapline_model::{MessageId, Principal};
use trapline_store::Clock;

use crate::{Result, Settings, messages::Messages, parts::Parts};

/// Checks messages.
pub struct Checks {
    clock: Clock,
    settings: Arc<Settings>,
    messages: Arc<Messages>,
}

impl Checks {
    pub(crate) fn new(parts: &Parts, messages: Arc<Messages>) -> Self {
        Self { clock: parts.clock.clone(), settings: parts.settings.clone(), messages }
    }

    /// Runs a check over a message's bytes; beside the reactor when they are many.
    async fn run<T: Send + 'static>(
        &self,
        by: &Principal,
        id: MessageId,
        check: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T> {
        let raw: Bytes = self.messages.raw(by, id).await?;
        self.messages.run_parser(raw, check).await
    }
}
