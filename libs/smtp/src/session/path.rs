//! Reverse-path and forward-path (RFC 5321, section 4.1.2), as forgiving as a sandbox should be:
//! brackets may be missing, the domain too, and no length is bounded but the line's.

/// What may stand between the words of a command.
const BLANK: [char; 2] = [' ', '\t'];

/// The argument of MAIL or RCPT.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path<'t> {
    /// Without its source route; `""` for the null path.
    pub(super) mailbox: &'t str,
    /// What follows the path.
    rest: &'t str,
    bracketed: bool,
}

impl<'t> Path<'t> {
    /// The parameters, each with its value or `""`. `None` when something else follows the path: in
    /// `Bob <a@b.test>`, Bob isn't the one who was meant.
    pub(super) fn parameters(&self) -> Option<Vec<(&'t str, &'t str)>> {
        let parameter = |word: &'t str| {
            let (keyword, value) = word.split_once('=').unwrap_or((word, ""));
            // A bare word after a bare path is a name of two words rather than a parameter.
            let told_apart = self.bracketed || keyword.len() < word.len() || is_flag(keyword);
            (is_keyword(keyword) && told_apart).then_some((keyword, value))
        };
        self.rest.split_ascii_whitespace().map(parameter).collect()
    }
}

/// Parameters without a value (RFC 6531, section 3.4; RFC 8689, section 3).
fn is_flag(keyword: &str) -> bool {
    ["SMTPUTF8", "REQUIRETLS"].iter().any(|flag| keyword.eq_ignore_ascii_case(flag))
}

/// `esmtp-keyword` of section 4.1.2.
fn is_keyword(keyword: &str) -> bool {
    keyword.starts_with(|c: char| c.is_ascii_alphanumeric())
        && keyword.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-')
}

/// Splits `<path> parameters`. `None` when there's no valid path. The caller has refused control
/// characters.
pub(super) fn path(text: &str) -> Option<Path<'_>> {
    let text = text.trim_start_matches(BLANK);
    let brackets = text.strip_prefix('<');
    let (mailbox, rest) = match brackets {
        Some(inner) => {
            let end = find_unquoted(inner, |octet| octet == b'>')?;
            (without_route(inner[..end].trim_matches(BLANK))?, &inner[end + 1..])
        }
        None if text.is_empty() => return None,
        None => text.split_at(find_unquoted(text, is_blank).unwrap_or(text.len())),
    };
    let apart = rest.is_empty() || rest.starts_with(BLANK);
    let valid = apart && (mailbox.is_empty() || is_mailbox(mailbox));
    valid.then_some(Path { mailbox, rest, bracketed: brackets.is_some() })
}

const fn is_blank(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

/// The first octet outside a quoted string that fits.
fn find_unquoted(text: &str, fits: impl Fn(u8) -> bool) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().position(|octet| {
        let escape = quoted && !escaped && octet == b'\\';
        if octet == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = escape;
        !quoted && fits(octet)
    })
}

/// Drops `@a,@b:`, which section 4.1.1.3 wants ignored.
fn without_route(path: &str) -> Option<&str> {
    if path.starts_with('@') {
        path.split_once(':').map(|(_route, mailbox)| mailbox)
    } else {
        Some(path)
    }
}

fn is_mailbox(mailbox: &str) -> bool {
    let at = find_unquoted(mailbox, |octet| octet == b'@');
    let (local, domain) = match at {
        Some(at) => (&mailbox[..at], Some(&mailbox[at + 1..])),
        None => (mailbox, None),
    };
    is_local_part(local) && domain.is_none_or(is_domain)
}

fn is_local_part(local: &str) -> bool {
    match local.strip_prefix('"') {
        Some(rest) => find_unquoted(local, |octet| octet == b'"') == Some(rest.len()),
        None => !local.is_empty() && local.bytes().all(is_dot_atom),
    }
}

/// `atext` of RFC 5322, section 3.2.3, with the dot, and what RFC 6531 adds.
const fn is_dot_atom(octet: u8) -> bool {
    octet.is_ascii_alphanumeric()
        || octet >= 0x80
        || matches!(octet, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'/' | b'=' | b'?')
        || matches!(octet, b'^'..=b'`' | b'{'..=b'~')
}

