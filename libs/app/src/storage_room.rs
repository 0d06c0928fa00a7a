//! Whether the disk that holds the data has room for more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use trapline_store::Store;

use crate::{Error, Result};

/// What this process last heard of the room that is left.
pub(crate) struct StorageRoom {
    store: Arc<dyn Store>,
    is_full: AtomicBool,
}

impl StorageRoom {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, is_full: AtomicBool::new(false) }
    }

    /// Checks that there is room for mail, and for what users add. It is really tried, at most every
    /// 5 s.
    ///
    /// # Errors
    ///
    /// [`Error::StorageFull`] while there is none.
    pub(crate) async fn check(&self) -> Result<()> {
        let room = self.store.room().await.map_err(Error::from);
        match &room {
            Ok(()) => self.note_room(),
            Err(Error::StorageFull) => self.note_full(),
            Err(_) => {}
        }
        room
    }

    /// Notes that there is none. Logged once: a log may be on the same disk.
    pub(crate) fn note_full(&self) {
        if !self.is_full.swap(true, Ordering::Relaxed) {
            tracing::error!("the disk that holds the data is full: no mail is taken");
        }
    }

    fn note_room(&self) {
        if self.is_full.swap(false, Ordering::Relaxed) {
            tracing::info!("the disk has room again: mail is taken");
        }
    }

    /// Whether there was none when it was last tried.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}
