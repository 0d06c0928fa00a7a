//! A parsed mail, before it has an id and a place in a segment.

use std::iter;

use bytes::Bytes;
use trapline_model::{Envelope, InboxId, TeamId, Time};
use trapline_store::{BlobRef, records::Message};

use super::{Incoming, truncate::Truncator};
use crate::filter::{Parties, search_text};

/// An inbox that a mail goes to.
#[derive(Debug)]
pub(super) struct DraftTarget {
    pub team: TeamId,
    pub inbox: InboxId,
    pub expires_at: Option<Time>,
    /// When the team's plan removes the message; `None` is never.
    pub kept_until: Option<Time>,
    pub max_messages: u32,
}

/// A parsed mail and the row that its messages will have.
#[derive(Debug)]
pub(super) struct Draft {
    pub targets: Vec<DraftTarget>,
    pub raw: Bytes,
    pub search: String,
    pub parties: Parties,
    pub message: Message,
    /// The envelope as JSON, where the row has only its beginning.
    pub envelope: Option<Bytes>,
}

impl Draft {
    /// `kept_until` says for each target when the message is removed.
    pub(super) fn of(mail: Incoming, kept_until: &[Option<Time>]) -> Self {
        let kept_until = kept_until.iter().copied().chain(iter::repeat(None));
        let targets = mail.targets.iter().zip(kept_until).map(|(target, kept_until)| DraftTarget {
            team: target.0.team,
            inbox: target.0.id,
            expires_at: target.0.expires_at,
            kept_until,
            max_messages: target.0.max_messages,
        });
        let targets = targets.collect();
        let (digest, has_code) = trapline_mime::digest_and_code(&mail.raw);
        let search = search_text(&digest.subject, &Parties::of_digest(&digest, &mail.envelope));
        let (mut message, search, envelope) = row(digest, &mail.envelope, &search, mail.raw.len());
        message.has_code = Some(has_code);
        Self { targets, search, parties: Parties::of(&message), message, envelope, raw: mail.raw }
    }

    /// When the last of the messages ends, with its inbox or by a plan; `None` when one lasts.
    pub(super) fn expires_at(&self) -> Option<Time> {
        let mut latest = None;
        for target in &self.targets {
            let ends = [target.expires_at, target.kept_until].into_iter().flatten().min();
            latest = latest.max(Some(ends?));
        }
        latest
    }
}

/// What one mail puts into its row, in bytes of JSON; the message's bytes keep everything. With what
/// the parser bounds (snippet and warnings) a row has at most 16 KiB.
const MAX_SEARCH_BYTES: usize = 4 * 1024;
const MAX_SUBJECT_BYTES: usize = 1_000;
const MAX_ADDRESS_BYTES: usize = 4 * 1024;
const MAX_ENVELOPE_BYTES: usize = 2 * 1024;

/// The row, its search text, and the envelope where the row does not have all of it.
fn row(
    digest: trapline_mime::Digest,
    envelope: &Envelope,
    search: &str,
    len: usize,
) -> (Message, String, Option<Bytes>) {
    let mut cut = Truncator::default();
    let search = cut.text(search.to_owned(), MAX_SEARCH_BYTES);
    let subject = cut.text(digest.subject, MAX_SUBJECT_BYTES);
    let mut room = MAX_ADDRESS_BYTES;
    let from = digest.from.map(|from| cut.address(from, &mut room));
    let to = cut.list(digest.to, &mut room);
    let cc = cut.list(digest.cc, &mut room);
    let bcc = cut.list(digest.bcc, &mut room);
    let reply_to = cut.list(digest.reply_to, &mut room);
    let mut of_envelope = Truncator::default();
    let short = of_envelope.envelope(envelope, MAX_ENVELOPE_BYTES);
    let of_digest =
        of_envelope.has_truncated.then(|| serde_json::to_vec(envelope).unwrap_or_default());
    let message = Message {
        blob: BlobRef { segment: String::new(), offset: 0, len: len as u64, crc: None },
        subject,
        from,
        to,
        cc,
        bcc,
        reply_to,
        envelope: short,
        date: digest.date,
        warnings: digest.warnings,
        snippet: digest.snippet,
        attachment_count: digest.attachment_count,
        has_code: None,
        cut: cut.has_truncated || of_envelope.has_truncated,
        whole_envelope: None,
    };
    (message, search, of_digest.map(Bytes::from))
}

#[cfg(test)]
mod tests;
