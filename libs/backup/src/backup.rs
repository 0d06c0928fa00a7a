//! Writing an archive of what a store and its segments hold.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use trapline_store::{
    Blobs, Clock, Record as _, Store, Table, Walked, WalkedRow,
    records::{Message, SegmentAlias, TABLES},
    segment::{self, Class},
};
use uuid::Uuid;

use crate::{
    ArchiveHead, ArchiveSink, BackupError, LEFT_OUT, Manifest,
    error::ArchiveResult,
    lease::BackupLease,
    manifest::HEAD,
    part::{KEYS, ROWS, SEGMENTS, check_segment},
    rows::RowLines,
    write::EntryWriter,
};

/// Rows read at a time.
const PAGE_ROWS: usize = 500;
/// Segments read at the same time.
const SEGMENTS_AHEAD: usize = 2;

/// What is backed up.
pub struct Backup<'a> {
    /// Rows.
    pub store: &'a dyn Store,
    /// Bytes of messages.
    pub blobs: &'a dyn Blobs,
    /// The clock that the store goes by.
    pub clock: &'a Clock,
    /// Whether others go on writing meanwhile: a lease then keeps segments, and other backups away.
    pub is_shared: bool,
}

impl Backup<'_> {
    /// Writes an archive with these key files, each a name and a text.
    ///
    /// Everything that was written before the call is in it, unless it was removed before the end. What is
    /// written meanwhile may be.
    ///
    /// # Errors
    ///
    /// [`BackupError::Busy`] beside another backup, [`BackupError::Write`] when the archive cannot be written,
    /// [`BackupError::Port`] when the store or the segments fail. There is no archive then.
    pub async fn write(
        &self,
        head: &ArchiveHead,
        keys: &[(&str, String)],
        sink: Box<dyn ArchiveSink>,
    ) -> ArchiveResult<Manifest> {
        if !self.is_shared {
            return self.write_all(head, keys, sink, &mut None).await;
        }
        let mut lease = Some(BackupLease::take(self.store, self.clock).await?);
        let written = self.write_all(head, keys, sink, &mut lease).await;
        if let Some(lease) = lease {
            match lease.release().await {
                // Without the lease segments may have gone before they were read.
                Err(error) if written.is_ok() => return Err(error),
                _ => {}
            }
        }
        written
    }

    async fn write_all(
        &self,
        head: &ArchiveHead,
        keys: &[(&str, String)],
        sink: Box<dyn ArchiveSink>,
        lease: &mut Option<BackupLease<'_>>,
    ) -> ArchiveResult<Manifest> {
        let mut writer = EntryWriter::new(sink, head.started);
        writer.json(HEAD, head).await?;
        for (name, text) in keys {
            writer.entry(&format!("{KEYS}{name}"), Bytes::from(text.clone())).await?;
        }
        let (mut manifest, mut segments) = (Manifest::default(), SegmentNames::default());
        for table in TABLES.into_iter().filter(|table| !LEFT_OUT.contains(&table.name)) {
            let rows = self.table(table, &mut writer, &mut segments, lease).await?;
            if rows > 0 {
                manifest.rows.insert(table.name.to_owned(), rows);
            }
        }
        self.segments(segments, &mut writer, &mut manifest, lease).await?;
        writer.finish(manifest).await
    }

    /// Writes the rows of a table; how many they were.
    async fn table(
        &self,
        table: &'static Table,
        writer: &mut EntryWriter,
        segments: &mut SegmentNames,
        lease: &mut Option<BackupLease<'_>>,
    ) -> ArchiveResult<u64> {
        let (mut lines, mut count, mut number, mut place) = (RowLines::default(), 0, 0, None);
        loop {
            renew(lease).await?;
            let Walked { rows, next } = self.store.walk(table, place, PAGE_ROWS).await?;
            for row in &rows {
                segments.note(table, row);
                lines.push(row).map_err(|error| BackupError::Write(error.into()))?;
                if lines.is_full() {
                    count += entry(table, std::mem::take(&mut lines), &mut number, writer).await?;
                }
            }
            place = next;
            if place.is_none() {
                break;
            }
        }
        if lines.rows > 0 {
            count += entry(table, lines, &mut number, writer).await?;
        }
        Ok(count)
    }

    async fn segments(
        &self,
        SegmentNames { names, moved }: SegmentNames,
        writer: &mut EntryWriter,
        manifest: &mut Manifest,
        lease: &mut Option<BackupLease<'_>>,
    ) -> ArchiveResult<()> {
        let read = async |(class, id)| {
            let name = segment::name(class, id);
            let bytes = self.blobs.segment(&name).await;
            ((class, id), name, bytes)
        };
        let mut reads = Box::pin(stream::iter(names).map(read).buffered(SEGMENTS_AHEAD));
        while let Some((id, name, bytes)) = reads.next().await {
            renew(lease).await?;
            let what = match bytes? {
                Some(bytes) => match check_segment(&name, &bytes) {
                    Ok(()) => {
                        manifest.segments += 1;
                        manifest.segment_bytes += bytes.len() as u64;
                        writer.entry(&format!("{SEGMENTS}{name}"), bytes).await?;
                        continue;
                    }
                    Err(what) => what,
                },
                // Its messages are in other segments, which are in the archive.
                None if moved.contains(&id) => continue,
                None => "it is not there".to_owned(),
            };
            tracing::error!(segment = name, what, "a segment is lost, and not in the backup");
            manifest.missing += 1;
        }
        Ok(())
    }
}

async fn renew(lease: &mut Option<BackupLease<'_>>) -> ArchiveResult<()> {
    match lease {
        Some(lease) => lease.renew().await,
        None => Ok(()),
    }
}

async fn entry(
    table: &Table,
    lines: RowLines,
    number: &mut u32,
    writer: &mut EntryWriter,
) -> ArchiveResult<u64> {
    *number += 1;
    let (text, rows) = lines.finish().map_err(|error| BackupError::Write(error.into()))?;
    let name = format!("{ROWS}{}/{number:06}.jsonl", table.name);
    writer.entry(&name, text.into()).await?;
    Ok(rows as u64)
}

/// The segments that rows name, some 40 bytes each.
#[derive(Default)]
struct SegmentNames {
    names: BTreeSet<(Class, Uuid)>,
    /// Those whose messages were moved into others.
    moved: HashSet<(Class, Uuid)>,
}

impl SegmentNames {
    /// A row that this release cannot read is backed up as it is; what it names is not known.
    fn note(&mut self, table: &Table, row: &WalkedRow) {
        let noted = if table.name == Message::TABLE.name {
            Message::of(&row.row).map(|message| self.message(&message))
        } else if table.name == SegmentAlias::TABLE.name {
            SegmentAlias::of(&row.row).map(|alias| self.alias(&alias))
        } else {
            Ok(())
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "a row cannot be read, and is backed up as it is");
        }
    }

    fn message(&mut self, message: &Message) {
        self.add(&message.blob.segment);
        self.add(message.whole_envelope.as_ref().map_or("", |envelope| &envelope.segment));
    }

    fn alias(&mut self, alias: &SegmentAlias) {
        self.moved.extend(segment::parse(&alias.segment));
        alias.moved.iter().for_each(|moved| self.add(&moved.to.segment));
    }

    fn add(&mut self, name: &str) {
        self.names.extend(segment::parse(name));
    }
}
