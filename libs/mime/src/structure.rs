//! A message's parts, by one walk over its boundary lines (RFC 2046, section 5.1).
//!
//! Of `mail-parser` only the parsers of single values are used (dates, rare charsets): its own walk
//! replaces bytes of text parts, hoists embedded messages and drops bodies without a boundary, and a
//! walk that keeps byte ranges was smaller than the repair of that.

use memchr::memmem::Finder;

use crate::fields::{self, Block, Field};
use crate::limits;
use crate::lines;
use crate::part::Head;
use crate::warnings::{Fault, ParseWarnings};

/// A part that is not a multipart.
#[derive(Debug)]
pub(crate) struct Leaf<'a> {
    pub(crate) head: Head,
    pub(crate) place: Place,
    /// As sent, still encoded.
    pub(crate) body: &'a [u8],
}

/// Where a part is in the multipart around it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// How many parts of that multipart are before it; 0 for a part that is the whole message.
    pub(crate) index: usize,
    /// Whether that multipart is a `multipart/alternative`.
    pub(crate) is_alternative: bool,
}

/// A message, split.
#[derive(Debug)]
pub(crate) struct Structure<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) leaves: Vec<Leaf<'a>>,
    pub(crate) faults: ParseWarnings,
}

/// Splits a raw message.
pub(crate) fn read(raw: &[u8]) -> Structure<'_> {
    let mut walk = Walk {
        raw,
        terminator: lines::terminator(raw),
        open: Vec::new(),
        leaf: None,
        leaves: Vec::new(),
        faults: lines::faults(raw),
        lookahead: raw.len() * LOOKAHEAD,
    };
    let block = fields::block(raw, 0, walk.terminator, |_| false);
    walk.faults.join(fields::faults(&block.fields));
    let start = walk.enter(&block, "text/plain", Place::default());
    walk.run(start);
    Structure { fields: block.fields, leaves: walk.leaves, faults: walk.faults }
}

/// A multipart whose end was not reached yet.
struct Multipart {
    head: Head,
    place: Place,
    /// How many of its parts were entered.
    parts: usize,
    boundary: Vec<u8>,
    /// Where its body starts.
    body: usize,
    /// Whether a delimiter of it was seen.
    delimited: bool,
    /// Whether its closing delimiter was seen.
    closed: bool,
}

struct Walk<'a> {
    raw: &'a [u8],
    terminator: u8,
    /// Innermost last.
    open: Vec<Multipart>,
    /// The leaf being read and where its body starts; none in a preamble or an epilogue.
    leaf: Option<(Head, Place, usize)>,
    leaves: Vec<Leaf<'a>>,
    faults: ParseWarnings,
    /// Bytes that may still be looked through for boundaries that are named.
    lookahead: usize,
}

/// How often the message may be looked through for boundaries, so that many multiparts whose
/// boundary never comes stay linear.
const LOOKAHEAD: usize = 4;
/// Lines in which a boundary that is not named is looked for.
const GUESSED_LINES: usize = 20;

