//! Who a message is from and for, and its subject, where its row has only their beginnings.

use trapline_model::Envelope;
use trapline_store::{PortError, records::Message};

use super::Messages;
use crate::{
    Result,
    filter::{Matcher, Parties},
};

impl Messages {
    /// The SMTP envelope, whole.
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
        let digest = self.bytes.take_apart(raw, trapline_mime::digest).await?;
        Ok((Parties::whole(&digest, &envelope), digest.subject))
    }

    /// Whether sender, recipients and subject are those looked for. Looks into the message itself
    /// where its row does not have all of them.
    pub(crate) async fn heading_holds(&self, record: &Message, matcher: &Matcher) -> Result<bool> {
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
