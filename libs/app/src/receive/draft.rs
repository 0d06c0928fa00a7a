//! A mail, summarised, before it has an id and a place.

use bytes::Bytes;
use trapline_model::{Address, Envelope, InboxId, TeamId, Time};
use trapline_store::{BlobRef, records::Message};

use super::Incoming;
use crate::filter::{Parties, search_text};

/// One inbox that the mail goes to.
#[derive(Debug)]
pub(super) struct Target {
    pub team: TeamId,
    pub inbox: InboxId,
    pub expires_at: Option<Time>,
    pub max_messages: u32,
}

#[derive(Debug)]
pub(super) struct Draft {
    pub targets: Vec<Target>,
    pub raw: Bytes,
    pub search: String,
    pub parties: Parties,
    pub message: Message,
}

impl Draft {
    pub(super) fn of(mail: Incoming) -> Self {
        let targets = mail.mailboxes.iter().map(|mailbox| Target {
            team: mailbox.0.team,
            inbox: mailbox.0.inbox,
            expires_at: mailbox.0.expires_at,
            max_messages: mailbox.0.max_messages,
        });
        let message = summarise(&mail.raw, mail.envelope);
        Self {
            targets: targets.collect(),
            search: search_text(&message),
            parties: Parties::of(&message),
            message,
            raw: mail.raw,
        }
    }

    /// The life of the longest-lived inbox; `None` when one lasts.
    pub(super) fn expires_at(&self) -> Option<Time> {
        let mut latest = None;
        for target in &self.targets {
            latest = latest.max(Some(target.expires_at?));
        }
        latest
    }
}

/// Bounds what one mail may put into its row; the bytes keep everything.
const MAX_ADDRESSES: usize = 200;
const MAX_TEXT: usize = 1_000;

fn summarise(raw: &[u8], envelope: Envelope) -> Message {
    let digest = trapline_mime::digest(raw);
    Message {
        blob: BlobRef { segment: String::new(), offset: 0, len: raw.len() as u64 },
        subject: cut(digest.subject),
        from: digest.from.map(cut_address),
        to: cut_list(digest.to),
        cc: cut_list(digest.cc),
        bcc: cut_list(digest.bcc),
        reply_to: cut_list(digest.reply_to),
        envelope,
        date: digest.date,
        warnings: digest.warnings,
        snippet: digest.snippet,
        attachment_count: digest.attachment_count,
    }
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
    }
    text
}

fn cut_address(address: Address) -> Address {
    Address { address: cut(address.address), name: cut(address.name) }
}

fn cut_list(addresses: Vec<Address>) -> Vec<Address> {
    addresses.into_iter().take(MAX_ADDRESSES).map(cut_address).collect()
}
