//! A page while it is written, with a bound on its length.

/// What a page may be longer than its source, in times and in bytes.
const TIMES: usize = 4;
const MORE: usize = 64 * 1024;

/// The longest page that is made of `source`, in bytes.
pub(super) fn bound(source: &str) -> usize {
    source.len() * TIMES + MORE
}

/// A page that takes no more than its bound.
pub(super) struct Output {
    pub(super) page: String,
    bound: usize,
    pub(super) is_full: bool,
    /// Where a text ended that more letters could make a character reference of.
    reference: Option<usize>,
}

impl Output {
    pub(super) fn new(source: &str) -> Self {
        let page = String::with_capacity(source.len() + source.len() / 8);
        Self { page, bound: bound(source), is_full: false, reference: None }
    }

    /// Writes `text` whole, or marks the page as full.
    pub(super) fn push(&mut self, text: &str) {
        self.is_full |= self.page.len() + text.len() > self.bound;
        if !self.is_full {
            self.page.push_str(text);
        }
    }

    /// Notes that the text just written ends in what may be the start of a character reference.
    pub(super) fn open_reference(&mut self) {
        self.reference = Some(self.page.len());
    }

    /// Whether the page ends in such a start.
    pub(super) fn ends_in_reference(&self) -> bool {
        self.reference == Some(self.page.len())
    }

    /// Writes what may not stand there by half: all of it or nothing.
    pub(super) fn whole(&mut self, write: impl FnOnce(&mut Self)) {
        let start = self.page.len();
        write(self);
        if self.is_full {
            self.page.truncate(start);
        }
    }

    /// Writes `text` with what `escape` puts in the place of some bytes; as much as has room.
    pub(super) fn escaped(&mut self, text: &str, escape: impl Fn(u8) -> Option<&'static str>) {
        let mut done = 0;
        for (at, byte) in text.bytes().enumerate() {
            if let Some(replacement) = escape(byte) {
                self.push(&text[done..at]);
                self.push(replacement);
                done = at + 1;
            }
            if self.is_full {
                return;
            }
        }
        self.push(&text[done..]);
    }
}

/// In text that holds character references: nothing in it starts a tag.
pub(super) fn in_text(byte: u8) -> Option<&'static str> {
    (byte == b'<').then_some("&lt;")
}

/// In text that holds none.
pub(super) fn in_plain_text(byte: u8) -> Option<&'static str> {
    match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    }
}

/// In a value between double quotes that holds character references.
pub(super) fn in_value(byte: u8) -> Option<&'static str> {
    match byte {
        b'"' => Some("&quot;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        _ => None,
    }
}

/// In a value between double quotes that holds none.
pub(super) fn in_plain_value(byte: u8) -> Option<&'static str> {
    if byte == b'&' { Some("&amp;") } else { in_value(byte) }
}
