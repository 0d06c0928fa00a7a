//! A message with a text and an HTML of the same content (RFC 2046, section 5.1.4).

use data_encoding::BASE64;
use trapline_model::{Address, Time};

/// The longest line of base64 (RFC 2045, section 6.8), in bytes before encoding.
const LINE_BYTES: usize = 57;
/// Bytes in one encoded word, so that it stays within 75 characters (RFC 2047, section 2).
const WORD_BYTES: usize = 42;

/// A stranger reads names that somebody chose: they must not be messages of their own.
const MAX_NAME_LETTERS: usize = 60;

/// A mail of the service itself, as text and as HTML.
#[derive(Debug, Clone)]
pub(crate) struct EmailTemplate {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
}

impl EmailTemplate {
    /// The whole message. `id` is unique; it names the message and parts it.
    pub(super) fn message(&self, from: &Address, to: &str, id: &str, at: Time) -> String {
        let boundary = format!("=_{id}");
        let fields = [
            ("From", format_mailbox(from)),
            ("To", to.to_owned()),
            ("Subject", encode_header_text(&self.subject)),
            ("Date", format_date(at)),
            ("Message-ID", format!("<{id}@{}>", super::id_domain(from))),
            ("Auto-Submitted", "auto-generated".to_owned()),
            ("MIME-Version", "1.0".to_owned()),
            ("Content-Type", format!("multipart/alternative;\r\n boundary=\"{boundary}\"")),
        ];
        let head = fields.map(|(name, value)| format!("{name}: {value}\r\n")).concat();
        let parts = [("plain", &self.text), ("html", &self.html)].map(|(kind, body)| {
            let body = base64_lines(body.replace('\n', "\r\n").as_bytes());
            format!(
                "\r\n--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\n\
                 Content-Transfer-Encoding: base64\r\n\r\n{body}"
            )
        });
        format!("{head}{}\r\n--{boundary}--\r\n", parts.concat())
    }
}

/// A name without what could pass for more than one: control characters, and the dots and slashes
/// that mail clients make links of.
pub(crate) fn shown_name(name: &str) -> String {
    let one = |c: char| match c {
        c if c.is_control() => ' ',
        '.' | '/' | ':' => '·',
        c => c,
    };
    name.chars().take(MAX_NAME_LETTERS).map(one).collect()
}

/// Base64 in lines, each with its end.
pub(crate) fn base64_lines(bytes: &[u8]) -> String {
    let mut lines = String::with_capacity(bytes.len() / LINE_BYTES * 78 + 80);
    for line in bytes.chunks(LINE_BYTES) {
        BASE64.encode_append(line, &mut lines);
        lines.push_str("\r\n");
    }
    lines
}

/// A mailbox as a field has it (RFC 5322, section 3.4). Names become encoded words unless they are
/// plain, so no name can break out of its place.
pub(crate) fn format_mailbox(address: &Address) -> String {
    if address.name.is_empty() {
        return address.address.clone();
    }
    format!("{} <{}>", encode_header_text(&address.name), address.address)
}

/// Text as a field can have it: words that need no quotes as they are, others as encoded words.
pub(crate) fn encode_header_text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_'!?".contains(c);
    if text.len() <= 60 && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.floor_char_boundary(WORD_BYTES));
        words.push(format!("=?utf-8?B?{}?=", BASE64.encode(word.as_bytes())));
        rest = after;
    }
    words.join("\r\n ")
}

/// RFC 5322, section 3.3.
pub(crate) fn format_date(at: Time) -> String {
    jiff::Timestamp::from(at).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn template(subject: &str) -> EmailTemplate {
        let line = "Grüße an Ada. ".repeat(20);
        EmailTemplate {
            subject: subject.to_owned(),
            text: format!("{line}\nEnde\n"),
            html: format!("<p>{line}</p>\n"),
        }
    }

    #[test]
    fn a_letter_reads_back_as_it_was_written() {
        for subject in ["Please confirm", "Grüße: \"Ada\", and then a subject that is rather long"]
        {
            let from =
                Address { address: "no-reply@mail.example".into(), name: "Träp, Inc.".into() };
            let template = template(subject);
            let at = Time::from_millis(1_800_000_000_000);
            let message = template.message(&from, "ada@example.com", "id", at);
            assert!(message.is_ascii());
            assert!(message.split("\r\n").all(|line| line.len() <= 78 && !line.contains('\n')));
            let read = trapline_mime::parse(message.as_bytes());
            assert_eq!(read.digest.subject, subject);
            assert_eq!(read.digest.from, Some(from));
            assert_eq!(read.digest.date, Some(at));
            assert_eq!(read.digest.warnings, []);
            assert_eq!(read.text.unwrap().replace("\r\n", "\n"), template.text);
            assert_eq!(read.html.unwrap().replace("\r\n", "\n"), template.html);
        }
    }

    #[test]
    fn dates_are_those_of_mail() {
        let at = Time::from_millis(1_800_000_000_000);
        assert_eq!(format_date(at), "Fri, 15 Jan 2027 08:00:00 +0000");
    }
}
