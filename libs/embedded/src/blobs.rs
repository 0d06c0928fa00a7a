//! Message bytes, read from segments without loading more of them than is asked for.

use std::{ops::Range, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, blob::Blob};
use trapline_store::{BlobRef, Blobs, PortError, Result, Tail};

use crate::{database::Database, values::sql};

/// Bytes up to which a read runs on the caller's thread.
const MAX_INLINE_BYTES: u64 = 64 << 10;

/// Segments in SQLite.
pub(crate) struct SqliteBlobs(pub(crate) Arc<Database>);

#[async_trait]
impl Blobs for SqliteBlobs {
    async fn read(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<Bytes> {
        let whole = part.is_none();
        let part = part.unwrap_or(0..blob.len);
        let start = part.start.min(blob.len);
        let len = part.end.min(blob.len).saturating_sub(start);
        let blob = BlobRef { offset: blob.offset.saturating_add(start), len, ..blob.clone() };
        if len <= MAX_INLINE_BYTES {
            return self.0.readers.short(|connection| read(connection, &blob, whole));
        }
        self.0.readers.long(move |connection| read(connection, &blob, whole)).await
    }

    async fn tail(&self, segment: &str, at_most: u64) -> Result<Option<Tail>> {
        let segment = segment.to_owned();
        if at_most <= MAX_INLINE_BYTES {
            return self.0.readers.short(|connection| tail(connection, &segment, at_most));
        }
        self.0.readers.long(move |connection| tail(connection, &segment, at_most)).await
    }

    async fn segment(&self, segment: &str) -> Result<Option<Bytes>> {
        let segment = segment.to_owned();
        self.0
            .readers
            .long(move |connection| {
                let sql_text = "SELECT bytes FROM segment_bytes WHERE name = ?";
                let mut statement = connection.prepare_cached(sql_text).map_err(sql)?;
                let read = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
                let bytes = statement.query_row([segment], read).optional().map_err(sql)?;
                Ok(bytes.map(Bytes::from))
            })
            .await
    }

    async fn remove(&self, segment: &str) -> Result<()> {
        let segment = segment.to_owned();
        self.0
            .write(0, move |transaction| {
                let mut statement =
                    transaction.statement("DELETE FROM segment_bytes WHERE name = ?")?;
                statement.execute([segment]).map_err(sql).map(drop)
            })
            .await
    }
}

fn read(connection: &Connection, blob: &BlobRef, whole: bool) -> Result<Bytes> {
    let bytes = range(connection, blob)?;
    if whole { blob.verified(bytes) } else { Ok(bytes) }
}

/// Opens a segment's bytes; `None` when it is not there.
fn open<'c>(connection: &'c Connection, segment: &str) -> Result<Option<Blob<'c>>> {
    let sql_text = "SELECT seq FROM segment_bytes WHERE name = ?";
    let mut statement = connection.prepare_cached(sql_text).map_err(sql)?;
    let found = statement.query_row([segment], |row| row.get(0)).optional();
    let Some(seq) = found.map_err(sql)? else { return Ok(None) };
    let opened = connection.blob_open("main", "segment_bytes", "bytes", seq, true);
    opened.map(Some).map_err(|error| fault(segment, error))
}

/// Pages that SQLite finds damaged are the segment's own.
fn fault(segment: &str, error: rusqlite::Error) -> PortError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => PortError::Damaged(segment.to_owned()),
        _ => sql(error),
    }
}

fn tail(connection: &Connection, segment: &str, at_most: u64) -> Result<Option<Tail>> {
    let Some(bytes) = open(connection, segment)? else { return Ok(None) };
    let size = bytes.len() as u64;
    let len = at_most.min(size);
    Ok(Some(Tail { bytes: part(&bytes, segment, size - len, len)?, size }))
}

fn range(connection: &Connection, blob: &BlobRef) -> Result<Bytes> {
    let BlobRef { segment, offset, len, .. } = blob;
    let bytes = open(connection, segment)?.ok_or_else(|| PortError::Damaged(segment.clone()))?;
    part(&bytes, segment, *offset, *len)
}

fn part(bytes: &Blob<'_>, segment: &str, offset: u64, len: u64) -> Result<Bytes> {
    let damaged = || PortError::Damaged(segment.to_owned());
    // Memory is asked for only when the segment is known to be that long.
    let end = offset.checked_add(len).filter(|end| *end <= bytes.len() as u64);
    let (start, end) = (usize::try_from(offset), usize::try_from(end.ok_or_else(damaged)?));
    let (start, end) = (start.map_err(|_| damaged())?, end.map_err(|_| damaged())?);
    let mut read = vec![0; end - start];
    bytes.read_at_exact(&mut read, start).map_err(|error| fault(segment, error))?;
    Ok(read.into())
}
