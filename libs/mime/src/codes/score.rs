//! How likely a candidate is a code, by the words around it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::candidates::{self, Candidate, Shape};
use super::vocabulary as words;
use super::{Source, mask};

/// From this score on a candidate is a code.
const THRESHOLD: i32 = 4;
/// Characters within which a word belongs to a candidate.
const NEAR: usize = 60;
/// The same within a sentence that says that one is the other.
const FAR: usize = 100;
/// The same for the names of other numbers.
const CLOSE: usize = 40;

/// A source with the places of the words that matter.
pub(super) struct Context {
    source: Source,
    candidates: Vec<Candidate>,
    /// Names of codes.
    names: Vec<Range<usize>>,
    /// Reasons to enter one.
    purposes: Vec<Range<usize>>,
    /// Names of other numbers.
    numbers: Vec<Range<usize>>,
}

impl Context {
    pub(super) fn new(source: Source) -> Self {
        let text = source.text.as_str();
        let other_codes = places(&words::OTHER_CODES, text);
        let mut names = places(&words::NAMES, text);
        names.retain(|name| !other_codes.iter().any(|other| overlap(name, other)));
        let mut numbers = places(&words::NUMBERS, text);
        numbers.extend(other_codes);
        numbers.sort_by_key(|range| range.end);
        let purposes = places(&words::PURPOSES, text);
        let candidates = candidates::find(text, &mask::apply(text));
        Self { source, candidates, names, purposes, numbers }
    }

    /// Whether any word here makes a code likely.
    pub(super) fn speaks_of_codes(&self) -> bool {
        !(self.names.is_empty() && self.purposes.is_empty())
    }

    /// Whether a code is named here.
    pub(super) fn names_codes(&self) -> bool {
        !self.names.is_empty()
    }

    /// The codes and their scores; `named` tells whether the message names a code anywhere.
    pub(super) fn scored(&self, named: bool) -> impl Iterator<Item = (&str, i32)> {
        let scored = self.candidates.iter().map(move |found| (found, self.score(found, named)));
        scored
            .filter(|(_, score)| *score >= THRESHOLD)
            .map(|(found, score)| (found.value.as_str(), score))
    }

    fn score(&self, found: &Candidate, named: bool) -> i32 {
        let text = self.source.text.as_str();
        if words::UNITS.as_ref().is_some_and(|units| units.is_match(&text[found.end..])) {
            return 0;
        }
        let name = self.name_of(found);
        let is_direct = name.is_some_and(|name| is_direct(between(text, name, found)));
        let is_alone = self.is_alone(found);
        if found.shape == Shape::Loose && !(is_direct || (is_alone && name.is_some())) {
            return 0;
        }
        if found.shape == Shape::Letters && !(is_alone && is_announced(text, name, found)) {
            return 0;
        }
        let styled = self.source.styled.iter();
        let is_styled =
            styled.clone().any(|range| range.start <= found.start && found.end <= range.end);
        let is_year = is_year(&found.value) && !is_direct;
        self.by_words(found, name)
            + i32::from(is_direct)
            + if is_alone { 2 + i32::from(named) } else { 0 }
            + i32::from(is_styled)
            + if self.source.is_subject { 2 } else { 0 }
            + i32::from(found.value.len() == 6)
            - if is_year { 3 } else { 0 }
            - if self.is_other_number(found, name, is_direct) { 5 } else { 0 }
    }

    /// The name that the candidate may have: one before it that is near, or that its sentence says to be it.
    fn name_of(&self, found: &Candidate) -> Option<&Range<usize>> {
        let text = self.source.text.as_str();
        let is_it = |name: &&Range<usize>| {
            let between = between(text, name, found);
            !between.contains('\n') && is_direct(between)
        };
        self.nearest_before(&self.names, found, NEAR)
            .or_else(|| self.nearest_before(&self.names, found, FAR).filter(is_it))
    }

    /// What the names of codes and the reasons to enter one add.
    fn by_words(&self, found: &Candidate, name: Option<&Range<usize>>) -> i32 {
        let text = self.source.text.as_str();
        let same_line = |name: &Range<usize>| !between(text, name, found).contains('\n');
        let mut before = text[..found.start].chars().rev().take_while(|char| *char != '\n');
        let is_first = before.all(|char| !char.is_alphanumeric());
        let purpose = || {
            self.nearest_before(&self.purposes, found, NEAR).is_some()
                || self.follows(&self.purposes, found)
        };
        let by_name = match name {
            Some(name) if same_line(name) || is_first => 3,
            _ if self.is_before_name(found) => 4,
            _ if self.follows(&self.names, found) => {
                2 + if self.is_subject_of(found) { 2 } else { 0 }
            }
            Some(_) => 1,
            None if purpose() => 2,
            None => 0,
        };
        by_name + if self.is_after_verb(found) { 2 } else { 0 }
    }

    fn is_after_verb(&self, found: &Candidate) -> bool {
        let before = &self.source.text[self.window_start(found.start, 24)..found.start];
        let verbs = words::VERBS.iter().flat_map(|verbs| verbs.find_iter(before));
        verbs.last().is_some_and(|verb| before[verb.end()..].chars().all(|c| !c.is_alphanumeric()))
    }

