//! Whether what is to be written still has a place on the disk.

use std::path::PathBuf;

use rusqlite::Connection;

use crate::disk::Disk;

/// How much of a disk that fills up a write may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpaceShare {
    /// All: what frees room, and the small rows that go with it.
    All,
    /// All but half of the margin: copies that free more than they take.
    Copies,
    /// All but the margin: mail.
    Mail,
}

/// What a write takes beside its bytes, about: indices, and pages that are not full.
const WRITE_OVERHEAD: u64 = 64 << 10;

/// Unused pages that are given back at a time, 4 MB.
const MAX_VACUUM_PAGES: u64 = 512;

/// The room that is left, in bytes, once the log is moved into the database.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpaceBudget {
    left: u64,
    /// What the log will add to the database, and what there is for it now.
    grows: u64,
    free: u64,
    /// Pages of the database that hold nothing.
    unused: u64,
    page: u64,
    margin: u64,
}

impl SpaceBudget {
    /// How long the log may be, in bytes, where there is little room.
    pub(super) fn longest_log(&self) -> u64 {
        self.margin / 8
    }

    /// Unused pages that may be given back at once: moving others in their place takes room in the log.
    pub(super) fn spare_pages(&self) -> u64 {
        (self.unused / self.page).min(self.free / 2 / self.page).min(MAX_VACUUM_PAGES)
    }

    /// Whether the database has the room to take in the log. It must not take what is left without that.
    pub(super) fn takes_log(&self) -> bool {
        self.grows <= self.free
    }

    /// Takes the room for a write of so many bytes, if there is enough for its share.
    pub(super) fn take(&mut self, share: SpaceShare, bytes: usize) -> bool {
        let keep = match share {
            SpaceShare::All => return true,
            SpaceShare::Copies => self.margin / 2,
            SpaceShare::Mail => self.margin,
        };
        // First in the log, then in the database, where pages that hold nothing are used again.
        let logged = bytes as u64 + bytes as u64 / 8 + WRITE_OVERHEAD;
        let takes = logged + logged.saturating_sub(self.unused);
        let Some(left) = self.left.checked_sub(takes).filter(|left| *left >= keep) else {
            return false;
        };
        (self.left, self.unused) = (left, self.unused.saturating_sub(logged));
        true
    }
}

/// The files whose sizes say how much room there will be.
pub(super) struct DatabaseFiles {
    disk: Disk,
    database: PathBuf,
    log: PathBuf,
}

impl DatabaseFiles {
    /// Of the database that a connection has open.
    pub(super) fn of(connection: &Connection, disk: Disk) -> Self {
        let database = connection.path().unwrap_or_default();
        Self { disk, database: database.into(), log: format!("{database}-wal").into() }
    }

    /// The bytes of the log's file, used or not.
    pub(super) fn log(&self) -> u64 {
        self.log.metadata().map_or(0, |file| file.len())
    }

    /// The room for a batch of so many bytes, of which some must be written whatever there is; `None`
    /// where there is plenty, or nobody can tell.
    pub(super) fn room(
        &self,
        connection: &Connection,
        bytes: usize,
        must: usize,
    ) -> Option<SpaceBudget> {
        let space = self.disk.space().ok()?;
        let plenty = space.margin.saturating_add(4 * bytes as u64).saturating_add(self.log());
        if space.margin == 0 || space.free > plenty.saturating_add(1 << 20) {
            return None;
        }
        self.disk.at_least((2 * must as u64).saturating_add(space.margin / 4));
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let number = |name| pragma(name).map(i64::unsigned_abs).ok();
        let page = number("page_size")?;
        let whole = number("page_count")?.saturating_mul(page);
        let grows = whole.saturating_sub(self.database.metadata().ok()?.len());
        let free = self.disk.space().ok()?.free;
        Some(SpaceBudget {
            left: free.saturating_add(self.disk.reserved()).saturating_sub(grows),
            grows,
            free,
            unused: number("freelist_count")?.saturating_mul(page),
            page: page.max(1),
            margin: space.margin,
        })
    }

    /// Whether the disk has no room for any write.
    pub(super) fn is_full(&self) -> bool {
        self.disk.is_full()
    }
}
