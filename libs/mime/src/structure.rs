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
use crate::warnings::{Fault, Faults};

/// A part that is not a multipart.
#[derive(Debug)]
pub(crate) struct Leaf<'a> {
    pub(crate) head: Head,
    /// As sent, still encoded.
    pub(crate) body: &'a [u8],
}

/// A message, split.
#[derive(Debug)]
pub(crate) struct Structure<'a> {
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) leaves: Vec<Leaf<'a>>,
    pub(crate) faults: Faults,
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
    };
    let block = fields::block(raw, 0, walk.terminator, |_| false);
    walk.faults.join(fields::faults(&block.fields));
    let start = walk.enter(&block, "text/plain");
    walk.run(start);
    Structure { fields: block.fields, leaves: walk.leaves, faults: walk.faults }
}

/// A multipart whose end was not reached yet.
struct Multipart {
    head: Head,
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
    leaf: Option<(Head, usize)>,
    leaves: Vec<Leaf<'a>>,
    faults: Faults,
}

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
        let rest = self.raw.get(at..)?;
        if self.open.is_empty() {
            None
        } else if rest.starts_with(b"--") {
            Some(at)
        } else {
            dashes.find(rest).map(|found| at + found + 1)
        }
    }

    fn enter_child(&mut self, depth: usize, at: usize) -> usize {
        let is_digest = self.open[depth].head.media_type() == "multipart/digest";
        let default = if is_digest { "message/rfc822" } else { "text/plain" };
        let open = &self.open;
        let block =
            fields::block(self.raw, at, self.terminator, |line| delimiter(open, line).is_some());
        self.enter(&block, default)
    }

    /// Starts the part with that header block, and says where its body starts.
    fn enter(&mut self, block: &Block<'_>, default: &str) -> usize {
        self.faults.join(block.faults);
        let (head, faults) = Head::read(&block.fields, default);
        self.faults.join(faults);
        self.leaf = None;
        if !head.media_type().starts_with("multipart/") {
            self.leaf = Some((head, block.body));
        } else if self.open.len() == limits::DEPTH {
            self.faults.add(Fault::TooDeep);
            self.leaf = Some((head, block.body));
        } else {
            self.enter_multipart(head, block.body);
        }
        block.body
    }

    fn enter_multipart(&mut self, head: Head, body: usize) {
        let named = head.boundary().filter(|name| name.len() <= limits::BOUNDARY);
        self.faults.add_if(named.is_none(), Fault::MissingBoundary);
        let boundary =
            named.map(<[u8]>::to_vec).or_else(|| self.likely_boundary(body)).unwrap_or_default();
        if boundary.is_empty() {
            self.leaf = Some((head.into_text(), body));
        } else {
            self.open.push(Multipart { head, boundary, body, delimited: false, closed: false });
        }
    }

    /// The boundary of a multipart that names none: its first line with two dashes in front, if
    /// what follows looks like a part.
    fn likely_boundary(&self, body: usize) -> Option<Vec<u8>> {
        let mut at = body;
        for _ in 0..20 {
            let (line, next) = lines::line(self.raw, at, self.terminator);
            if let Some(boundary) = line.strip_prefix(b"--").filter(|rest| !rest.is_empty()) {
                let block = fields::block(self.raw, next, self.terminator, |_| true);
                let is_part = block.body > next && block.faults == Faults::default();
                return (is_part && boundary.len() <= limits::BOUNDARY)
                    .then(|| boundary.trim_ascii().to_vec());
            }
            at = next;
        }
        None
    }

    /// Ends everything within the multipart at `depth` before the delimiter line `start..next`.
    fn end_part(&mut self, depth: usize, start: usize, next: usize) {
        let end = self.before_line_end(start, next);
        self.end_leaf(end);
        self.end_multiparts(depth + 1, end);
        self.open[depth].delimited = true;
    }

    fn end_leaf(&mut self, end: usize) {
        if let Some((head, body)) = self.leaf.take() {
            self.leaves.push(Leaf { head, body: &self.raw[body..end.max(body)] });
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
                    self.leaves.push(Leaf { head: multipart.head.into_text(), body });
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

/// Which open multipart `line` delimits, and whether it closes it. The innermost wins; one that is
/// closed already counts only if no other does.
fn delimiter(open: &[Multipart], line: &[u8]) -> Option<(usize, bool)> {
    let rest = line.strip_prefix(b"--")?;
    let matches = |multipart: &Multipart| {
        let tail = rest.strip_prefix(multipart.boundary.as_slice())?;
        let (tail, closing) = match tail.strip_prefix(b"--") {
            Some(tail) => (tail, true),
            None => (tail, false),
        };
        tail.trim_ascii().is_empty().then_some(closing)
    };
    let find = |closed: bool| {
        open.iter()
            .enumerate()
            .rev()
            .filter(move |(_, multipart)| multipart.closed == closed)
            .find_map(|(depth, multipart)| Some((depth, matches(multipart)?)))
    };
    find(false).or_else(|| find(true))
}
