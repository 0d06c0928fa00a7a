//! `Content-Disposition` for names that strangers chose (RFC 6266, RFC 8187).

use std::fmt::Write;

use axum::http::HeaderValue;

/// Longer names are cut; file systems take 255 bytes.
const MAX_CHARACTERS: usize = 150;

/// Offers the body for download under this name, or under `fallback` when nothing is left of it.
pub(crate) fn attachment(name: &str, fallback: &str) -> HeaderValue {
    header("attachment", name, fallback)
}

/// Shows the body where it is; the name is for whoever saves it.
pub(crate) fn inline(name: &str, fallback: &str) -> HeaderValue {
    header("inline", name, fallback)
}

fn header(kind: &'static str, name: &str, fallback: &str) -> HeaderValue {
    let name = safe(name);
    let name = if name.is_empty() { fallback } else { &name };
    let ascii: String = name.chars().map(plain).collect();
    let mut value = format!("{kind}; filename=\"{ascii}\"");
    if ascii != name {
        value.push_str("; filename*=UTF-8''");
        extended(name, &mut value);
    }
    HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static(kind))
}

/// A single file name: the last one of a path (RFC 6266, section 4.3), nothing invisible, not hidden,
/// not endless.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|letter| !invisible(*letter)).collect();
    let kept = kept.trim().trim_start_matches('.').trim_start();
    kept.chars().take(MAX_CHARACTERS).collect::<String>().trim_end().to_owned()
}

/// Control characters, and those that make a name read otherwise than it is.
fn invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// What a quoted string holds without escapes that clients read in different ways.
fn plain(letter: char) -> char {
    match letter {
        '"' | '%' => '_',
        ' '..='~' => letter,
        _ => '_',
    }
}

/// `ext-value` of RFC 8187, section 3.2.1.
fn extended(name: &str, into: &mut String) {
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            write!(into, "%{byte:02X}").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn names_are_safe_and_kept_as_far_as_they_are() {
        let cases = [
            ("invoice.pdf", r#"attachment; filename="invoice.pdf""#),
            (
                "a \"b\".txt",
                r#"attachment; filename="a _b_.txt"; filename*=UTF-8''a%20%22b%22.txt"#,
            ),
            ("50%.txt", r#"attachment; filename="50_.txt"; filename*=UTF-8''50%25.txt"#),
            ("naïve.txt", r#"attachment; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt"#),
            (
                "請求書.pdf",
                r#"attachment; filename="___.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf"#,
            ),
            ("../../etc/passwd", r#"attachment; filename="passwd""#),
            (r"C:\evil.exe", r#"attachment; filename="evil.exe""#),
            ("a\r\nSet-Cookie: x.txt", r#"attachment; filename="aSet-Cookie: x.txt""#),
            ("gpj\u{202e}exe.txt", r#"attachment; filename="gpjexe.txt""#),
            (".bashrc", r#"attachment; filename="bashrc""#),
            ("..", r#"attachment; filename="attachment-1""#),
            (" \u{0} ", r#"attachment; filename="attachment-1""#),
            ("", r#"attachment; filename="attachment-1""#),
        ];
        for (name, wanted) in cases {
            assert_eq!(attachment(name, "attachment-1"), wanted, "{name:?}");
        }
        assert_eq!(inline("a.png", "1"), r#"inline; filename="a.png""#);
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let value = attachment(&"é".repeat(1000), "1");
        let encoded = value.to_str().unwrap().matches("%C3%A9").count();
        assert_eq!(encoded, MAX_CHARACTERS);
    }
}
