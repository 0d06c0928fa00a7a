//! Live events within the process.

use std::sync::Arc;

use async_trait::async_trait;
use trapline_model::InboxId;
use trapline_store::{Bus, Fanout, LiveEvent, Result, Signal, SignalStream};

/// Publishers and subscribers of one process.
#[derive(Default)]
pub(crate) struct MemoryBus(Fanout);

#[async_trait]
impl Bus for MemoryBus {
    async fn publish(&self, inbox: InboxId, event: LiveEvent) -> Result<()> {
        self.0.send(inbox, Signal::Event(Arc::new(event)));
        Ok(())
    }

    async fn subscribe(&self, inbox: InboxId) -> Result<SignalStream> {
        Ok(self.0.listen(inbox))
    }
}
