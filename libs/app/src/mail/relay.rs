//! The way out, as the use cases see it.

use async_trait::async_trait;
use bytes::Bytes;

/// One message for one recipient. Relays refuse recipients one by one, and only whoever was refused
/// is tried again.
#[derive(Debug, Clone)]
pub struct Parcel {
    /// The envelope's sender.
    pub from: String,
    /// The envelope's recipient.
    pub to: String,
    /// The message, in parts that follow each other.
    pub content: Vec<Bytes>,
    /// Whether a field of the header, and not only the body, has bytes beyond ASCII.
    pub utf8_header: bool,
}

impl Parcel {
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

/// What a relay was told when it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing of this message: greeting, TLS, sign-in, the extensions that it offers.
    Connection,
    /// The envelope's sender.
    Sender,
    /// The recipient.
    Recipient,
    /// The message itself.
    Content,
}

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// A stable word for logs.
    pub code: &'static str,
    /// Whether another attempt would fail in the same way.
    pub is_final: bool,
    /// What the relay was told.
    pub stage: Stage,
}

impl Trouble {
    /// Bytes beyond ASCII that the relay cannot take.
    pub const EIGHT_BIT: Self =
        Self { code: "eight_bit_not_offered", is_final: true, stage: Stage::Content };
    /// The message is larger than the relay takes.
    pub const TOO_LARGE: Self = Self { code: "too_large", is_final: true, stage: Stage::Content };

    /// Whether it may help to send the message as an attachment of another one: the relay said no to
    /// what is in it, such as a foreign author.
    #[must_use]
    pub fn is_about_content(&self) -> bool {
        self.stage == Stage::Content && self.is_final && *self != Self::TOO_LARGE
    }
}

/// A relay, which takes mail and brings it on.
#[async_trait]
pub trait Relay: Send + Sync {
    /// Gives it one message, within a deadline.
    async fn send(&self, parcel: &Parcel) -> Result<(), Trouble>;
}