impl Walk<'_> {
    fn run(&mut self, start: usize) {
        let pattern = [self.terminator, b'-', b'-'];
        let dashes = Finder::new(&pattern);
        let mut at = start;
        while let Some(start) = self.next_dashes(at, &dashes) {
            let (line, next) = lines::line(self.raw, start, self.terminator);
            at = next;
            let Some((depth, closing)) = delimiter(&self.open, line) else { continue };
            if !closing && self.leaves.len() + 1 >= limits::PARTS {
                self.faults.add(Fault::TooManyParts);
                break;
            }
            self.end_part(depth, start, next);
            self.open[depth].closed = closing;
            if !closing {
                at = self.enter_child(depth, next);
            }
        }
        self.end_leaf(self.raw.len());
        self.end_multiparts(0, self.raw.len());
    }

    /// The next line that starts with two dashes; `at` is the start of a line.
    fn next_dashes(&self, at: usize, dashes: &Finder<'_>) -> Option<usize> {
        if self.open.is_empty() { None } else { dashed_line(self.raw, at, dashes) }
    }

    fn enter_child(&mut self, depth: usize, at: usize) -> usize {
        let multipart = &mut self.open[depth];
        let place = Place {
            index: multipart.parts,
            is_alternative: multipart.head.media_type() == "multipart/alternative",
        };
        multipart.parts += 1;
        let is_digest = multipart.head.media_type() == "multipart/digest";
        let default = if is_digest { "message/rfc822" } else { "text/plain" };
        let open = &self.open;
        let block =
            fields::block(self.raw, at, self.terminator, |line| delimiter(open, line).is_some());
        self.enter(&block, default, place)
    }

    /// Starts the part with that header block, and says where its body starts.
    fn enter(&mut self, block: &Block<'_>, default: &str, place: Place) -> usize {
        self.faults.join(block.faults);
        let (head, faults) = Head::read(&block.fields, default);
        self.faults.join(faults);
        self.leaf = None;
        if !head.media_type().starts_with("multipart/") {
            self.leaf = Some((head, place, block.body));
        } else if self.open.len() == limits::DEPTH {
            self.faults.add(Fault::TooDeep);
            self.leaf = Some((head, place, block.body));
        } else {
            self.enter_multipart(head, place, block.body);
        }
        block.body
    }

    fn enter_multipart(&mut self, head: Head, place: Place, body: usize) {
        let named = head.boundary().filter(|name| name.len() <= limits::BOUNDARY);
        let is_used = named.is_some_and(|name| self.is_used(name, body));
        let evident = if is_used { None } else { self.evident_boundary(body) };
        self.faults.add_if(named.is_none() || evident.is_some(), Fault::MissingBoundary);
        match evident.or_else(|| named.map(<[u8]>::to_vec)) {
            Some(boundary) => self.open.push(Multipart {
                head,
                place,
                parts: 0,
                boundary,
                body,
                delimited: false,
                closed: false,
            }),
            None => self.leaf = Some((head.into_text(), place, body)),
        }
    }

    /// Whether a delimiter of that name comes before one of a multipart around it. It counts as used
    /// once too much was looked through.
    fn is_used(&mut self, name: &[u8], body: usize) -> bool {
        let pattern = [self.terminator, b'-', b'-'];
        let dashes = Finder::new(&pattern);
        let mut at = body;
        while let Some(start) = dashed_line(self.raw, at, &dashes) {
            let (line, next) = lines::line(self.raw, start, self.terminator);
            self.lookahead = self.lookahead.saturating_sub(next - at);
            if self.lookahead == 0 || is_delimiter(name, line).is_some() {
                return true;
            }
            if delimiter(&self.open, line).is_some() {
                return false;
            }
            at = next;
        }
        self.lookahead = self.lookahead.saturating_sub(self.raw.len() - at);
        false
    }

    /// The boundary that a body uses, whatever was named: that of its first line with two dashes in
    /// front, if a part follows that has a MIME field or is delimited once more.
    fn evident_boundary(&mut self, body: usize) -> Option<Vec<u8>> {
        let mut at = body;
        for _ in 0..GUESSED_LINES {
            let (line, next) = lines::line(self.raw, at, self.terminator);
            if next == self.raw.len() || delimiter(&self.open, line).is_some() {
                return None;
            }
            let name = line.strip_prefix(b"--").map(<[u8]>::trim_ascii_end);
            // Dashes alone are a rule, or the start of a signature.
            if let Some(name) = name.filter(|name| name.iter().any(u8::is_ascii_alphanumeric)) {
                let fits = name.len() <= limits::BOUNDARY && self.starts_part(name, next);
                return fits.then(|| name.to_vec());
            }
            at = next;
        }
        None
    }

    /// Whether a part is at `at`, after a delimiter of that name.
    fn starts_part(&mut self, name: &[u8], at: usize) -> bool {
        let block = fields::block(self.raw, at, self.terminator, |_| true);
        let is_mime = |field: &Field<'_>| {
            field.name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("content-"))
        };
        block.body > at
            && block.faults == ParseWarnings::default()
            && (block.fields.iter().any(is_mime) || self.is_used(name, block.body))
    }

    /// Ends everything within the multipart at `depth` before the delimiter line `start..next`.
    fn end_part(&mut self, depth: usize, start: usize, next: usize) {
        let end = self.before_line_end(start, next);
        self.end_leaf(end);
        self.end_multiparts(depth + 1, end);
        self.open[depth].delimited = true;
    }

    fn end_leaf(&mut self, end: usize) {
        if let Some((head, place, body)) = self.leaf.take() {
            self.leaves.push(Leaf { head, place, body: &self.raw[body..end.max(body)] });
        }
    }

    /// Ends the multiparts from `depth` inwards. One whose boundary never came is a text.
    fn end_multiparts(&mut self, depth: usize, end: usize) {
        while self.open.len() > depth {
            let Some(multipart) = self.open.pop() else { break };
            self.faults
                .add_if(multipart.delimited && !multipart.closed, Fault::MissingClosingBoundary);
            if !multipart.delimited {
                self.faults.add(Fault::MissingBoundary);
                let body = &self.raw[multipart.body..end.max(multipart.body)];
                if depth == 0 || !body.trim_ascii().is_empty() {
                    let head = multipart.head.into_text();
                    self.leaves.push(Leaf { head, place: multipart.place, body });
                }
            }
        }
    }

    /// The line end before a delimiter belongs to it; it is as long as the delimiter's own.
    fn before_line_end(&self, start: usize, next: usize) -> usize {
        let Some(end) = start.checked_sub(1) else { return start };
        if self.terminator == b'\r' {
            return end;
        }
        let doubled = self.raw[start..next].ends_with(b"\r\r\n");
        let before = &self.raw[..end];
        if doubled && before.ends_with(b"\r\r") {
            end - 2
        } else {
            end - usize::from(before.ends_with(b"\r"))
        }
    }
}

/// The next line of `raw` that starts with two dashes; `at` is the start of a line.
fn dashed_line(raw: &[u8], at: usize, dashes: &Finder<'_>) -> Option<usize> {
    let rest = raw.get(at..)?;
    if rest.starts_with(b"--") {
        return Some(at);
    }
    dashes.find(rest).map(|found| at + found + 1)
}

/// Whether `line` is a delimiter of that boundary; and if it is, whether the closing one.
fn is_delimiter(boundary: &[u8], line: &[u8]) -> Option<bool> {
    let tail = line.strip_prefix(b"--")?.strip_prefix(boundary)?;
    let (tail, closing) = match tail.strip_prefix(b"--") {
        Some(tail) => (tail, true),
        None => (tail, false),
    };
    tail.trim_ascii().is_empty().then_some(closing)
}

/// Which open multipart `line` delimits, and whether it closes it. The innermost wins; one that is
/// closed already counts only if no other does.
fn delimiter(open: &[Multipart], line: &[u8]) -> Option<(usize, bool)> {
    let find = |closed: bool| {
        open.iter()
            .enumerate()
            .rev()
            .filter(move |(_, multipart)| multipart.closed == closed)
            .find_map(|(depth, multipart)| Some((depth, is_delimiter(&multipart.boundary, line)?)))
    };
    find(false).or_else(|| find(true))
}
