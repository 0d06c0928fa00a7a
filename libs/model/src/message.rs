//! Messages, whole and in summary.

use serde::{Deserialize, Serialize};

use crate::{Address, InboxId, MessageId, Time};

/// Who the SMTP session said the mail is from and for (RFC 5321, section 3.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Envelope {
    /// The reverse path; `""` for a bounce (`MAIL FROM:<>`).
    #[schema(example = "app@example.com")]
    pub from: String,
    /// The forward paths, in the order of the session's RCPT commands.
    #[schema(example = json!(["ada@example.com"]))]
    pub to: Vec<String>,
}

/// One header field, unfolded and decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = HeaderField)]
pub struct Header {
    /// The field's name as sent.
    #[schema(example = "X-Mailer")]
    pub name: String,
    /// The field's value: unfolded, encoded words decoded (RFC 2047).
    #[schema(example = "app 1.0")]
    pub value: String,
}

/// A part of the message that is not its text or its HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Names the part within its message.
    #[schema(example = "1")]
    pub id: String,
    /// The name that the sender gave, unchanged; `""` when there is none.
    #[schema(example = "invoice.pdf")]
    pub filename: String,
    /// The media type, lower-case, without parameters.
    #[schema(example = "application/pdf")]
    pub content_type: String,
    /// Bytes after decoding.
    pub size: u64,
    /// The Content-ID without angle brackets.
    #[schema(required)]
    pub content_id: Option<String>,
    /// Whether the part is shown within the message rather than offered for download.
    pub inline: bool,
    /// SHA-256 of the decoded bytes, in hex.
    pub sha256: String,
}

/// A link of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MessageLink)]
pub struct Link {
    /// The target as the message has it, entities decoded.
    #[schema(example = "https://example.com/verify?token=abc")]
    pub url: String,
    /// The visible text; the target itself where the message shows it bare.
    #[schema(example = "Verify your address")]
    pub text: String,
}

/// Something that the sender got wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MessageWarning)]
pub struct Warning {
    /// A stable word for the kind of fault.
    #[schema(example = "bare_lf")]
    pub code: String,
    /// What is wrong, for people.
    #[schema(example = "The message has line feeds without a carriage return.")]
    pub message: String,
}

/// A message as lists and events show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MessageSummary)]
pub struct Summary {
    /// The message's id.
    pub id: MessageId,
    /// The inbox that holds it.
    pub inbox_id: InboxId,
    /// The decoded subject; `""` when there is none.
    #[schema(example = "Verify your address")]
    pub subject: String,
    /// The first author; null when the message names none.
    #[schema(required)]
    pub from: Option<Address>,
    /// The To field.
    pub to: Vec<Address>,
    /// The Cc field.
    pub cc: Vec<Address>,
    /// The Bcc field; recipients without a header are in `envelope.to`.
    pub bcc: Vec<Address>,
    /// The Reply-To field.
    pub reply_to: Vec<Address>,
    /// The SMTP envelope.
    pub envelope: Envelope,
    /// When the mail was taken; never decreases along the list.
    pub received_at: Time,
    /// The Date field; null when absent or not a date.
    #[schema(required)]
    pub date: Option<Time>,
    /// Bytes of the message as received.
    pub size: u64,
    /// Whether somebody marked it read.
    pub is_read: bool,
    /// What the sender got wrong.
    pub warnings: Vec<Warning>,
    /// The text's beginning, at most 140 characters.
    #[schema(example = "Hello Ada, please verify …")]
    pub snippet: String,
    /// How many attachments the message has.
    pub attachment_count: u32,
}

/// A message, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's id.
    pub id: MessageId,
    /// The inbox that holds it.
    pub inbox_id: InboxId,
    /// The Message-ID field without angle brackets; null when there is none.
    #[schema(required, example = "20260101.1@example.com")]
    pub message_id: Option<String>,
    /// The decoded subject; `""` when there is none.
    #[schema(example = "Verify your address")]
    pub subject: String,
    /// The first author; null when the message names none.
    #[schema(required)]
    pub from: Option<Address>,
    /// The To field.
    pub to: Vec<Address>,
    /// The Cc field.
    pub cc: Vec<Address>,
    /// The Bcc field; recipients without a header are in `envelope.to`.
    pub bcc: Vec<Address>,
    /// The Reply-To field.
    pub reply_to: Vec<Address>,
    /// The SMTP envelope.
    pub envelope: Envelope,
    /// When the mail was taken; never decreases along the list.
    pub received_at: Time,
    /// The Date field; null when absent or not a date.
    #[schema(required)]
    pub date: Option<Time>,
    /// Bytes of the message as received.
    pub size: u64,
    /// Whether somebody marked it read.
    pub is_read: bool,
    /// The first inline HTML part as sent; null when there is none.
    #[schema(required)]
    pub html: Option<String>,
    /// The inline plain text; null when there is none.
    #[schema(required)]
    pub text: Option<String>,
    /// Every header field, in order, repeated ones too.
    pub headers: Vec<Header>,
    /// Every other part, and texts that have a file name.
    pub attachments: Vec<Attachment>,
    /// Further forms of the body that are neither the text nor the HTML, such as AMP or a calendar.
    /// They are downloaded as attachments are, and do not count as such.
    pub alternatives: Vec<Attachment>,
    /// Links of the HTML, then of the text.
    pub links: Vec<Link>,
    /// One-time codes, the likeliest first.
    #[schema(example = json!(["482913"]))]
    pub codes: Vec<String>,
    /// What the sender got wrong.
    pub warnings: Vec<Warning>,
}

/// A recent message that a wait just missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NearMiss {
    /// The message's id.
    pub id: MessageId,
    /// Its subject.
    pub subject: String,
    /// Its recipients: header and envelope.
    pub to: Vec<String>,
    /// Which filter it failed, and how.
    #[schema(example = "subject \"Welcome\" does not contain \"reset\"")]
    pub why: String,
}
