//! Cuts the input into command lines.

use std::{borrow::Cow, mem};

use memchr::memchr;

/// Collects a line that arrives in pieces; holds nothing between lines.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    partial: Vec<u8>,
    /// Octets dropped of a line that's too long, since that was last reported.
    skipped: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'i> {
    /// The input is used up and the line isn't complete.
    Unfinished,
    /// A line with its line end: CRLF, or LF alone, as people at a terminal send it.
    Whole(Cow<'i, [u8]>),
    /// The limit was passed: once with `again` unset, then once more for each further length.
    TooLong { again: bool },
}

impl Lines {
    /// `limit` counts the octets before the LF.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), partial: Vec::new(), skipped: None }
    }

    pub(super) fn next<'i>(&mut self, input: &mut &'i [u8]) -> Line<'i> {
        while let Some(skipped) = self.skipped {
            let (window, end) = scan(input, self.limit - skipped);
            *input = &input[window..];
            match end {
                true => self.skipped = None,
                false if skipped + window == self.limit => {
                    self.skipped = Some(0);
                    return Line::TooLong { again: true };
                }
                false => {
                    self.skipped = Some(skipped + window);
                    return Line::Unfinished;
                }
            }
        }
        self.collect(input)
    }

    fn collect<'i>(&mut self, input: &mut &'i [u8]) -> Line<'i> {
        let room = self.limit - self.partial.len();
        let (window, end) = scan(input, room + 1);
        if !end && window > room {
            *input = &input[room..];
            self.partial = Vec::new();
            self.skipped = Some(0);
            return Line::TooLong { again: false };
        }
        let (taken, rest) = input.split_at(window);
        *input = rest;
        if end && self.partial.is_empty() {
            return Line::Whole(Cow::Borrowed(taken));
        }
        self.partial.extend_from_slice(taken);
        if end { Line::Whole(Cow::Owned(mem::take(&mut self.partial))) } else { Line::Unfinished }
    }
}

/// How much of `input`, at most `most` octets, lies before or on the first LF; and whether that is
/// among it.
fn scan(input: &[u8], most: usize) -> (usize, bool) {
    let window = &input[..input.len().min(most)];
    memchr(b'\n', window).map_or((window.len(), false), |at| (at + 1, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        for piece in pieces {
            let mut input = *piece;
            loop {
                match lines.next(&mut input) {
                    Line::Unfinished => break,
                    Line::Whole(line) => seen.push(String::from_utf8_lossy(&line).into_owned()),
                    Line::TooLong { again } => seen.push(format!("too long {again}")),
                }
            }
            assert!(input.is_empty(), "all input is taken");
        }
        seen
    }

    #[test]
    fn joins_pieces_and_takes_both_line_ends() {
        assert_eq!(lines(9, &[b"NO", b"OP\r", b"\nQUIT\n", b"x"]), ["NOOP\r\n", "QUIT\n"]);
    }

    #[test]
    fn a_line_at_the_limit_is_whole() {
        assert_eq!(lines(4, &[b"1234\n"]), ["1234\n"]);
        assert_eq!(lines(4, &[b"1234", b"\n"]), ["1234\n"]);
    }

    #[test]
    fn reports_each_length_past_the_limit_however_it_is_split() {
        let expected = ["too long false", "too long true", "ok\n"];
        assert_eq!(lines(4, &[b"123456789\nok\n"]), expected);
        assert_eq!(lines(4, &[b"1234", b"5", b"678", b"9\no", b"k\n"]), expected);
    }
}
