//! Mails made of parts.

use std::fmt::Write as _;

/// A mail.
#[derive(Clone)]
pub(super) struct Mail {
    fields: Vec<(String, String)>,
    text: Option<String>,
    html: Option<String>,
    /// Parts with their header blocks, as they stand.
    parts: Vec<String>,
    /// What stands after the header, instead of all others.
    body: Option<String>,
}

/// A text that no rule minds.
pub(super) const TEXT: &str = "Hello Ada,\r\nwelcome to Harbour. Your account is ready, and we look forward to \
    seeing you.\r\nPlease write to us whenever something is unclear to you.\r\n";

impl Mail {
    /// A mail of text that no rule matches.
    pub(super) fn good() -> Self {
        let fields = [
            ("From", "Harbour <app@harbour.example.com>"),
            ("To", "Ada <ada@example.com>"),
            ("Subject", "Welcome to Harbour"),
            ("Date", "Mon, 02 Mar 2026 09:00:00 +0000"),
            ("Message-ID", "<1@harbour.example.com>"),
            ("MIME-Version", "1.0"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { fields, text: Some(TEXT.to_owned()), html: None, parts: Vec::new(), body: None }
    }

    /// Such a mail with an HTML part that says the same as its text.
    pub(super) fn page(html: &str) -> Self {
        Self::good().html(&format!("<p>{TEXT}</p>\r\n{html}"))
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.and(name, value)
    }

    pub(super) fn and(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| known != name);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    pub(super) fn html(mut self, html: &str) -> Self {
        self.html = Some(html.to_owned());
        self
    }

    pub(super) fn only_html(mut self, html: &str) -> Self {
        self.text = None;
        self.html(html)
    }

    pub(super) fn part(mut self, head: &str, body: &str) -> Self {
        self.parts.push(format!("{head}\r\n\r\n{body}\r\n"));
        self
    }

    pub(super) fn file(self, name: &str, media_type: &str, body: &str) -> Self {
        let disposition = format!("Content-Disposition: attachment; filename=\"{name}\"");
        self.part(&format!("Content-Type: {media_type}\r\n{disposition}"), body)
    }

    /// A mail with this body, whatever its header says.
    pub(super) fn body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    /// The bytes, in which U+0080 to U+00FF of the header stand for bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in &self.fields {
            out.extend(format!("{name}: ").bytes());
            out.extend(value.chars().flat_map(|char| match char {
                '\u{80}'..='\u{FF}' => vec![u8::try_from(char).unwrap()],
                char => char.to_string().into_bytes(),
            }));
            out.extend(b"\r\n");
        }
        out.extend(self.rest().bytes());
        out
    }

    fn rest(&self) -> String {
        if let Some(body) = &self.body {
            return body.clone();
        }
        let of = |kind: &str, body: &str| {
            format!("Content-Type: text/{kind}; charset=utf-8\r\n\r\n{body}\r\n")
        };
        let mut parts: Vec<_> = self.text.iter().map(|text| of("plain", text)).collect();
        parts.extend(self.html.iter().map(|html| of("html", html)));
        parts.extend(self.parts.iter().cloned());
        if let [only] = parts.as_slice() {
            return only.clone();
        }
        let mut out = String::from("Content-Type: multipart/mixed; boundary=b\r\n\r\n");
        for part in parts {
            write!(out, "--b\r\n{part}").unwrap();
        }
        out + "--b--\r\n"
    }
}
