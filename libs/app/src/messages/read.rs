//! Reads a message, its source, or one attachment.

use bytes::Bytes;
use trapline_model::{Attachment, Message, MessageId, Principal};
use trapline_store::records;

use super::{Messages, full_message};
use crate::{Error, Result};

/// An attachment and its bytes.
#[derive(Debug)]
pub struct Download {
    /// The attachment's name, type and size.
    pub meta: Attachment,
    /// The attachment's bytes, decoded.
    pub bytes: Vec<u8>,
}

impl Messages {
    /// The full message.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, and [`Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn get(&self, by: &Principal, id: MessageId) -> Result<Message> {
        let record = self.record(by.team, id).await?;
        self.load_full(id, record).await
    }

    /// The message as sent, byte for byte.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, and [`Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn raw(&self, by: &Principal, id: MessageId) -> Result<Bytes> {
        let record = self.record(by.team, id).await?;
        self.source(&record).await
    }

    /// The bytes of a record's message.
    pub(crate) async fn source(&self, record: &records::Message) -> Result<Bytes> {
        self.bytes.read(&record.blob).await
    }

    /// One attachment.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message or it has no such part, and [`Error::Damaged`] when its bytes are
    /// gone or not those that were stored.
    pub async fn attachment(&self, by: &Principal, id: MessageId, part: &str) -> Result<Download> {
        self.extract_attachment(self.raw(by, id).await?, part).await
    }

    /// The full message of a record, parsed from its bytes.
    pub(crate) async fn load_full(
        &self,
        id: MessageId,
        record: records::Message,
    ) -> Result<Message> {
        let raw = self.bytes.read(&record.blob).await?;
        let is_read = self.read_marks.is_read(id).await?;
        let parsed = self.bytes.run_parser(raw, trapline_mime::parse).await?;
        let envelope = self.envelope(&record).await?;
        Ok(full_message(id, &record, envelope, is_read, parsed))
    }

    /// Whether the message holds a one-time code.
    pub(crate) async fn has_code(&self, record: &records::Message) -> Result<bool> {
        if record.has_code == Some(false) {
            return Ok(false);
        }
        let raw = match self.bytes.read(&record.blob).await {
            // There is none to be found, and the messages beside it are none the worse.
            Err(Error::Damaged(_)) => return Ok(false),
            raw => raw?,
        };
        if record.has_code == Some(true) {
            return Ok(true);
        }
        self.bytes.run_parser(raw, |raw| !trapline_mime::codes(raw).is_empty()).await
    }

    /// One attachment of a message.
    pub(super) async fn extract_attachment(&self, raw: Bytes, part: &str) -> Result<Download> {
        let part = part.to_owned();
        let parse = move |raw: &[u8]| trapline_mime::attachment(raw, &part);
        let body = self.bytes.run_parser(raw, parse).await?;
        let body = body.ok_or(Error::NotFound)?;
        Ok(Download { meta: body.meta, bytes: body.bytes })
    }

    /// Runs a parser over a message's bytes, see `MessageBytes::run_parser`.
    pub(crate) async fn run_parser<T: Send + 'static>(
        &self,
        raw: Bytes,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T> {
        self.bytes.run_parser(raw, parse).await
    }
}
