//! Words that speak of codes, and of other numbers: `words.tsv`.

use std::sync::LazyLock;

use regex::Regex;

/// A word or pattern a line, with its kind and languages.
const WORDS: &str = include_str!("words.tsv");

/// `\pL` stands for the letters of the languages here that have an alphabet, `\d` for ASCII digits, and `\b` for a
/// boundary of ASCII words: with those of all scripts, of which each place in a pattern has its own copy, the patterns
/// took megabytes.
pub(super) fn words(patterns: &[&str]) -> Option<Regex> {
    Regex::new(&format!("(?i)(?:{})", ascii(&patterns.join("|")))).ok()
}

fn ascii(pattern: &str) -> String {
    let boundary = pattern.replace(r"(?-u:\b)", r"\b").replace(r"\b", r"(?-u:\b)");
    boundary.replace(r"\pL", r"[a-z\u{C0}-\u{52F}]").replace(r"\d", "[0-9]")
}

/// The lines of a kind, as languages and pattern.
pub(super) fn lines(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| line.strip_prefix(kind)?.strip_prefix('\t')?.split_once('\t'))
}

fn patterns(kind: &str) -> Vec<&'static str> {
    lines(kind).map(|(_, pattern)| pattern).collect()
}

fn list(kind: &str) -> Vec<&'static str> {
    lines(kind).flat_map(|(_, words)| words.split(' ')).collect()
}

/// Patterns at the beginning of what they are looked for in.
fn at_start(kind: &str) -> Option<Regex> {
    Regex::new(&format!("(?i)^(?:{})", ascii(&patterns(kind).join("|")))).ok()
}

/// Names of one-time codes.
pub(super) static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| words(&patterns("name")));

/// Names of codes and [`PURPOSES`]: a message without any of them has no code.
pub(super) static NAMES_OR_PURPOSES: LazyLock<Option<Regex>> =
    LazyLock::new(|| words(&[patterns("name"), patterns("purpose")].concat()));

/// Names that end in a code word and mean another number.
pub(super) static OTHER_CODES: LazyLock<Option<Regex>> =
    LazyLock::new(|| words(&patterns("other")));

/// Reasons for a person to act that often go with a code.
pub(super) static PURPOSES: LazyLock<Option<Regex>> = LazyLock::new(|| words(&patterns("purpose")));

/// Verbs right before a code: "enter 482913".
pub(super) static VERBS: LazyLock<Option<Regex>> = LazyLock::new(|| words(&patterns("verb")));

/// Names of numbers that are no codes.
pub(super) static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| words(&patterns("number")));

/// What makes the number before it an amount.
pub(super) static UNITS: LazyLock<Option<Regex>> = LazyLock::new(|| at_start("unit"));

/// Names that stand right after their codes, in languages that put them there: "482913 kodunu girin".
pub(super) static NAMES_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| at_start("after"));

/// Words that say "is", at the end of what stands between a name and its code.
pub(super) static COPULAS: LazyLock<Vec<&str>> = LazyLock::new(|| list("copula"));

/// The same in scripts without blanks between words, and as punctuation.
pub(super) static MARKS: LazyLock<Vec<&str>> = LazyLock::new(|| list("mark"));

/// Words that point to the next line, at the end of a sentence.
pub(super) static BELOW: LazyLock<Vec<&str>> = LazyLock::new(|| list("below"));

/// Words that mail writes in capitals on lines of their own.
pub(super) const SHOUTED: &[&str] = &[
    "ACCEPT",
    "ACTIVATE",
    "APPROVE",
    "BUTTON",
    "CANCEL",
    "CLICK",
    "CONTINUE",
    "COPY",
    "DANKE",
    "DEAR",
    "DENY",
    "ENTER",
    "EXPIRED",
    "EXPIRES",
    "GREETINGS",
    "HELLO",
    "HELP",
    "HERE",
    "HOME",
    "IGNORE",
    "IMPORTANT",
    "INFO",
    "NEXT",
    "NOTE",
    "NOTICE",
    "OPEN",
    "PLEASE",
    "REGARDS",
    "RESEND",
    "SECURITY",
    "SHOP",
    "START",
    "SUBMIT",
    "SUPPORT",
    "THANKS",
    "UNSUBSCRIBE",
    "UPDATE",
    "URGENT",
    "WARNING",
    "WEITER",
    "WELCOME",
];
