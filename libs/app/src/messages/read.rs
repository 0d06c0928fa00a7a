//! A message's bytes, whole or by part.

use std::ops::Range;

use bytes::Bytes;
use trapline_model::{Attachment, Message, MessageId, Principal};
use trapline_store::{
    BlobRef, PortError, load,
    records::{self, Moved, SegmentAlias},
};

use super::whole;
use crate::{App, Error, Result, answers, metrics};

/// Above this a message is taken apart beside the reactor. Smaller ones take less than a millisecond,
/// and are read at once even where the queue of large ones is long.
const INLINE: usize = 16 * 1024;
/// How often a message may have been moved by compaction before it is read.
const MAX_MOVES: usize = 16;

/// An attachment and its bytes.
#[derive(Debug)]
pub struct Download {
    /// Name, type, size.
    pub meta: Attachment,
    /// Decoded.
    pub bytes: Vec<u8>,
}

impl App {
    /// The full message.
    pub async fn message(&self, by: &Principal, id: MessageId) -> Result<Message> {
        let team = by.team;
        let record = self.message_row(team, id).await?;
        self.open(id, record).await
    }

    /// The message as sent, byte for byte.
    pub async fn raw(&self, by: &Principal, id: MessageId) -> Result<Bytes> {
        let team = by.team;
        let record = self.message_row(team, id).await?;
        self.bytes(&record.blob).await
    }

    /// One attachment.
    pub async fn attachment(&self, by: &Principal, id: MessageId, part: &str) -> Result<Download> {
        self.take_out(self.raw(by, id).await?, part).await
    }

    pub(crate) async fn open(&self, id: MessageId, record: records::Message) -> Result<Message> {
        let raw = self.bytes(&record.blob).await?;
        let is_read = self.is_read(id).await?;
        let parsed = self.take_apart(raw, trapline_mime::parse).await?;
        let envelope = self.envelope(&record).await?;
        Ok(whole(id, &record, envelope, is_read, parsed))
    }

    /// Whether the message holds a one-time code.
    pub(crate) async fn has_code(&self, record: &records::Message) -> Result<bool> {
        if record.has_code == Some(false) {
            return Ok(false);
        }
        let raw = match self.bytes(&record.blob).await {
            // There is none to be found, and the messages beside it are none the worse.
            Err(Error::Damaged(_)) => return Ok(false),
            raw => raw?,
        };
        if record.has_code == Some(true) {
            return Ok(true);
        }
        self.take_apart(raw, |raw| !trapline_mime::codes(raw).is_empty()).await
    }

    /// Reads a message's bytes from where they are now, once there is room for them.
    pub(crate) async fn bytes(&self, blob: &BlobRef) -> Result<Bytes> {
        let mut at = blob.clone();
        answers::read(blob.len, self.read_blob(&mut at, None)).await
    }

    /// Reads all of a message or a part of it. Afterwards `blob` is where it is now.
    pub(super) async fn read_blob(
        &self,
        blob: &mut BlobRef,
        part: Option<Range<u64>>,
    ) -> Result<Bytes> {
        for _ in 0..MAX_MOVES {
            match self.ports.blobs.read(blob, part.clone()).await {
                Err(PortError::Damaged(segment)) => match self.moved(blob).await? {
                    Some(to) => *blob = to,
                    None => return Err(damaged(segment)),
                },
                read => return Ok(read?),
            }
        }
        Err(damaged(blob.segment.clone()))
    }

    async fn moved(&self, blob: &BlobRef) -> Result<Option<BlobRef>> {
        let row = SegmentAlias::row(&blob.segment);
        let alias = load::<SegmentAlias>(&*self.ports.store, &row).await?;
        Ok(alias.and_then(|(alias, _)| {
            // An empty message begins where the next one does.
            let same = |moved: &Moved| (moved.offset, moved.to.len) == (blob.offset, blob.len);
            let to = alias.moved.into_iter().find(same)?.to;
            // What was written first is what counts.
            Some(BlobRef { crc: blob.crc.or(to.crc), ..to })
        }))
    }

    /// One attachment of a message.
    pub(crate) async fn take_out(&self, raw: Bytes, part: &str) -> Result<Download> {
        let part = part.to_owned();
        let body = self.take_apart(raw, move |raw| trapline_mime::attachment(raw, &part)).await?;
        let body = body.ok_or(Error::NotFound)?;
        Ok(Download { meta: body.meta, bytes: body.bytes })
    }

    /// Runs a parser, beside the reactor when the message is large.
    pub(crate) async fn take_apart<T: Send + 'static>(
        &self,
        raw: Bytes,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T> {
        if raw.len() <= INLINE { Ok(parse(&raw)) } else { self.cpu.run(move || parse(&raw)).await }
    }
}

pub(super) fn damaged(segment: String) -> Error {
    tracing::error!(segment, "the stored bytes of a message are missing or damaged");
    metrics::message_damaged();
    Error::Damaged(segment)
}
