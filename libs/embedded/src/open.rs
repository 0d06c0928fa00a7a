//! Opening the database: the folder, the settings, the schema's version.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::{
    Durability, Options,
    disk::{Disk, no_room},
    schema,
    values::is_full,
};

/// The database's file within the folder.
pub(crate) const DATABASE_FILE: &str = "trapline.db";

/// Bytes. Rows of some 700 bytes and mails of some 6 KB take less room and less processor time in
/// pages of 8 KB than in pages of 4 KB; `examples/commit_rate.rs` measures it.
const PAGE_BYTES: u32 = 8192;

/// The writer's and each reader's own page cache in KB; the file system's cache is behind them.
const WRITER_CACHE_KB: i64 = 8 << 10;
const READER_CACHE_KB: i64 = 2 << 10;

/// How long to wait for an operator's command that writes at the same moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements that a connection keeps compiled.
const CACHED_STATEMENTS: usize = 128;

/// Why a folder cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder or the database's file cannot be made or written.
    #[error("cannot write in the data folder: {path}: {source}")]
    Folder {
        /// What was to be written.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The data is of a release after this one.
    #[error(
        "{path} was written by a newer release (schema {found}, this one knows up to {known}): \
         start that release, or restore an older backup"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema's version.
        found: i64,
        /// The newest version that this release knows.
        known: i64,
    },
    /// There is no room on the disk.
    #[error("the disk that holds the data folder {path} is full: make room there, and start again")]
    Full {
        /// The folder.
        path: PathBuf,
    },
    /// SQLite refuses the database.
    #[error("cannot open the database {path}: {source}")]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
    /// The writer's thread does not start.
    #[error("cannot start a thread: {0}")]
    Threads(#[source] io::Error),
}

/// The connections of one process.
pub(crate) struct Connections {
    pub(crate) writer: Connection,
    /// Moves the write-ahead log into the database.
    pub(crate) checkpoints: Connection,
    pub(crate) readers: Vec<Connection>,
}

/// Opens the database with its writer and `readers` other connections. A full disk's reserve is given
/// up for it.
pub(crate) fn open(
    options: &Options,
    disk: &Disk,
    readers: usize,
) -> Result<Connections, OpenError> {
    let full = |error: &OpenError| error.is_full(disk);
    match try_open(options, readers) {
        Err(error) if full(&error) && disk.give_up() => try_open(options, readers),
        opened => opened,
    }
    .map_err(|error| {
        let path = options.folder.clone();
        if full(&error) { OpenError::Full { path } } else { error }
    })
}

impl OpenError {
    fn is_full(&self, disk: &Disk) -> bool {
        match self {
            Self::Folder { source, .. } => no_room(source),
            Self::Database { source, .. } => {
                let failed = source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
                is_full(source) || (failed && disk.is_full())
            }
            _ => false,
        }
    }
}

fn try_open(options: &Options, readers: usize) -> Result<Connections, OpenError> {
    let path = options.folder.join(DATABASE_FILE);
    folder(&options.folder)?;
    let probe = private().append(true).create(true).open(&path);
    probe.map_err(|source| OpenError::Folder { path: path.clone(), source })?;
    close_to_others(&path);
    let failed = |source| OpenError::Database { path: path.clone(), source };
    let writer = connect(&path, WRITER_CACHE_KB).map_err(failed)?;
    let found = schema::version(&writer).map_err(failed)?;
    if found > schema::VERSION {
        return Err(OpenError::Newer { path, found, known: schema::VERSION });
    }
    prepare(&writer, options.durability).map_err(failed)?;
    let checkpoints = checkpoints(&path, options.durability).map_err(failed)?;
    let readers = (0..readers).map(|_| reader(&path)).collect::<Result<_, _>>().map_err(failed)?;
    // A new file's name is durable only when its folder is.
    let synced = File::open(&options.folder).and_then(|folder| folder.sync_all());
    synced.map_err(|source| OpenError::Folder { path: options.folder.clone(), source })?;
    Ok(Connections { writer, checkpoints, readers })
}

/// Makes the folder, which holds private mail and so is for its owner only.
pub(crate) fn folder(path: &Path) -> Result<(), OpenError> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.recursive(true).create(path);
    made.map_err(|source| OpenError::Folder { path: path.to_owned(), source })
}

/// Files that only their owner reads.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes everybody else's rights to the database and its log, which earlier releases left open. SQLite
/// makes a log with the rights of its database. A file system without rights refuses, and is left.
fn close_to_others(database: &Path) {
    #[cfg(unix)]
    for end in ["", "-wal", "-shm"] {
        let mut path = database.as_os_str().to_owned();
        path.push(end);
        let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(path, owner_only).ok();
    }
}

fn connect(path: &Path, cache: i64) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.pragma_update(None, "cache_size", -cache)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Mapped pages would count as this process's memory.
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}

/// Makes an empty file that only its owner reads.
pub(crate) fn private_file(path: &Path) -> io::Result<()> {
    private().write(true).create_new(true).open(path).map(drop)
}

/// Copies the database. That is no reader's work for SQLite, though it writes nothing there.
pub(crate) fn copier(path: &Path) -> rusqlite::Result<Connection> {
    connect(path, READER_CACHE_KB)
}

fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, READER_CACHE_KB)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// SQLite syncs the log before it moves pages, and the database after, in each way of committing.
fn checkpoints(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let connection = connect(path, READER_CACHE_KB)?;
    synchronous(&connection, durability)?;
    Ok(connection)
}

/// Settings of the file, the first two of which only an empty one takes, and its tables.
fn prepare(writer: &Connection, durability: Durability) -> rusqlite::Result<()> {
    writer.pragma_update(None, "page_size", PAGE_BYTES)?;
    writer.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    writer.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    synchronous(writer, durability)?;
    schema::create(writer)
}

/// Chooses whether commits wait for the disk; only between transactions.
pub(crate) fn synchronous(writer: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let level = match durability {
        Durability::Power => "FULL",
        Durability::Process => "NORMAL",
    };
    writer.pragma_update(None, "synchronous", level)
}
