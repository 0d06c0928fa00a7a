//! The adapters for one process: everything in one folder, nothing to install.
//!
//! | port | here |
//! |---|---|
//! | store, queue, intake, blobs | one SQLite database in WAL mode |
//! | bus, limiter, cache | memory, gone with the process |
//!
//! One thread writes, and commits once for everything that waits (group commit); readers never
//! wait for it. What a port call answered with success survives what [`Durability`] names.

mod blobs;
mod bus;
mod cache;
mod database;
mod disk;
mod intake;
mod lanes;
mod limiter;
mod open;
mod queue;
mod readers;
mod schema;
mod snapshot;
mod statements;
mod store;
mod sweep;
mod values;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use trapline_store::{Clock, JobDelivery, Ports, Processes, Result};

use crate::database::Database;
pub use crate::open::OpenError;

/// What a port call's success promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Survives a power loss: each commit waits for the disk (`synchronous=FULL`).
    #[default]
    Power,
    /// Survives a crash of the process, not of the machine (`synchronous=NORMAL`).
    Process,
}

/// How to open the folder.
#[derive(Debug, Clone)]
pub struct Options {
    /// Holds the database; created when it is not there.
    pub folder: PathBuf,
    /// What success promises.
    pub durability: Durability,
    /// The clock of times to live, leases, limits and due jobs.
    pub clock: Clock,
    /// The most that the cache holds, in bytes.
    pub cache_bytes: u64,
    /// What mail leaves free on the disk, in bytes, so that deletes still work; an eighth of the disk
    /// at most. 0 is nothing.
    pub disk_margin: u64,
}

impl Options {
    /// The defaults: durable against power loss, the machine's clock, 16 MB of cache,
    /// 64 MiB of the disk left free.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            durability: Durability::default(),
            clock: Clock::system(),
            cache_bytes: 16 << 20,
            disk_margin: 64 << 20,
        }
    }
}

/// An open folder.
pub struct Embedded {
    database: Arc<Database>,
    ports: Ports,
}

impl Embedded {
    /// Opens the folder, creating what is missing.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says why not.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let (clock, cache_bytes) = (options.clock.clone(), options.cache_bytes);
        let opening = tokio::task::spawn_blocking(move || Database::open(&options));
        let database = Arc::new(opening.await.map_err(|error| OpenError::Threads(error.into()))??);
        let ports = Ports {
            store: Arc::new(store::SqliteStore(Arc::clone(&database))),
            queue: Arc::new(queue::SqliteQueue(Arc::clone(&database))),
            bus: Arc::new(bus::MemoryBus::default()),
            limiter: Arc::new(limiter::MemoryLimiter::new(clock.clone())),
            cache: Arc::new(cache::MemoryCache::new(clock, cache_bytes)),
            intake: Arc::new(intake::SqliteIntake(Arc::clone(&database))),
            blobs: Arc::new(blobs::SqliteBlobs(Arc::clone(&database))),
            job_delivery: JobDelivery::WithRows,
            processes: Processes::One,
        };
        Ok(Self { database, ports })
    }

    /// The ports, all of them in this folder or this process.
    #[must_use]
    pub fn ports(&self) -> Ports {
        self.ports.clone()
    }

    /// Makes the jobs due again that an earlier process had taken when it ended, and had not done. For the
    /// one process that takes jobs, before it takes any. A job that was taken three times without an end
    /// is due when its lease of 30 s is over, as it may be what ended that process.
    ///
    /// # Errors
    ///
    /// When SQLite does not do it.
    pub async fn release_leases(&self) -> Result<()> {
        self.database.write_relaxed(queue::release).await
    }

    /// Removes up to `limit` rows that are past their time, gives up to 4 MB of unused pages back to the
    /// file system, and makes the reserve anew if it was given up. Returns how many rows were removed; there
    /// may be more when that is `limit`.
    ///
    /// # Errors
    ///
    /// When SQLite does not do it, and once the writer has ended.
    pub async fn sweep(&self, limit: usize) -> Result<u64> {
        sweep::sweep(&self.database, limit).await
    }

    /// Bytes that are free on the folder's disk, and bytes of the folder's files.
    ///
    /// # Errors
    ///
    /// When the system does not tell.
    pub fn disk_space(&self) -> std::io::Result<(u64, u64)> {
        self.database.disk.usage()
    }

    /// Copies everything, as it is at one moment, into a folder that another [`Embedded`] can be opened over.
    /// Others go on writing; the write-ahead log grows meanwhile. The folder is made, for this user only.
    ///
    /// # Errors
    ///
    /// [`PortError::StorageFull`](trapline_store::PortError::StorageFull) when the copy has no room; what was copied stays for the
    /// caller to remove. Else when SQLite does not do it.
    pub async fn snapshot(&self, folder: &Path) -> Result<()> {
        snapshot::snapshot(&self.database, folder).await
    }

    /// The length of the database with its log, in bytes: about what a snapshot takes.
    ///
    /// # Errors
    ///
    /// When the system does not tell.
    pub fn size(&self) -> std::io::Result<u64> {
        snapshot::size(&self.database)
    }

    /// Writes each job of the queue into the outbox, as a cluster has it. For a snapshot, which nobody works
    /// on.
    ///
    /// # Errors
    ///
    /// When SQLite does not do it.
    pub async fn put_jobs_into_outbox(&self) -> Result<()> {
        snapshot::put_jobs_into_outbox(&self.database, &*self.ports.store).await
    }

    /// Returns when the writing thread has ended, after which every write fails: by
    /// [`Embedded::close`], or because it broke.
    pub async fn ended(&self) {
        self.database.writer.ended().await;
    }

    /// Commits what has been handed in, moves the write-ahead log into the database, and ends the
    /// writer. Later writes through the ports fail as unavailable.
    pub async fn close(self) {
        self.database.writer.close().await;
    }
}
