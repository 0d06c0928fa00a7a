//! What the four durable ports share.

use std::sync::Arc;

use trapline_store::{Clock, PortError, Result};

use crate::{
    Options,
    disk::{Disk, RoomCheck},
    lanes::LaneWakeups,
    open::{self, Connections, OpenError},
    readers::Readers,
    store::Tables,
    writer::{SpaceShare, Transaction, Writer},
};

/// The open database.
pub(crate) struct Database {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) tables: Tables,
    pub(crate) lanes: Arc<LaneWakeups>,
    pub(crate) clock: Clock,
    pub(crate) disk: Disk,
    pub(crate) room_check: RoomCheck,
}

impl Database {
    /// Opens the files and starts the writer; blocks.
    pub(crate) fn open(options: &Options) -> Result<Self, OpenError> {
        let disk = Disk::of(&options.folder, options.disk_margin);
        let Connections { writer, checkpoints, readers } =
            open::open(options, &disk, Readers::COUNT)?;
        disk.keep_reserve();
        let lanes = Arc::new(LaneWakeups::default());
        let clock = options.clock.clone();
        let (durability, wakeups) = (options.durability, Arc::clone(&lanes));
        let time = clock.clone();
        let writer = Writer::start(writer, checkpoints, durability, time, wakeups, disk.clone())
            .map_err(OpenError::Threads)?;
        let (readers, tables) = (Readers::new(readers), Tables::default());
        Ok(Self { writer, readers, tables, lanes, clock, disk, room_check: RoomCheck::default() })
    }

    /// Runs `work`, which holds about `bytes` bytes, in the writer's next commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(true, bytes, work).await
    }

    /// Like `write`, unless the disk has no more room for this share of it;
    /// [`PortError::StorageFull`] then.
    pub(crate) async fn write_within<T: Send + 'static>(
        &self,
        share: SpaceShare,
        bytes: usize,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let answer = self.writer.run_within(share, true, bytes, work).await;
        if let Err(PortError::StorageFull) = answer {
            self.room_check.forget();
        }
        answer
    }

    /// Like `write`, for what may be undone by a power loss without harm: the commit does not wait
    /// for the disk unless another's does.
    pub(crate) async fn write_relaxed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.run(false, 0, work).await
    }
}
