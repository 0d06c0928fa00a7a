//! Whether a text is an SPF record (RFC 7208, section 12). The library passes over some terms that are none, and over
//! all that follows them, where the whole record is a permanent error.

use std::{
    borrow::Cow,
    net::{Ipv4Addr, Ipv6Addr},
};

/// The longest prefixes of addresses.
const IP4_BITS: u32 = 32;
const IP6_BITS: u32 = 128;

/// The longest label of a name (RFC 1035, section 2.3.4).
const LABEL_BYTES: usize = 63;

/// The modifiers that there are.
const MODIFIERS: [&str; 2] = ["redirect", "exp"];

/// Whether a TXT record is one of SPF: it begins with the version, and a blank or the end follows (section 4.5).
pub(super) fn is_spf(text: &str) -> bool {
    text.split(' ').next().is_some_and(|first| first.eq_ignore_ascii_case("v=spf1"))
}

/// Whether each term of an SPF record is a mechanism that there is, or a modifier, and well-formed.
pub(super) fn is_well_formed(record: &str) -> bool {
    let terms: Vec<_> = record.split(' ').skip(1).filter(|term| !term.is_empty()).collect();
    // Each of these may be there once (section 6).
    let once = MODIFIERS.iter().all(|name| {
        let is_it = |term: &&&str| {
            modifier(term).is_some_and(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        terms.iter().filter(is_it).count() <= 1
    });
    once && terms.iter().all(|term| is_term(term))
}

/// A text as the library reads it: of an SPF record without the modifiers that nobody knows, which have no meaning
/// (section 6). It takes a slash in the value of one for a mistake.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    let is_unknown = |term: &&str| modifier(term).is_some_and(|(name, _)| !is_known(name));
    if !is_spf(text)
        || !is_well_formed(text)
        || !text.split(' ').skip(1).any(|term| is_unknown(&term))
    {
        return text.into();
    }
    let known: Vec<_> = text
        .split(' ')
        .filter(|term| term.eq_ignore_ascii_case("v=spf1") || !is_unknown(term))
        .collect();
    known.join(" ").into()
}

fn is_known(modifier: &str) -> bool {
    MODIFIERS.iter().any(|known| modifier.eq_ignore_ascii_case(known))
}

fn is_term(term: &str) -> bool {
    match modifier(term) {
        Some((name, value)) if is_known(name) => is_domain_spec(value),
        Some((_, value)) => is_macro_string(value),
        None => is_mechanism(term.strip_prefix(['+', '-', '~', '?']).unwrap_or(term)),
    }
}

/// The name and the value of a modifier; none where the term is no such one.
fn modifier(term: &str) -> Option<(&str, &str)> {
    let (name, value) = term.split_once('=')?;
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name =
        name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(is_inside);
    is_name.then_some((name, value))
}

fn is_mechanism(term: &str) -> bool {
    let end = term.find([':', '/']).unwrap_or(term.len());
    let (name, rest) = term.split_at(end);
    let value = rest.strip_prefix(':');
    match name.to_ascii_lowercase().as_str() {
        "all" => rest.is_empty(),
        "include" | "exists" => value.is_some_and(is_domain_spec),
        "ptr" => rest.is_empty() || value.is_some_and(is_domain_spec),
        "a" | "mx" => {
            let (domain, prefixes) = split_prefixes(rest);
            let is_domain =
                domain.is_empty() || domain.strip_prefix(':').is_some_and(is_domain_spec);
            is_domain && prefixes
        }
        "ip4" => value.is_some_and(|value| is_network::<Ipv4Addr>(value, IP4_BITS)),
        "ip6" => value.is_some_and(|value| is_network::<Ipv6Addr>(value, IP6_BITS)),
        _ => false,
    }
}

fn is_network<A: std::str::FromStr>(value: &str, bits: u32) -> bool {
    let (address, prefix) =
        value.split_once('/').map_or((value, None), |(address, prefix)| (address, Some(prefix)));
    address.parse::<A>().is_ok() && prefix.is_none_or(|prefix| is_prefix(prefix, bits))
}

/// What stands before the lengths of prefixes (`/24`, `//64` or both), and whether these are some.
fn split_prefixes(rest: &str) -> (&str, bool) {
    let is_end = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, good) = match rest.rsplit_once("//") {
        Some((before, prefix)) if is_end(prefix) => (before, is_prefix(prefix, IP6_BITS)),
        _ => (rest, true),
    };
    match rest.rsplit_once('/') {
        Some((before, prefix)) if is_end(prefix) => (before, good && is_prefix(prefix, IP4_BITS)),
        _ => (rest, good),
    }
}

/// A number of bits, without zeros before it.
fn is_prefix(text: &str, most: u32) -> bool {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        && (text == "0" || !text.starts_with('0'))
        && text.parse::<u32>().is_ok_and(|bits| bits <= most)
}

