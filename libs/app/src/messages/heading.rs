//! Sender, recipients and subject of a message whose row has them truncated.

use trapline_model::Envelope;
use trapline_store::{PortError, records::Message};

use super::Messages;
use crate::{
    Result,
    filter::{Matcher, Parties},
};

impl Messages {
    /// The complete SMTP envelope.
    pub(super) async fn envelope(&self, record: &Message) -> Result<Envelope> {
        let Some(blob) = &record.whole_envelope else { return Ok(record.envelope.clone()) };
        let json = self.bytes.read(blob).await?;
        let corrupt = |source| PortError::Corrupt { table: Message::TABLE.name, source };
        Ok(serde_json::from_slice(&json).map_err(corrupt)?)
    }

    /// Sender and recipients, and the subject, read from the message's bytes.
    pub(super) async fn heading(&self, record: &Message) -> Result<(Parties, String)> {
        let envelope = self.envelope(record).await?;
        let raw = self.bytes.read(&record.blob).await?;
        let digest = self.bytes.run_parser(raw, trapline_mime::digest).await?;
        Ok((Parties::of_digest(&digest, &envelope), digest.subject))
    }

    /// Whether sender, recipients and subject match. Reads the message itself where its row has them
    /// truncated.
    pub(crate) async fn matches_heading(
        &self,
        record: &Message,
        matcher: &Matcher,
    ) -> Result<bool> {
        let Parties { from, to } = Parties::of(record);
        if matcher.matches(&from, &to, &record.subject) {
            return Ok(true);
        }
        if !record.cut {
            return Ok(false);
        }
        let (Parties { from, to }, subject) = self.heading(record).await?;
        Ok(matcher.matches(&from, &to, &subject))
    }
}
