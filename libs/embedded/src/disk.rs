//! The disk that holds the folder: how much of it is left, and how much of that mail may take.
//!
//! Every write takes room in the log first, also one that deletes. So mail is refused while there is
//! room for what frees room: the margin. A part of the margin is a file, the reserve, which others who
//! write to the disk cannot take; when nothing else is left, it is given up.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use tokio::time::Instant;

/// The reserve's file within the folder.
const RESERVE_FILE: &str = "reserve";
/// The margin is at most the disk divided by this.
const MARGIN_DIVISOR: u64 = 8;
/// The largest reserve, in bytes: far more than deletes and a start take.
const MAX_RESERVE_BYTES: u64 = 4 << 20;
/// With fewer free bytes the disk has no room for any write.
const MIN_ROOM_BYTES: u64 = 256 << 10;

/// The folder's disk.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    folder: PathBuf,
    margin: u64,
}

/// The space of a disk, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    /// What this process may still take.
    pub(crate) free: u64,
    /// What mail leaves.
    pub(crate) margin: u64,
}

impl Disk {
    /// The disk of a folder that is there or will be, and how much mail leaves of it, in bytes.
    pub(crate) fn of(folder: &Path, margin: u64) -> Self {
        Self { folder: folder.to_owned(), margin }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The space of the disk.
    pub(crate) fn space(&self) -> io::Result<Space> {
        let found = statvfs(&self.folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let margin = self.margin.min(bytes(found.f_blocks) / MARGIN_DIVISOR);
        Ok(Space { free: bytes(found.f_bavail), margin })
    }

    /// Bytes that are free on the disk, and bytes that the folder's files take of it.
    pub(crate) fn usage(&self) -> io::Result<(u64, u64)> {
        let mut used = 0_u64;
        for file in fs::read_dir(&self.folder)? {
            used = used.saturating_add(file?.metadata().map_or(0, |file| file.len()));
        }
        Ok((self.space()?.free, used))
    }

    /// Whether there is no room for any write. Some of SQLite's errors do not say so.
    pub(crate) fn is_full(&self) -> bool {
        self.space().is_ok_and(|space| space.free < MIN_ROOM_BYTES)
    }

    /// The room that the reserve holds, in bytes.
    pub(crate) fn reserved(&self) -> u64 {
        fs::metadata(self.reserve()).map_or(0, |file| file.blocks().saturating_mul(512))
    }

    /// Gives up the reserve when less than `bytes` are left.
    pub(crate) fn at_least(&self, bytes: u64) {
        if self.space().is_ok_and(|space| space.free < bytes) && self.give_up() {
            tracing::warn!("the disk is full: the reserve was given up for what frees room");
        }
    }

    /// Gives up the reserve; whether there was one.
    pub(crate) fn give_up(&self) -> bool {
        fs::remove_file(self.reserve()).is_ok()
    }

    /// Makes the reserve anew where it leaves as much again.
    pub(crate) fn keep_reserve(&self) {
        let Ok(space) = self.space() else { return };
        let wanted = (space.margin / 2).min(MAX_RESERVE_BYTES);
        if wanted == 0 || self.reserved() > 0 || space.free < 3 * wanted {
            return;
        }
        if let Err(error) = self.allocate(wanted) {
            // The margin holds without it.
            tracing::debug!(%error, "no room is reserved on the disk");
            self.give_up();
        }
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(true).write(true).mode(0o600);
        Ok(fallocate(file.open(self.reserve())?, FallocateFlags::empty(), 0, bytes)?)
    }

    fn reserve(&self) -> PathBuf {
        self.folder.join(RESERVE_FILE)
    }
}

/// The outcome of the last check for room, and when it was made.
#[derive(Debug, Default)]
pub(crate) struct RoomCheck(Mutex<Option<(Instant, bool)>>);

impl RoomCheck {
    /// The outcome, unless the check is older than `time`.
    pub(crate) fn within(&self, time: Duration) -> Option<bool> {
        let tried = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tried.filter(|(at, _)| at.elapsed() < time).map(|(_, has_room)| has_room)
    }

    pub(crate) fn note(&self, has_room: bool) {
        self.set(Some((Instant::now(), has_room)));
    }

    /// Has the next caller check anew.
    pub(crate) fn forget(&self) {
        self.set(None);
    }

    fn set(&self, tried: Option<(Instant, bool)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tried;
    }
}

/// Whether an error of the system says that there is no room.
pub(crate) fn no_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
