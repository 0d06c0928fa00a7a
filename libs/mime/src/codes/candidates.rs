//! Pieces of a text that have the shape of a code.

use super::mask::MASK;

/// How much a shape alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Digits, in one piece or in groups.
    Digits,
    /// Capitals and digits.
    Capitals,
    /// Any letters and digits, or groups of capitals: a code only right after its name.
    Loose,
    /// Capitals only: a code only on a line of its own, right after its name.
    Letters,
}

/// What could be a code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) start: usize,
    pub(super) end: usize,
    /// As a person would type it.
    pub(super) value: String,
    pub(super) shape: Shape,
}

/// A run of ASCII letters and digits.
#[derive(Clone, Copy)]
struct Run<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

impl Run<'_> {
    fn is_digits(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn has_digit(&self) -> bool {
        self.text.bytes().any(|byte| byte.is_ascii_digit())
    }

    fn has_capitals_only(&self) -> bool {
        !self.text.bytes().any(|byte| byte.is_ascii_lowercase())
    }
}

/// The candidates of `text`, in order; `masked` is the text with what is certainly no code masked.
pub(super) fn find(text: &str, masked: &[u8]) -> Vec<Candidate> {
    let runs = runs(text, masked);
    let mut found = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let rest = &runs[at..];
        let before = at.checked_sub(1).map(|before| runs[before]);
        let (candidate, used) = spaced(text, rest)
            .or_else(|| grouped(text, before, rest))
            .unwrap_or_else(|| (single(&rest[0]), 1));
        let ends = (rest[0].start, rest[used - 1].end);
        found.extend(candidate.filter(|_| stands_alone(text, masked, ends.0, ends.1)));
        at += used;
    }
    found
}

fn runs<'a>(text: &'a str, masked: &[u8]) -> Vec<Run<'a>> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(offset) = masked[at..].iter().position(u8::is_ascii_alphanumeric) {
        let start = at + offset;
        let length = masked[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        at = start + length;
        runs.push(Run { start, end: at, text: &text[start..at] });
    }
    runs
}

type Match = Option<(Option<Candidate>, usize)>;

/// `4 8 2 9 1 3`: single digits (or capitals among them) with the same blank between them.
fn spaced(text: &str, runs: &[Run<'_>]) -> Match {
    let gap = |a: &Run<'_>, b: &Run<'_>| &text[a.end..b.start];
    let is_blank = |gap: &str| gap.len() <= 3 && gap.chars().all(char::is_whitespace);
    let is_one = |run: &Run<'_>| run.text.len() == 1 && run.has_capitals_only();
    let mut count = usize::from(runs.first().is_some_and(is_one));
    while count > 0 && runs.get(count).is_some_and(is_one) {
        let between = gap(&runs[count - 1], &runs[count]);
        if !is_blank(between) || between != gap(&runs[0], &runs[1]) {
            break;
        }
        count += 1;
    }
    if count < 4 {
        return None;
    }
    let runs = &runs[..count];
    let digits = runs.iter().filter(|run| run.is_digits()).count();
    let value: String = runs.iter().map(|run| run.text).collect();
    let shape = if digits == count { Shape::Digits } else { Shape::Capitals };
    let is_code = count <= 10 && digits * 2 >= count && !is_sequence(&value);
    let candidate = Candidate { start: runs[0].start, end: runs[count - 1].end, value, shape };
    Some((is_code.then_some(candidate), count))
}

/// Page numbers: `1 2 3 4 5`. Six in a row are taken for a code, as testers send it.
fn is_sequence(value: &str) -> bool {
    value.len() != 6 && "123456789".starts_with(value)
}

/// `482 913`, `482-913`, `4829-1375`, `G-482913`, `WDJB-MJHT`.
fn grouped(text: &str, before: Option<Run<'_>>, runs: &[Run<'_>]) -> Match {
    let [first, second, rest @ ..] = runs else { return None };
    let gap = |a: &Run<'_>, b: &Run<'_>| &text[a.end..b.start];
    let separator = gap(first, second);
    let lengths = (first.text.len(), second.text.len());
    let digits = (first.is_digits(), second.is_digits());
    let is_joint = |gap: &str| matches!(gap, " " | "-" | "\u{A0}");
    let more = rest.first().is_some_and(|run| is_joint(gap(second, run)) && run.is_digits());
    let less = before.is_some_and(|run| is_joint(gap(&run, first)) && run.is_digits());
    if !is_joint(separator) || more || less {
        return None;
    }
    let (value, shape) = match (digits, lengths) {
        ((true, true), (3, 3) | (4, 4)) => {
            (format!("{}{}", first.text, second.text), Shape::Digits)
        }
        ((false, true), (1, 5 | 6)) if separator == "-" && first.has_capitals_only() => {
            (format!("{}-{}", first.text, second.text), Shape::Capitals)
        }
        (_, (3..=5, 3..=5))
            if separator == "-" && first.has_capitals_only() && second.has_capitals_only() =>
        {
            (format!("{}-{}", first.text, second.text), Shape::Loose)
        }
        _ => return None,
    };
    Some((Some(Candidate { start: first.start, end: second.end, value, shape }), 2))
}

fn single(run: &Run<'_>) -> Option<Candidate> {
    let length = run.text.len();
    let shape = if run.is_digits() {
        (4..=8).contains(&length).then_some(Shape::Digits)
    } else if !(4..=10).contains(&length) {
        None
    } else if !run.has_digit() {
        run.has_capitals_only().then_some(Shape::Letters)
    } else if run.has_capitals_only() {
        Some(Shape::Capitals)
    } else {
        Some(Shape::Loose)
    };
    Some(Candidate { start: run.start, end: run.end, value: run.text.to_owned(), shape: shape? })
}

/// Whether what is around is no part of the same word or number.
fn stands_alone(text: &str, masked: &[u8], start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let masked_at = |at: Option<usize>| at.and_then(|at| masked.get(at)) == Some(&MASK);
    !masked_at(start.checked_sub(1))
        && !masked_at(Some(end))
        && before.next().is_none_or(|near| !joins(near, before.next(), "/@#%&+=$_\\"))
        && after.next().is_none_or(|near| !joins(near, after.next(), "/@%&+=_°\\"))
}

/// Whether `near` binds a number to what is beyond it.
fn joins(near: char, beyond: Option<char>, always: &str) -> bool {
    // Scripts without blanks between words put numbers right beside letters.
    let is_letter = near.is_alphabetic() && u32::from(near) < 0x2E80;
    let if_beyond = matches!(near, '-' | '.' | ',' | '\'' | '’');
    is_letter
        || always.contains(near)
        || (if_beyond && beyond.is_some_and(|char| char.is_ascii_alphanumeric()))
}
