//! What asking the addresses of a message brought.

use serde::{Deserialize, Serialize};

use crate::Time;

/// Where the links and images of a message lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkCheckReport {
    /// When they were asked.
    pub checked_at: Time,
    /// How many were asked.
    #[schema(example = 3)]
    pub checked: usize,
    /// How many of these do not work: an error, or a status of 400 or more.
    #[schema(example = 1)]
    pub failed: usize,
    /// How many were left alone.
    #[schema(example = 2)]
    pub skipped: usize,
    /// Links in the order of the message, then images; at most 1,000 of each.
    pub links: Vec<CheckedLink>,
}

/// A link or an image, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedLink {
    /// As the message has it.
    #[schema(example = "https://example.com/welcome")]
    pub url: String,
    /// What it is there for.
    pub kind: LinkUse,
    /// The status of the last answer; null where there was none.
    #[schema(required, example = 200)]
    pub status: Option<u16>,
    /// Why there is no answer, or where redirects ended: `dns_error`, `connect_refused`, `connect_timeout`,
    /// `tls_error`, `timeout`, `reset`, `address_not_allowed`, `too_many_redirects` or `bad_redirect`; null
    /// where the last answer is no redirect.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
    /// The redirects that were followed, at most 5.
    pub redirects: Vec<LinkRedirect>,
    /// How long all of it took, in milliseconds; null where nobody was asked.
    #[schema(required, example = 120)]
    pub duration_ms: Option<u64>,
    /// Why nobody was asked: `scheme` (neither http nor https), `repeated`, `action` (a visit may use it up),
    /// `too_many` (beyond the first 100) or `out_of_time`; null where somebody was.
    #[schema(required, example = json!(null))]
    pub skipped: Option<String>,
}

/// What an address of a message is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = CheckedLinkUse)]
pub enum LinkUse {
    /// Readers click on it.
    Link,
    /// Mail clients fetch it.
    Image,
}

/// An answer that led on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LinkRedirect {
    /// Where it led, at most 2,048 characters.
    #[schema(example = "https://www.example.com/welcome")]
    pub url: String,
    /// Its status.
    #[schema(example = 301)]
    pub status: u16,
}

/// What became of the request by which mailbox providers unsubscribe somebody (RFC 8058).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OneClickReport {
    /// When it was sent.
    pub checked_at: Time,
    /// The address that was asked; null where the message announces no unsubscribing by one click.
    #[schema(required, example = "https://example.com/unsubscribe?token=abc")]
    pub url: Option<String>,
    /// Whether a mailbox provider takes this for success: a status from 200 to 299.
    pub unsubscribed: bool,
    /// The status of the answer; null where there is none. A redirect is not followed.
    #[schema(required, example = 202)]
    pub status: Option<u16>,
    /// Why there is no answer, in the words of a link check, or `no_one_click`; null where there is one.
    #[schema(required, example = json!(null))]
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    #[schema(required, example = 45)]
    pub duration_ms: Option<u64>,
}
