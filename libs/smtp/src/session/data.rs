//! The text after DATA (RFC 5321, section 4.5.2).

use memchr::memmem;

/// Finds the end of the text and removes the dots that the client stuffed.
///
/// Only CRLF `.` CRLF ends it. Servers that also took a bare LF or CR there let one mail smuggle in
/// another; here they're octets like any other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DotReader {
    /// After a CRLF, which for the first line is the command's own.
    #[default]
    LineStart,
    /// After a CR.
    Cr,
    /// After CRLF `.`; the dot isn't passed on, whatever follows.
    Dot,
    /// After CRLF `.` CR; the CR is passed on when no LF follows.
    DotCr,
    /// Anywhere else.
    Text,
}

impl DotReader {
    /// Passes the text in `input` on to `text`, and tells how much of `input` was taken, and
    /// whether the text ended there. Over the whole text, what's passed on is no longer than what
    /// is taken; in one call, it may be one octet longer.
    pub(super) fn read(&mut self, input: &[u8], mut text: impl FnMut(&[u8])) -> (usize, bool) {
        let mut rest = input;
        while let Some((&octet, after)) = rest.split_first() {
            match (*self, octet) {
                (Self::DotCr, b'\n') => return (input.len() - after.len(), true),
                (Self::LineStart, b'.') => *self = Self::Dot,
                (Self::Dot, b'\r') => *self = Self::DotCr,
                (Self::Cr, b'\n') => {
                    text(b"\n");
                    *self = Self::LineStart;
                }
                (Self::DotCr, _) => {
                    text(b"\r");
                    *self = Self::Text;
                    continue;
                }
                _ => {
                    let span = span(rest);
                    text(&rest[..span]);
                    *self = Self::after(&rest[..span]);
                    rest = &rest[span..];
                    continue;
                }
            }
            rest = after;
        }
        (input.len(), false)
    }

    fn after(span: &[u8]) -> Self {
        match span {
            [.., b'\r', b'\n'] => Self::LineStart,
            [.., b'\r'] => Self::Cr,
            _ => Self::Text,
        }
    }
}

/// How far the text goes on without a line that starts with a dot.
fn span(text: &[u8]) -> usize {
    memmem::find(text, b"\r\n.").map_or(text.len(), |at| at + 2)
}

#[cfg(test)]
mod tests;
