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

    /// The next line, which is an AUTH response when `response` says so.
    pub(super) fn next<'i>(&mut self, input: &mut &'i [u8], response: bool) -> Line<'i> {
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
        self.collect(input, response)
    }

    fn collect<'i>(&mut self, input: &mut &'i [u8], response: bool) -> Line<'i> {
        let long = response || self.is_auth(input);
        let limit = if long { self.limit.max(AUTH_LINE) } else { self.limit };
        let room = limit - self.partial.len();
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

    /// Whether the line begins as an AUTH command does.
    fn is_auth(&self, input: &[u8]) -> bool {
        let start = self.partial.iter().chain(input).take(5);
        start.map(u8::to_ascii_uppercase).eq(*b"AUTH ")
    }
}

/// An AUTH command or response (RFC 4954, section 4) with its CR.
const AUTH_LINE: usize = 12_288 + 1;

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
                match lines.next(&mut input, false) {
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
    fn an_auth_line_may_be_longer() {
        for (text, response) in [("auth plain ", false), ("AUTH X ", false), ("", true)] {
            let line = |length: usize| format!("{text}{}", "x".repeat(length - text.len()));
            for (length, whole) in [(12_288, true), (12_290, false)] {
                for piece in [1, 5000, 20_000] {
                    let mut lines = Lines::new(4096);
                    let sent = format!("{}\r\n", line(length));
                    let mut seen = Vec::new();
                    for mut input in sent.as_bytes().chunks(piece) {
                        seen.push(matches!(lines.next(&mut input, response), Line::Whole(_)));
                    }
                    assert_eq!(seen.last() == Some(&true), whole, "{text:?} {length} by {piece}");
                }
            }
        }
    }

    #[test]
    fn reports_each_length_past_the_limit_however_it_is_split() {
        let expected = ["too long false", "too long true", "ok\n"];
        assert_eq!(lines(4, &[b"123456789\nok\n"]), expected);
        assert_eq!(lines(4, &[b"1234", b"5", b"678", b"9\no", b"k\n"]), expected);
    }
}