/// A domain, which ends in a macro or in a label that is no number (`domain-spec`).
fn is_domain_spec(text: &str) -> bool {
    // Of an empty label RFC 7208 says nothing; no question can be asked with one.
    if !is_macro_string(text) || text.is_empty() || text.contains("..") {
        return false;
    }
    // Nor with a label that is too long; what macros make of one is not known here.
    if !text.contains('%') && text.split('.').any(|label| label.len() > LABEL_BYTES) {
        return false;
    }
    let is_macro = |at: usize| text[at..].find('}') == Some(text.len() - at - 1);
    if text.rfind("%{").is_some_and(is_macro)
        || ["%%", "%_", "%-"].iter().any(|end| text.ends_with(end))
    {
        return true;
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    name.rsplit_once('.').is_some_and(|(_, label)| is_top_label(label))
}

fn is_top_label(label: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = !label.is_empty()
        && label.bytes().all(inside)
        && !label.starts_with('-')
        && !label.ends_with('-');
    is_label && label.bytes().any(|byte| !byte.is_ascii_digit())
}

/// Letters of ASCII that are seen, with macros between them (`macro-string`).
fn is_macro_string(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let after = &rest[at + 1..];
        let end = match after.chars().next() {
            Some('%' | '_' | '-') => 1,
            Some('{') => match after.find('}') {
                Some(end) if is_macro(&after[1..end]) => end + 1,
                _ => return false,
            },
            _ => return false,
        };
        if !rest[..at].bytes().all(|byte| byte.is_ascii_graphic()) {
            return false;
        }
        rest = &after[end..];
    }
    rest.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What stands between the braces of a macro: a letter, how many labels of it, in which order, and what parts them.
/// The letters `c`, `r` and `t` are for explanations alone (section 7.2).
fn is_macro(text: &str) -> bool {
    let Some(rest) =
        text.strip_prefix(|letter: char| "slodiphv".contains(letter.to_ascii_lowercase()))
    else {
        return false;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (count, rest) = rest.split_at(digits);
    let rest = rest.strip_prefix(['r', 'R']).unwrap_or(rest);
    let is_some = count.is_empty() || count.bytes().any(|digit| digit != b'0');
    is_some && rest.chars().all(|delimiter| ".-+,/_=".contains(delimiter))
}

/// Whether a name is one that SPF looks up: of several labels of 1 to 63 bytes (section 4.3). An address in brackets
/// and a name of one label have no record.
pub(super) fn is_checked(domain: &str) -> bool {
    let name = domain.strip_suffix('.').unwrap_or(domain);
    let is_label = |label: &str| (1..=LABEL_BYTES).contains(&label.len());
    name.len() <= 253
        && name.contains('.')
        && name.split('.').all(is_label)
        && !name.starts_with('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_spf_records_are_well_formed_or_not() {
        for good in [
            "v=spf1",
            "v=spf1 ",
            "V=SPF1 ip4:192.0.2.0/24 A MX/24 +a:b.example//64 mx:c.example/24//64  -all",
            "v=spf1 redirect=a.example x-y=z A_b.c=%{d}",
            "v=spf1 exists:%{ir}.%{v}.arpa.%{d2} ptr include:_spf.%{d} a:%{h} -all exp=e.%{d}",
            "v=spf1 ip6:::1 ip6:2001:db8::/32 a:a/b.example/8 m=",
        ] {
            assert!(is_spf(good) && is_well_formed(good), "{good}");
        }
        for bad in [
            "nonsense -all",
            "ipv4:192.0.2.1",
            "=a",
            "a, mx",
            "all:a.example",
            "include",
            "include:",
            "a:",
            "a/33",
            "a/024",
            "a//129",
            "a:b.example/",
            "ip4:192.0.2.1/33",
            "ip4:192.0.2",
            "ip6:192.0.2.1",
            "a:abc.123",
            "a:b.example:80",
            "a:example",
            "a:b.-c",
            "a:%%.%{d0}",
            "a:%{x}",
            "a:%{c}.example",
            "a:%{d",
            "a:%a.example",
            "a:b...example",
            "a\rmx",
            "ip4:192.0.2.1\n",
            "a:\u{FEFF}b.example",
            "redirect=a.example redirect=a.example",
            "redirect=",
            "exp=a.example EXP=b.example",
            "--all",
            "1a=b",
        ] {
            assert!(!is_well_formed(&format!("v=spf1 {bad}")), "{bad}");
        }
    }

    #[test]
    fn modifiers_that_nobody_knows_are_left_out() {
        for (record, read) in [
            (
                "v=spf1 a:b.example m.n=o:p/q -all exp=e.example",
                "v=spf1 a:b.example -all exp=e.example",
            ),
            ("v=spf1 nonsense m=n", "v=spf1 nonsense m=n"),
            ("v=DKIM1; p=a= =b", "v=DKIM1; p=a= =b"),
            ("V=spf1 -all", "V=spf1 -all"),
        ] {
            assert_eq!(readable(record), read);
        }
    }

    #[test]
    fn names_of_several_labels_are_looked_up() {
        let long = format!("{}.example", "a".repeat(64));
        for (name, checked) in [
            ("a.example", true),
            ("a.example.", true),
            ("a", false),
            ("", false),
            ("a..example", false),
            ("[192.0.2.1]", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_checked(name), checked, "{name}");
        }
    }
}
