//! Encoded words in header fields (RFC 2047).

use memchr::memmem;

use crate::charset::{self, Charset};
use crate::fields;
use crate::transfer;

/// The longest encoded word that is looked for; RFC 2047 says 75, senders write more.
const LONGEST: usize = 4_096;

/// An encoded word: its charset's label and its decoded bytes.
struct Word<'a> {
    label: &'a [u8],
    bytes: Vec<u8>,
    /// How much of the text it takes.
    length: usize,
}

/// Decoded text, and whether an unknown charset was named on the way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) unknown_charset: bool,
}

/// Unfolds and decodes a value. Line breaks that were encoded into it become blanks.
pub(crate) fn decode(value: &[u8]) -> Decoded {
    let value = fields::unfold(value);
    let mut decoder = Decoder { utf8: std::str::from_utf8(&value).is_ok(), ..Decoder::default() };
    let mut rest: &[u8] = &value;
    let mut from = 0;
    while let Some(found) = memmem::find(&rest[from..], b"=?") {
        let at = from + found;
        if let Some(word) = word(&rest[at..]) {
            decoder.plain(&rest[..at]);
            rest = &rest[at + word.length..];
            from = 0;
            decoder.word(word);
        } else {
            from = at + 2;
        }
    }
    decoder.plain(rest);
    decoder.flush();
    decoder.finish()
}

/// How many bytes the encoded word at the start of `text` takes, if there is one.
pub(crate) fn length(text: &[u8]) -> Option<usize> {
    frame(text).map(|frame| frame.length)
}

#[derive(Default)]
struct Decoder<'a> {
    out: String,
    /// Whether the whole value is UTF-8, so that its plain pieces are taken for it.
    utf8: bool,
    /// Bytes of adjacent words of one charset: a character may be split between them.
    pending: Option<(&'a [u8], Vec<u8>)>,
    unknown_charset: bool,
}

impl<'a> Decoder<'a> {
    fn plain(&mut self, text: &[u8]) {
        let between = self.pending.is_some() && text.iter().all(u8::is_ascii_whitespace);
        if text.is_empty() || between {
            return;
        }
        self.flush();
        self.out.push_str(&if self.utf8 {
            charset::guess(text)
        } else {
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(text).0
        });
    }

    fn word(&mut self, word: Word<'a>) {
        match &mut self.pending {
            Some((label, bytes)) if label.eq_ignore_ascii_case(word.label) => {
                bytes.extend_from_slice(&word.bytes);
            }
            _ => {
                self.flush();
                self.pending = Some((word.label, word.bytes));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((label, bytes)) = self.pending.take() {
            let charset = charset::find(label);
            self.unknown_charset |= matches!(charset, Charset::Unknown);
            self.out.push_str(&charset::decode(charset, &bytes));
        }
    }

    fn finish(self) -> Decoded {
        let text = if self.out.contains(['\r', '\n']) {
            self.out.replace("\r\n", " ").replace(['\r', '\n'], " ")
        } else {
            self.out
        };
        Decoded { text, unknown_charset: self.unknown_charset }
    }
}

struct Frame<'a> {
    label: &'a [u8],
    encoding: u8,
    text: &'a [u8],
    length: usize,
}

/// `=?charset*language?encoding?text?=` (RFC 2231, section 5 for the language).
fn frame(text: &[u8]) -> Option<Frame<'_>> {
    let inner = text.strip_prefix(b"=?")?;
    let label_end = inner.iter().take(80).position(|byte| *byte == b'?' || *byte <= b' ')?;
    let (label, rest) = (&inner[..label_end], &inner[label_end..]);
    let [b'?', encoding, b'?', rest @ ..] = rest else { return None };
    let end = memmem::find(&rest[..rest.len().min(LONGEST)], b"?=")?;
    let length = text.len() - rest.len() + end + 2;
    let label = label.split(|byte| *byte == b'*').next().unwrap_or(label);
    let encoding = encoding.to_ascii_lowercase();
    let is_word = !label.is_empty() && matches!(encoding, b'b' | b'q');
    is_word.then_some(Frame { label, encoding, text: &rest[..end], length })
}

fn word(text: &[u8]) -> Option<Word<'_>> {
    let Frame { label, encoding, text, length } = frame(text)?;
    let bytes = if encoding == b'b' {
        transfer::base64(text)
    } else {
        let blanks: Vec<u8> = text.iter().map(|b| if *b == b'_' { b' ' } else { *b }).collect();
        transfer::quoted_printable(&blanks)
    };
    Some(Word { label, bytes, length })
}
