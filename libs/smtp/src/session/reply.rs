//! Replies (RFC 5321, section 4.2) with enhanced status codes (RFC 2034).

use std::fmt::Write;

use crate::{Reject, session::Receipt};

/// The longest reply line, line end included (RFC 5321, section 4.5.3.1.5).
const MAX_LINE: usize = 512;

/// Replies not yet sent. Holds nothing once they're taken.
#[derive(Debug, Default)]
pub(super) struct Replies {
    text: String,
}

impl Replies {
    /// A reply without an enhanced status code: greetings, EHLO and intermediate replies.
    pub(super) fn plain(&mut self, code: u16, text: &str) {
        self.line(format_args!("{code} {text}"));
    }

    /// A line of a reply that goes on.
    pub(super) fn more(&mut self, code: u16, text: &str) {
        self.line(format_args!("{code}-{text}"));
    }

    /// A positive reply; its class is 2.
    pub(super) fn ok(&mut self, code: u16, (subject, detail): (u8, u8), text: &str) {
        self.line(format_args!("{code} 2.{subject}.{detail} {text}"));
    }

    pub(super) fn reject(&mut self, reject: &Reject) {
        let code = if matches!(reject.code, 400..600) { reject.code } else { 451 };
        let (_, subject, detail) = reject.enhanced;
        let class = code / 100;
        self.line(format_args!("{code} {class}.{subject}.{detail} {}", reject.text));
    }

    /// Names as many ids as fit one line.
    pub(super) fn accepted(&mut self, receipt: &Receipt) {
        let mut text = String::from("accepted");
        for (at, id) in receipt.ids.iter().enumerate() {
            let more = format!(" +{} more", receipt.ids.len() - at);
            let last = at + 1 == receipt.ids.len();
            let reserve = if last { 0 } else { more.len() };
            if text.len() + 1 + id.len() + reserve > MAX_LINE - "250 2.0.0 \r\n".len() {
                text.push_str(&more);
                break;
            }
            text.push(' ');
            text.push_str(id);
        }
        self.ok(250, (0, 0), &text);
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text).into_bytes()
    }

    /// Texts come from outside this package too, so whatever would break the reply apart is
    /// replaced, and a line too long is cut.
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let start = self.text.len();
        // Writing to a string can't fail.
        self.text.write_fmt(line).ok();
        let clean = |octet: u8| octet == b' ' || octet.is_ascii_graphic();
        if !self.text[start..].bytes().all(clean) {
            let line = self.text.split_off(start);
            self.text.extend(
                line.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' }),
            );
        }
        self.text.truncate(start + MAX_LINE - 2);
        self.text.push_str("\r\n");
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn sent(write: impl FnOnce(&mut Replies)) -> String {
        let mut replies = Replies::default();
        write(&mut replies);
        String::from_utf8(replies.take()).unwrap()
    }

    #[test]
    fn the_class_follows_the_code() {
        let reject = Reject::fixed(450, (5, 2, 1), "later");
        assert_eq!(sent(|r| r.reject(&reject)), "450 4.2.1 later\r\n");
        let reject = Reject::fixed(250, (2, 0, 0), "not a rejection");
        assert_eq!(sent(|r| r.reject(&reject)), "451 4.0.0 not a rejection\r\n");
    }

    #[test]
    fn a_text_cannot_break_the_reply() {
        let reject = Reject::permanent("a\r\n250 ok\0 ä");
        assert_eq!(sent(|r| r.reject(&reject)), "554 5.7.1 a??250 ok? ?\r\n");
        let reject = Reject::permanent("ä".repeat(600));
        assert_eq!(sent(|r| r.reject(&reject)).len(), MAX_LINE);
    }

    #[test]
    fn names_the_ids_that_fit() {
        let receipt = |count: usize| Receipt { ids: vec!["0123456789".repeat(2); count] };
        assert_eq!(sent(|r| r.accepted(&receipt(0))), "250 2.0.0 accepted\r\n");
        let all = sent(|r| r.accepted(&receipt(23)));
        assert!(all.ends_with("9\r\n") && all.len() <= MAX_LINE, "{all}");
        let cut = sent(|r| r.accepted(&receipt(150)));
        assert!(cut.ends_with(" +128 more\r\n") && cut.len() <= MAX_LINE, "{cut}");
    }
}