fn is_domain(domain: &str) -> bool {
    match domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(literal) => !literal.is_empty() && literal.bytes().all(is_literal),
        None => !domain.is_empty() && domain.bytes().all(is_domain_octet),
    }
}

const fn is_literal(octet: u8) -> bool {
    octet.is_ascii_graphic() && !matches!(octet, b'[' | b']' | b'\\')
}

const fn is_domain_octet(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || octet >= 0x80 || matches!(octet, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn takes_what_clients_send() {
        let long = format!("<{}@x.test>", "v".repeat(900));
        for (text, mailbox, rest) in [
            ("<>", "", ""),
            ("<> SIZE=1", "", " SIZE=1"),
            (" <a@b.test>", "a@b.test", ""),
            ("< a@b.test >", "a@b.test", ""),
            ("a@b.test SIZE=1", "a@b.test", " SIZE=1"),
            ("<Postmaster>", "Postmaster", ""),
            ("<@a.test,@b.test:c@d.test>", "c@d.test", ""),
            (r#"<"a b"@c.test>"#, r#""a b"@c.test"#, ""),
            (r#"<"a>@\" b"@c.test> X"#, r#""a>@\" b"@c.test"#, " X"),
            (r#"<"\\"@c.test>"#, r#""\\"@c.test"#, ""),
            (r#""a b"@c.test"#, r#""a b"@c.test"#, ""),
            (r#"<"">"#, r#""""#, ""),
            ("<a@[127.0.0.1]>", "a@[127.0.0.1]", ""),
            ("<a@[IPv6:::1]>", "a@[IPv6:::1]", ""),
            ("<a+b=c.test@d_e.test.>", "a+b=c.test@d_e.test.", ""),
            ("<.a..b.@c.test>", ".a..b.@c.test", ""),
            ("<ä@ö.test>", "ä@ö.test", ""),
            (&long, &long[1..long.len() - 1], ""),
        ] {
            let path = path(text).map(|path| (path.mailbox, path.rest));
            assert_eq!(path, Some((mailbox, rest)), "{text}");
        }
    }

    #[test]
    fn tells_parameters_from_other_text() {
        for (text, parameters) in [
            ("<a@b.test>", Some(&[][..])),
            ("<a@b.test> \t", Some(&[])),
            ("<a@b.test> SIZE=1 X-ODD", Some(&[("SIZE", "1"), ("X-ODD", "")])),
            ("a@b.test AUTH=<> smtputf8", Some(&[("AUTH", "<>"), ("smtputf8", "")])),
            ("<a@b.test> ORCPT=rfc822;a+3Db@c.test", Some(&[("ORCPT", "rfc822;a+3Db@c.test")])),
            ("Bob <a@b.test>", None),
            ("Bob\t<a@b.test>", None),
            ("Bob Smith <a@b.test>", None),
            ("Bob Smith", None),
            (r#""Bob Smith" <a@b.test>"#, None),
            ("a@b.test <c@d.test>", None),
            ("<a@b.test> <c@d.test>", None),
            ("<a@b.test> c@d.test", None),
            ("<a@b.test> (Bob)", None),
            ("<a@b.test> , c", None),
            ("<a@b.test> =1", None),
            ("<a@b.test> -X=1", None),
            ("<a@b.test> SIZE =1", None),
        ] {
            let found = path(text).and_then(|path| path.parameters());
            assert_eq!(found.as_deref(), parameters, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_path() {
        for text in [
            "",
            " ",
            "<",
            "<a@b.test",
            "<a@b.test>x",
            "<a@b@c>",
            "<a b@c.test>",
            "<@c.test>",
            "<a@>",
            "<@a.test:>x",
            "<@a,@b>",
            "<a@[]>",
            "<a@[x>",
            "<a@b.test,c@d.test>",
            r#"<"a@b.test>"#,
            r#"<"a"b@c.test>"#,
            "<<a@b.test>>",
            "<a@b:25>",
            "<a(b)@c.test>",
            "@",
        ] {
            assert_eq!(path(text), None, "{text}");
        }
    }
}
