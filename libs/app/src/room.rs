//! Whether there is room for more.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{App, Error, Result};

/// What this process last heard of the room that is left.
#[derive(Debug, Default)]
pub(crate) struct Room {
    is_full: AtomicBool,
}

impl Room {
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

    /// Whether there was none.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}

impl App {
    /// [`Error::StorageFull`] while there is no room for mail, nor for what users add. It is really
    /// tried, at most every 5 s.
    pub async fn room_for_more(&self) -> Result<()> {
        let room = self.ports.store.room().await.map_err(Error::from);
        match &room {
            Ok(()) => self.room.note_room(),
            Err(Error::StorageFull) => self.room.note_full(),
            Err(_) => {}
        }
        room
    }
}
