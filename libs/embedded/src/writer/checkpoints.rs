//! Moves the write-ahead log into the database, beside the thread that writes.
//!
//! SQLite's own checkpoints run within a commit: who waits for that commit then waits for megabytes to
//! be copied and synced. Here another thread copies while commits go on, and the writer moves only
//! what was added meanwhile. With everything moved, SQLite begins the log anew.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use rusqlite::{Connection, hooks::Wal};

/// The length at which the log is moved, in bytes. A page that changes often is moved once.
const CHECKPOINT_BYTES: u64 = 32 << 20;
/// The length at which the writer moves it whatever is under way, in bytes.
const MAX_LOG_BYTES: u64 = 4 * CHECKPOINT_BYTES;
/// What is left to the writer, in bytes.
const MAX_LEFT_BYTES: u64 = 1 << 20;
/// How often the thread comes back for what was added while it copied.
const MAX_ROUNDS: u32 = 4;

/// The log's length, and who moves it.
pub(super) struct Checkpoints {
    log: Arc<Log>,
    /// The length, in pages, at which the thread is woken next.
    next: u64,
    page: u64,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Log {
    /// Pages in the log after the last commit.
    pages: AtomicU64,
    /// Whether all but a little was moved.
    is_moved: AtomicBool,
    /// Held while the thread moves pages: SQLite refuses a second checkpoint.
    moving: Mutex<()>,
}

impl Log {
    fn moving(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoints {
    /// Takes the place of the checkpoints of `writer`, on another connection to the same database.
    pub(super) fn start(writer: &mut Connection, other: Connection) -> io::Result<Self> {
        let page = writer.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0));
        let page = page.map_err(io::Error::other)?;
        let page = page.unsigned_abs().max(1);
        let log = Arc::new(Log::default());
        let told = log.clone();
        let hook = move |_: &mut Wal, pages: i32| {
            told.pages.store(u64::try_from(pages).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(io::Error::other)?;
        let (wake, woken) = sync_channel(1);
        let seen = log.clone();
        let thread = thread::Builder::new()
            .name("sqlite-checkpoint".to_owned())
            .spawn(move || move_when_woken(&other, &woken, &seen, MAX_LEFT_BYTES / page))?;
        Ok(Self { log, next: CHECKPOINT_BYTES / page, page, wake, thread })
    }

    /// Before a transaction: moves what the thread left, if it is done.
    pub(super) fn finish(&self, writer: &Connection) {
        let is_too_long = self.log.pages.load(Ordering::Relaxed) > MAX_LOG_BYTES / self.page;
        if self.log.is_moved.swap(false, Ordering::Acquire) || is_too_long {
            let _moving = self.log.moving();
            move_pages(writer);
        }
    }

    /// After a transaction: wakes the thread when the log is long. While readers keep it from beginning anew
    /// it is tried again after an eighth more.
    pub(super) fn committed(&mut self) {
        let pages = self.log.pages.load(Ordering::Relaxed);
        let limit = CHECKPOINT_BYTES / self.page;
        if pages < limit {
            self.next = limit;
        } else if pages >= self.next {
            self.next = pages + limit / 8;
            // The thread may be awake still; it looks again then.
            self.wake.try_send(()).unwrap_or_default();
        }
    }

    /// Keeps the thread from moving pages.
    pub(super) fn paused(&self) -> MutexGuard<'_, ()> {
        self.log.moving()
    }

    /// Ends the thread.
    pub(super) fn stop(self) {
        drop(self.wake);
        if self.thread.join().is_err() {
            tracing::error!("the thread that moves the write-ahead log broke");
        }
    }
}

fn move_when_woken(connection: &Connection, woken: &Receiver<()>, log: &Log, left: u64) {
    while woken.recv().is_ok() {
        let _moving = log.moving();
        for _ in 0..MAX_ROUNDS {
            let moved = move_pages(connection);
            if log.pages.load(Ordering::Relaxed).saturating_sub(moved) <= left {
                break;
            }
        }
        log.is_moved.store(true, Ordering::Release);
    }
}

/// Moves what no reader needs in its place. Returns how many of the log's pages are moved.
fn move_pages(connection: &Connection) -> u64 {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2));
    match moved {
        Ok(moved) => i64::unsigned_abs(moved),
        Err(error) => {
            tracing::warn!(%error, "the write-ahead log was not moved into the database");
            0
        }
    }
}
