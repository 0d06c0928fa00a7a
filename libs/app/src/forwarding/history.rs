//! How a message got here, which stops it from being forwarded in a circle.

use super::rewrite::fields;

/// The header field that is added to each forwarded message.
pub(super) const FORWARDED_HEADER: &str = "X-Trapline-Forwarded";
/// Servers that a message may have passed (RFC 5321, section 6.3).
const MAX_RECEIVED: usize = 50;
/// Sandboxes, of other installations, that a message may have been forwarded by.
const MAX_HOPS: u32 = 5;

/// Why a message is not forwarded, as a stable word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused(pub(super) &'static str);

/// A header field by which an earlier forward is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ForwardMark {
    pub(super) inbox: String,
    pub(super) hops: u32,
    /// A signature over the inbox's id, which tells our marks from others'.
    pub(super) by: String,
}

/// What a message's header says of how it got here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ForwardHistory {
    received: usize,
    marks: Vec<ForwardMark>,
    /// RFC 3834, section 5.
    auto_submitted: Option<String>,
}

impl ForwardHistory {
    pub(super) fn of(raw: &[u8]) -> Self {
        let mut history = Self::default();
        for field in fields(raw) {
            if field.is_named("Received") {
                history.received += 1;
            } else if field.is_named(FORWARDED_HEADER) {
                history.marks.push(ForwardMark::of(&field.value()));
            } else if field.is_named("Auto-Submitted") {
                history.auto_submitted = Some(field.value().to_ascii_lowercase());
            }
        }
        history
    }

    /// How many sandboxes will have forwarded the message, with this one; or why it stays here.
    ///
    /// Whoever asks for a message by hand cannot make a loop, so only the bounds hold for him. What a
    /// program sent of itself (`auto-generated`) is what a test is about and is forwarded; answers of
    /// programs, and what was forwarded before, are not.
    pub(super) fn check(
        &self,
        automatic: bool,
        is_ours: impl Fn(&ForwardMark) -> bool,
    ) -> Result<u32, Refused> {
        let hops = self.marks.iter().map(|mark| mark.hops).max().unwrap_or(0).saturating_add(1);
        let is_reply = self.auto_submitted.as_deref().is_some_and(|word| {
            let word = word.split(';').next().unwrap_or_default().trim();
            !matches!(word, "" | "no" | "auto-generated")
        });
        if self.received > MAX_RECEIVED || hops > MAX_HOPS {
            return Err(Refused("too_many_hops"));
        }
        if automatic && self.marks.iter().any(is_ours) {
            return Err(Refused("loop"));
        }
        if automatic && is_reply {
            return Err(Refused("automatic_reply"));
        }
        Ok(hops)
    }
}

impl ForwardMark {
    fn of(value: &str) -> Self {
        let mut parts = value.split(';').map(str::trim);
        let mut mark =
            Self { inbox: parts.next().unwrap_or_default().to_owned(), ..Self::default() };
        for part in parts {
            match part.split_once('=') {
                Some(("hops", hops)) => mark.hops = hops.parse().unwrap_or(u32::MAX),
                Some(("by", by)) => by.clone_into(&mut mark.by),
                _ => {}
            }
        }
        mark
    }
}
