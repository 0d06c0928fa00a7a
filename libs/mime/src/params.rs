//! Content-Type and Content-Disposition: a value and parameters (RFC 2045, section 5.1).

use crate::fields;

/// A structured value; broken ones are read as far as they go.
#[derive(Debug, Default)]
pub(crate) struct Value {
    /// The token before the parameters, lower-case.
    pub(crate) token: String,
    /// Names are lower-case, values unquoted; in order.
    pub(crate) params: Vec<(String, Vec<u8>)>,
}

impl Value {
    /// Reads a field's value.
    pub(crate) fn read(value: &[u8]) -> Self {
        let value = fields::unfold(value);
        let is_end = |byte: &u8| matches!(byte, b';' | b' ' | b'\t' | b'(' | b',');
        let end = value.iter().position(is_end).unwrap_or(value.len());
        // Some senders leave the token out and start with a parameter.
        let end = if value[..end].contains(&b'=') { 0 } else { end };
        let token = String::from_utf8_lossy(&value[..end]).trim_matches('"').to_ascii_lowercase();
        Self { token, params: Reader { rest: &value[end..] }.collect() }
    }

    /// The first parameter called `name`, which is lower-case.
    pub(crate) fn param(&self, name: &str) -> Option<&[u8]> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }
}

/// The first word of a parameter that is one, without single quotes and other remains of a sender's
/// own syntax.
pub(crate) fn word(value: &[u8]) -> &[u8] {
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"' | b'`' | b' ' | b'\t');
    let start = value.iter().position(|byte| !is_quote(byte)).unwrap_or(value.len());
    let value = &value[start..];
    let is_end = |byte: &u8| is_quote(byte) || matches!(byte, b';' | b',' | b'(');
    &value[..value.iter().position(is_end).unwrap_or(value.len())]
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Iterator for Reader<'_> {
    type Item = (String, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.skip_separators();
            if self.rest.is_empty() {
                return None;
            }
            let end = self.rest.iter().position(|byte| matches!(byte, b'=' | b';'));
            let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            if let Some(value) = rest.strip_prefix(b"=") {
                self.rest = value.trim_ascii_start();
                let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
                return Some((name, self.value()));
            }
        }
    }
}

impl Reader<'_> {
    fn skip_separators(&mut self) {
        while let [first, rest @ ..] = self.rest {
            match first {
                b';' | b',' | b' ' | b'\t' => self.rest = rest,
                b'(' => {
                    let end = memchr::memchr(b')', rest).map_or(rest.len(), |at| at + 1);
                    self.rest = &rest[end..];
                }
                _ => break,
            }
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let Some(quoted) = self.rest.strip_prefix(b"\"") else {
            let end = self.rest.iter().position(|byte| *byte == b';');
            let (value, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return value.trim_ascii_end().to_vec();
        };
        let (value, length) = unquote(quoted);
        self.rest = &quoted[length..];
        value
    }
}

/// The quoted string whose opening quote was just read, and how much it takes. A backslash quotes
/// only a quote or a backslash: senders put Windows paths here.
fn unquote(quoted: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = quoted.get(at) {
        match (byte, quoted.get(at + 1)) {
            (b'"', _) => return (out, at + 1),
            (b'\\', Some(next @ (b'"' | b'\\'))) => {
                out.push(*next);
                at += 1;
            }
            _ => out.push(*byte),
        }
        at += 1;
    }
    (out, at)
}
