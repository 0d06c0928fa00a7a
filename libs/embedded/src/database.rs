//! What the four durable ports share.

use std::sync::Arc;

use trapline_store::{Clock, Result};

use crate::{
    Options,
    lanes::Lanes,
    open::{self, Connections, OpenError},
    readers::Readers,
    store::Tables,
    writer::{Session, Writer},
};

/// The open database.
pub(crate) struct Database {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) tables: Tables,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) clock: Clock,
}

impl Database {
    /// Opens the files and starts the writer; blocks.
    pub(crate) fn open(options: &Options) -> Result<Self, OpenError> {
        let Connections { writer, readers } = open::open(options, Readers::COUNT)?;
        let lanes = Arc::new(Lanes::default());
        let clock = options.clock.clone();
        let writer = Writer::start(writer, options.durability, clock.clone(), Arc::clone(&lanes))
            .map_err(OpenError::Threads)?;
        let (readers, tables) = (Readers::new(readers), Tables::default());
        Ok(Self { writer, readers, tables, lanes, clock })
    }

    /// Runs `work`, which holds about `bytes` bytes, in the writer's next commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(true, bytes, work).await
    }

    /// Like `write`, for what may be undone by a power loss without harm: the commit does not wait
    /// for the disk unless another's does.
    pub(crate) async fn write_relaxed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(false, 0, work).await
    }
}
