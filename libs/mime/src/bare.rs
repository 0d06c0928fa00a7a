//! Links that a text shows bare, without an anchor around them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

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

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let stop = r#"\s<>"`{}|\\^\x00-\x1F。，、；：！？（）「」『』【】《》“”"#;
    // A scheme as RFC 3986, section 3.1 has it, of 2 to 32 characters.
    Regex::new(&format!(r"(?i)(?:[a-z][a-z0-9+.-]{{1,31}}://|www\.)[^{stop}]+")).ok()
});

/// Where `text` has links: `www.` and any scheme with `://` that is harmless to list, apps' own ones
/// included. Punctuation after a link is left out.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = Range<usize>> {
    let found = URL.iter().flat_map(|regex| regex.find_iter(text));
    found
        .filter(|url| !text[..url.start()].ends_with(|char: char| char.is_ascii_alphanumeric()))
        .filter_map(|url| {
            let (skipped, prefix) = match scheme(url.as_str()) {
                Some(scheme) => web_scheme(scheme)
                    .or_else(|| is_listed(scheme).then_some(0))
                    .map(|skipped| (skipped, scheme.len() + "://".len() - skipped))?,
                None => (0, "www.".len()),
            };
            let start = url.start() + skipped;
            let end = start + trimmed(text, start..url.end()).len();
            (end > start + prefix).then_some(start..end)
        })
}

/// The target of a link that the text shows as `shown`.
pub(crate) fn target(shown: &str) -> String {
    if scheme(shown).is_some() { shown.to_owned() } else { format!("http://{shown}") }
}

fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once("://")?;
    scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
        .then_some(scheme)
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
