//! The relay, as the use cases see it.

use async_trait::async_trait;
use bytes::Bytes;

/// One message for one recipient. Relays refuse recipients one by one, and only whoever was refused
/// is tried again.
#[derive(Debug, Clone)]
pub struct OutgoingMail {
    /// The envelope's sender.
    pub from: String,
    /// The envelope's recipient.
    pub to: String,
    /// The message, in parts that follow each other.
    pub content: Vec<Bytes>,
    /// Whether a field of the header, and not only the body, has bytes beyond ASCII.
    pub utf8_header: bool,
}

impl OutgoingMail {
    /// Bytes of the whole message.
    #[must_use]
    pub fn len(&self) -> usize {
        self.content.iter().map(Bytes::len).sum()
    }

    /// Whether there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The step of the SMTP transaction at which a relay refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayStage {
    /// Before the transaction: greeting, TLS, sign-in, the extensions that it offers.
    Connection,
    /// The envelope's sender.
    Sender,
    /// The recipient.
    Recipient,
    /// The content of the message.
    Content,
}

/// Why a relay did not take a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayError {
    /// A stable word for logs.
    pub code: &'static str,
    /// Whether another attempt would fail in the same way.
    pub is_final: bool,
    /// The step at which it was refused.
    pub stage: RelayStage,
}

impl RelayError {
    /// Bytes beyond ASCII that the relay cannot take.
    pub const EIGHT_BIT: Self =
        Self { code: "eight_bit_not_offered", is_final: true, stage: RelayStage::Content };
    /// The message is larger than the relay takes.
    pub const TOO_LARGE: Self =
        Self { code: "too_large", is_final: true, stage: RelayStage::Content };

    /// Whether it may help to send the message as an attachment of another one: the relay said no to
    /// what is in it, such as a foreign author.
    #[must_use]
    pub fn is_about_content(&self) -> bool {
        self.stage == RelayStage::Content && self.is_final && *self != Self::TOO_LARGE
    }
}

/// An SMTP server that takes mail and delivers it.
#[async_trait]
pub trait Relay: Send + Sync {
    /// Sends one mail, within a deadline.
    ///
    /// # Errors
    ///
    /// When the relay did not take it.
    async fn send(&self, mail: &OutgoingMail) -> Result<(), RelayError>;
}