    /// Whether a verb makes the candidate what the words after it speak of: "482913 is your code".
    fn is_subject_of(&self, found: &Candidate) -> bool {
        let next = self.names.get(self.names.partition_point(|name| name.start < found.end));
        let until = next.and_then(|name| self.source.text.get(found.end..name.start));
        if until.is_none_or(|until| until.contains(". ")) {
            return false;
        }
        // A bound on the first word: text without blanks may be long.
        let after = self.source.text[found.end..self.window_end(found.end, 24)].trim_start();
        let first = after.split(char::is_whitespace).next().unwrap_or_default();
        words::COPULAS.contains(&first) || words::MARKS.iter().any(|mark| after.starts_with(mark))
    }

    /// Whether its name stands right after the candidate, where a language puts it there.
    fn is_before_name(&self, found: &Candidate) -> bool {
        let after = &self.source.text[found.end..];
        words::NAMES_AFTER.as_ref().is_some_and(|names| names.is_match(after))
    }

    /// Whether another number's name is nearer than a code's, and has no number of its own before the candidate.
    fn is_other_number(
        &self,
        found: &Candidate,
        name: Option<&Range<usize>>,
        is_direct: bool,
    ) -> bool {
        let has_own = |number: &Range<usize>| {
            let between = between(&self.source.text, number, found);
            (is_direct || between.contains('\n'))
                && between.contains(|char: char| char.is_ascii_digit())
        };
        self.nearest_before(&self.numbers, found, CLOSE)
            .is_some_and(|number| name.is_none_or(|name| number.end > name.end) && !has_own(number))
    }

    /// Whether nothing but punctuation shares the candidate's line.
    fn is_alone(&self, found: &Candidate) -> bool {
        let text = self.source.text.as_str();
        let before = text[..found.start].chars().rev().take_while(|char| *char != '\n');
        let after = text[found.end..].chars().take_while(|char| *char != '\n');
        !before.chain(after).any(char::is_alphanumeric)
    }

    /// The last of `places` that ends before the candidate, or reaches into it, within `distance`.
    fn nearest_before<'a>(
        &self,
        places: &'a [Range<usize>],
        found: &Candidate,
        distance: usize,
    ) -> Option<&'a Range<usize>> {
        let count = places.partition_point(|range| range.start < found.start);
        let nearest = places[..count].last()?;
        let is_within = nearest.end >= self.window_start(found.start, distance);
        // A pattern may take the candidate's first digit along.
        (is_within && nearest.end <= found.start + 1).then_some(nearest)
    }

    fn follows(&self, places: &[Range<usize>], found: &Candidate) -> bool {
        let next = places.partition_point(|range| range.start < found.end);
        let end = self.window_end(found.end, NEAR);
        places.get(next).is_some_and(|range| range.start <= end)
    }

    fn window_start(&self, at: usize, chars: usize) -> usize {
        self.source.text[..at]
            .char_indices()
            .rev()
            .take(chars)
            .last()
            .map_or(at, |(start, _)| start)
    }

    fn window_end(&self, at: usize, chars: usize) -> usize {
        self.source.text[at..]
            .char_indices()
            .take(chars)
            .last()
            .map_or(at, |(offset, _)| at + offset)
    }
}

/// What stands between a name and the candidate after it.
fn between<'a>(text: &'a str, name: &Range<usize>, found: &Candidate) -> &'a str {
    text.get(name.end..found.start).unwrap_or_default()
}

/// Whether a code's name right before the candidate can mean no other word than it.
fn is_announced(text: &str, name: Option<&Range<usize>>, found: &Candidate) -> bool {
    let is_word =
        |words: &LazyLock<Option<Regex>>| words.iter().any(|words| words.is_match(&found.value));
    let Some(name) = name else { return false };
    let between = between(text, name, found);
    let end = between.trim_end_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
    let points_down = words::BELOW.iter().any(|word| end.ends_with(word));
    (is_direct(between) || points_down)
        && !(is_word(&words::NAMES) || is_word(&words::PURPOSES) || is_word(&words::NUMBERS))
        && !words::SHOUTED.contains(&found.value.as_str())
}

/// Whether `text` may name a code or a reason to enter one.
pub(super) fn may_speak_of_codes(text: &str) -> bool {
    words::NAMES_OR_PURPOSES.as_ref().is_some_and(|words| words.is_match(text))
}

fn places(words: &LazyLock<Option<Regex>>, text: &str) -> Vec<Range<usize>> {
    words.iter().flat_map(|words| words.find_iter(text)).map(|found| found.range()).collect()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn is_year(value: &str) -> bool {
    value.len() == 4 && (value.starts_with("19") || value.starts_with("20"))
}

/// What may be around a code.
const QUOTES: &str = "\"'“”‘’«»„*|()[]【】「」<>";

/// Whether the text between a name and a candidate says that one is the other.
fn is_direct(between: &str) -> bool {
    // What one sentence says is not of what the next one has.
    if between.contains('。') || between.contains(". ") {
        return false;
    }
    let is_around = |char: char| char.is_whitespace() || QUOTES.contains(char);
    let text = between.trim_matches(is_around).to_lowercase();
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    last.is_empty()
        || words::COPULAS.contains(&last)
        || words::MARKS.iter().any(|mark| last.ends_with(mark))
}
