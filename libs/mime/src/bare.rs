//! Links that a text shows bare, without an anchor around them.

use std::iter;
use std::ops::Range;

use memchr::memmem;

/// Schemes that are no links of a mail: they run code, show what they carry themselves, or reach
/// into the reader's own machine.
const NO_LINKS: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "chrome-extension",
    "data",
    "file",
    "filesystem",
    "jar",
    "javascript",
    "livescript",
    "moz-extension",
    "res",
    "resource",
    "search-ms",
    "smb",
    "vbscript",
    "view-source",
];

/// Bytes of a scheme that is looked for (RFC 3986, section 3.1).
const SCHEME: usize = 32;
const AFTER_SCHEME: &str = "://";
const WWW: &str = "www.";

/// Where `text` has links: `www.` and any scheme with `://` that is harmless to list, apps' own ones
/// included. Punctuation after a link is left out.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = Range<usize>> {
    found(text)
        .filter(|url| !text[..url.start].ends_with(|char: char| char.is_ascii_alphanumeric()))
        .filter_map(|url| {
            let (skipped, prefix) = match scheme(&text[url.clone()]) {
                Some(scheme) => web_scheme(scheme)
                    .or_else(|| is_listed(scheme).then_some(0))
                    .map(|skipped| (skipped, scheme.len() + AFTER_SCHEME.len() - skipped))?,
                None => (0, WWW.len()),
            };
            let start = url.start + skipped;
            let end = start + trimmed(text, start..url.end).len();
            (end > start + prefix).then_some(start..end)
        })
}

/// What begins as a link does, each up to a character that no link has.
///
/// By hand: a regular expression counts the characters of a scheme from every letter at once, which
/// costs its engine the fast path.
fn found(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut schemes = memmem::find_iter(bytes, AFTER_SCHEME)
        .filter_map(|at| Some((scheme_start(bytes, at)?, at + AFTER_SCHEME.len())))
        .peekable();
    let mut hosts = memchr::memchr2_iter(b'w', b'W', bytes)
        .map(|at| (at, at + WWW.len()))
        .filter(|(at, end)| is_www(bytes.get(*at..*end)))
        .peekable();
    let starts = iter::from_fn(move || match (schemes.peek(), hosts.peek()) {
        (Some(scheme), Some(host)) if scheme.0 > host.0 => hosts.next(),
        (None, _) => hosts.next(),
        _ => schemes.next(),
    });
    let mut passed = 0;
    starts.filter_map(move |(start, rest)| {
        // One in the middle of another is read once, as a part of that.
        (start >= passed).then_some(())?;
        let length = text[rest..].find(ends_link).unwrap_or(text.len() - rest);
        (length > 0).then(|| passed = rest + length)?;
        Some(start..passed)
    })
}

/// Where the scheme starts that ends at `end`: at the first letter from which on it has 2 to 32 bytes.
fn scheme_start(bytes: &[u8], end: usize) -> Option<usize> {
    let before = bytes[..end].iter().rev().take(SCHEME);
    let length = before.take_while(|byte| is_of_scheme(**byte)).count();
    let start = end - length;
    let first = bytes[start..end].iter().position(u8::is_ascii_alphabetic)?;
    (length - first > 1).then_some(start + first)
}

fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+.-".contains(&byte)
}

fn is_www(bytes: Option<&[u8]>) -> bool {
    bytes.is_some_and(|bytes| bytes.eq_ignore_ascii_case(WWW.as_bytes()))
}

fn ends_link(char: char) -> bool {
    const ENDS: &str = "<>\"`{}|\\^。，、；：！？（）「」『』【】《》“”";
    char <= '\u{1F}' || char.is_whitespace() || ENDS.contains(char)
}

/// The target of a link that the text shows as `shown`.
pub(crate) fn target(shown: &str) -> String {
    if scheme(shown).is_some() { shown.to_owned() } else { format!("http://{shown}") }
}

fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(AFTER_SCHEME)?;
    scheme.bytes().all(is_of_scheme).then_some(scheme)
}

/// Where `http` or `https` starts in what stands before `://`, if nothing but the punctuation of a
/// sentence is before it.
fn web_scheme(scheme: &str) -> Option<usize> {
    let start = scheme.rfind(['.', '-']).map_or(0, |at| at + 1);
    let last = &scheme[start..];
    (last.eq_ignore_ascii_case("http") || last.eq_ignore_ascii_case("https")).then_some(start)
}

fn is_listed(scheme: &str) -> bool {
    let scheme = scheme.to_ascii_lowercase();
    // A word that runs into a web link: nobody can tell where the one ends.
    let runs_in = ["http", "https"]
        .iter()
        .any(|web| scheme.strip_suffix(web).is_some_and(|word| !word.ends_with('+')));
    !(runs_in || scheme.starts_with("ms-") || NO_LINKS.contains(&scheme.as_str()))
}

/// The link at `range` without the punctuation of the sentence around it.
///
/// A link in angle brackets ends where they say (RFC 3986, appendix C). Marks that tokens end in
/// too go only where the same mark stands right before the link, as emphasis and quotes do; a
/// closing bracket stays if it was opened in the link.
fn trimmed(text: &str, range: Range<usize>) -> &str {
    let (before, mut url) = (&text[..range.start], &text[range.clone()]);
    if before.ends_with('<') && text[range.end..].starts_with('>') {
        return url;
    }
    let mut marks: Vec<char> = before.chars().rev().take_while(|c| is_mark(*c)).take(8).collect();
    let surplus = |open: char, close: char, used: &str| {
        used.matches(close).count().saturating_sub(used.matches(open).count())
    };
    let (mut round, mut square) = (surplus('(', ')', url), surplus('[', ']', url));
    while let Some(last) = url.chars().next_back() {
        match last {
            last if ".,;:!?’‘‚»«›‹„…".contains(last) => {}
            ')' if round > 0 => round -= 1,
            ']' if square > 0 => square -= 1,
            mark if is_mark(mark) && marks.contains(&mark) => {
                marks.remove(marks.iter().position(|open| *open == mark).unwrap_or_default());
            }
            _ => break,
        }
        url = &url[..url.len() - last.len_utf8()];
    }
    url
}

fn is_mark(char: char) -> bool {
    matches!(char, '*' | '_' | '~' | '\'')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        let ends = r#"\s<>"`{}|\\^\x00-\x1F。，、；：！？（）「」『』【】《》“”"#;
        let scheme = "[a-zA-Z][a-zA-Z0-9+.-]{1,31}://";
        Regex::new(&format!(r"(?:{scheme}|[wW]{{3}}\.)[^{ends}]+")).unwrap()
    });

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("://".to_owned()),
            Just("www.".to_owned()),
            Just("wWw.".to_owned()),
            Just("http".to_owned()),
            Just("x".repeat(31)),
            "[a-c1+.:/ w\u{3002}\u{17F}<-]{0,4}",
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_begins_as_a_link_is_what_a_pattern_finds(text in text()) {
            let expected: Vec<_> = PATTERN.find_iter(&text).map(|found| found.range()).collect();
            prop_assert_eq!(found(&text).collect::<Vec<_>>(), expected);
        }
    }
}
