//! Mails to send.

use sha2::{Digest, Sha256};

/// A mail in the making; text parts are UTF-8.
#[derive(Debug, Clone)]
pub struct Mail {
    from: String,
    to: String,
    subject: String,
    fields: Vec<String>,
    body: Vec<u8>,
}

impl Mail {
    /// A plain text mail.
    pub fn new(subject: &str, text: &str) -> Self {
        Self {
            from: "App <app@example.test>".to_owned(),
            to: "Ada <ada@example.test>".to_owned(),
            subject: subject.to_owned(),
            fields: Vec::new(),
            body: text.replace('\n', "\r\n").into_bytes(),
        }
    }

    /// Another author.
    #[must_use]
    pub fn from(mut self, from: &str) -> Self {
        from.clone_into(&mut self.from);
        self
    }

    /// Another recipient in the header.
    #[must_use]
    pub fn to(mut self, to: &str) -> Self {
        to.clone_into(&mut self.to);
        self
    }

    /// One more header field, such as `X-Test: 1`.
    #[must_use]
    pub fn field(mut self, field: &str) -> Self {
        self.fields.push(field.to_owned());
        self
    }

    /// An HTML body in place of the text.
    #[must_use]
    pub fn html(self, html: &str) -> Self {
        self.part_of("text/html; charset=utf-8", html)
    }

    /// Parts, each with its header and body, in a multipart of this subtype.
    #[must_use]
    pub fn multipart(self, subtype: &str, parts: &[&str]) -> Self {
        let boundary = "=_trapline_test";
        let parts: Vec<_> = parts.iter().map(|part| format!("--{boundary}\n{part}\n")).collect();
        let body = format!("{}--{boundary}--\n", parts.concat());
        self.part_of(&format!("multipart/{subtype}; boundary=\"{boundary}\""), &body)
    }

    /// The bytes as they are to arrive.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: Sat, 31 Jan 2026 09:30:00 +0000\r\n",
            self.from, self.to, self.subject
        );
        head.push_str("Message-ID: <1@example.test>\r\nMIME-Version: 1.0\r\n");
        if !self.fields.iter().any(|field| field.starts_with("Content-Type")) {
            head.push_str("Content-Type: text/plain; charset=utf-8\r\n");
        }
        for field in &self.fields {
            head.push_str(field);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body, b"\r\n"].concat()
    }

    fn part_of(mut self, content_type: &str, body: &str) -> Self {
        self.fields.push(format!("Content-Type: {content_type}"));
        self.body = body.replace('\n', "\r\n").into_bytes();
        self
    }
}

/// A message as it goes over the wire after DATA, with its end (RFC 5321, section 4.5.2).
pub fn dot_stuff(raw: &[u8]) -> Vec<u8> {
    let mut wire = Vec::with_capacity(raw.len() + 16);
    let mut at_line_start = true;
    for (at, &octet) in raw.iter().enumerate() {
        if at_line_start && octet == b'.' {
            wire.push(b'.');
        }
        wire.push(octet);
        at_line_start = octet == b'\n' && at > 0 && raw[at - 1] == b'\r';
    }
    // A message without a line end at its end gets one on the way: there is no end without it.
    if !at_line_start {
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b".\r\n");
    wire
}

/// A text in ASCII, such as a signature in Base64, with another first letter.
pub fn altered(text: &str) -> String {
    let first = if text.starts_with('A') { "B" } else { "A" };
    format!("{first}{}", &text[1..])
}

/// SHA-256 in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuffs_dots_only_after_a_whole_line_end() {
        for (raw, wire) in [
            ("a\r\n", "a\r\n.\r\n"),
            ("a", "a\r\n.\r\n"),
            ("", ".\r\n"),
            (".\r\n", "..\r\n.\r\n"),
            ("a\r\n..b\r\n", "a\r\n...b\r\n.\r\n"),
            ("a\n.b\r\n", "a\n.b\r\n.\r\n"),
        ] {
            assert_eq!(dot_stuff(raw.as_bytes()), wire.as_bytes(), "{raw:?}");
        }
    }

    #[test]
    fn a_mail_has_one_content_type() {
        let mail = Mail::new("s", "t").multipart("mixed", &["\nx"]).bytes();
        let text = String::from_utf8(mail).unwrap();
        assert_eq!(text.matches("Content-Type").count(), 1, "{text}");
        assert!(text.contains("\r\n\r\n--=_trapline_test\r\n\r\nx\r\n--=_trapline_test--\r\n"));
    }
}
