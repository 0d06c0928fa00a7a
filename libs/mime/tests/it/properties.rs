use data_encoding::{BASE64, HEXLOWER};
use proptest::prelude::*;
use regex::Regex;
use sha2::{Digest as _, Sha256};
use trapline_mime::{Parsed, attachment, codes, digest, digest_and_code, fold, parse, preview};

use crate::corpus::cases;

/// Reads a message in every way, and checks what holds for any bytes.
fn check(raw: &[u8]) -> Parsed {
    let parsed = parse(raw);
    assert_eq!(parsed.digest, digest(raw));
    assert_eq!(parsed.codes, codes(raw));
    assert_eq!((parsed.digest.clone(), !parsed.codes.is_empty()), digest_and_code(raw));
    assert!(!parsed.digest.warnings.iter().any(|warning| warning.code == "parse_error"));
    assert!(parsed.digest.snippet.chars().count() <= 140);
    assert_eq!(parsed.digest.attachment_count as usize, parsed.attachments.len());
    for listed in parsed.attachments.iter().chain(&parsed.alternatives) {
        let body = attachment(raw, &listed.id).unwrap();
        assert_eq!(&body.meta, listed);
        assert_eq!(body.bytes.len() as u64, listed.size);
        assert_eq!(HEXLOWER.encode(&Sha256::digest(&body.bytes)), listed.sha256);
        assert!(listed.filename.chars().count() <= 255);
    }
    assert_eq!(attachment(raw, &format!("a{}", parsed.alternatives.len() + 1)), None);
    assert_eq!(attachment(raw, &(parsed.attachments.len() + 1).to_string()), None);
    parsed
}

/// Bytes in which the turns of mail are frequent.
fn mail_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"--B".to_vec()),
        Just(b"--B--".to_vec()),
        Just(b"\r\n--B\r\n".to_vec()),
        Just(b"Content-Type: multipart/mixed; boundary=B\r\n".to_vec()),
        Just(b"Content-Type: multipart/related\r\n\r\n".to_vec()),
        Just(b"Content-Type: text/html; charset=iso-2022-kr\r\n\r\n".to_vec()),
        Just(b"Content-Type: text/plain; charset=utf-7; name*0*=a''%41; name*1=b\r\n".to_vec()),
        Just(b"Content-Type: multipart/alternative; boundary=B\r\n\r\n".to_vec()),
        Just(b"Content-Type: text/calendar\r\n\r\n".to_vec()),
        Just(b"Content-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 a\r\n".to_vec()),
        Just(b"Content-Transfer-Encoding: base64\r\n".to_vec()),
        Just(b"Content-Transfer-Encoding: quoted-printable\r\n".to_vec()),
        Just(b"Content-Disposition: attachment; filename=\"".to_vec()),
        Just(b"From: ".to_vec()),
        Just(b"Date: Thu, 31 Feb 2026 25:61:61 +9999".to_vec()),
        Just(b"Subject: =?utf-8?q?=C3?= =?utf-8?q?=A4?= =?x?b?".to_vec()),
        Just(b"<a href=\"".to_vec()),
        Just(b"<!--".to_vec()),
        Just(b"<b>code 123 456".to_vec()),
        Just(b"&#x".to_vec()),
        Just(b"(<@a,\"\\".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Text in which the turns of HTML are frequent.
fn html_like() -> impl Strategy<Value = String> {
    let pieces = [
        "<",
        "</",
        "<!--",
        "-->",
        "--!>",
        "<![CDATA[",
        "]]>",
        "<?",
        ">",
        "/>",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "&lt;",
        "<svg>",
        "<title>",
        "</title>",
        "<style>",
        "</style ",
        "<textarea",
        "</textarea>",
        "<noscript>",
        "</noscript>",
        "<xmp>",
        "</xmp>",
        "<plaintext",
        "<script",
        "</script>",
        "<iframe>",
        "<template>",
        "<math><mtext>",
        "<select>",
        "<!doctype html>",
        "<link rel=preconnect href=//x>",
        "<a href=",
        "javascript:",
        "onload=x",
        "cid:",
        "url(cid:x)",
        "style=",
        "srcset=",
        "<meta http-equiv=refresh>",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => "\\PC",
        1 => "[a-z<>\"'/= ]{0,9}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What may start a tag, and a whole tag without handlers.
fn tags() -> (Regex, Regex) {
    let name = "[A-Za-z][A-Za-z0-9:._-]*";
    let letters = "[A-Za-z0-9:._-]*";
    // Those of handlers begin with "on".
    let attribute = format!(
        "(?:[A-NP-Za-np-z]{letters}|[Oo](?:[A-MO-Za-mo-z0-9:._-]{letters})?)(?:=\"[^\"<>]*\")?"
    );
    let whole = format!("^(?:</?({name})(?: {attribute})*/?>|<(!doctype)[^<>]*>)");
    (Regex::new("<[A-Za-z/!?]").unwrap(), Regex::new(&whole).unwrap())
}

#[test]
fn whole_tags_are_told_from_others() {
    let (_, whole) = tags();
    let cases = [
        ("<pre>", Some(5)),
        ("<pre o>more", Some(7)),
        ("<pre o a=\"b\"/>", Some(14)),
        ("<p on>", None),
        ("<p onload=\"x\">", None),
        ("<p oN>", None),
        ("<p oxn=\"1\">", Some(11)),
        ("<p o=\"on\">", Some(10)),
        ("<p o", None),
        ("<p a=\">\">", None),
        ("</p>", Some(4)),
        ("<!doctype html>", Some(15)),
        ("<1>", None),
    ];
    for (text, end) in cases {
        assert_eq!(whole.find(text).map(|found| found.end()), end, "{text}");
    }
}

fn multipart(part: &[u8], encoding: &str, media_type: &str) -> Vec<u8> {
    let head = format!(
        "From: a@example.test\r\nContent-Type: multipart/mixed; boundary=\"b=_0\"\r\n\r\n--b=_0\r\n\
         Content-Type: {media_type}\r\nContent-Transfer-Encoding: {encoding}\r\n\
         Content-Disposition: attachment; filename=f\r\n\r\n"
    );
    [head.as_bytes(), part, b"\r\n--b=_0--\r\n"].concat()
}

fn base64_lines(bytes: &[u8]) -> Vec<u8> {
    let encoded = BASE64.encode(bytes);
    let lines: Vec<&[u8]> = encoded.as_bytes().chunks(76).collect();
    lines.join(b"\r\n".as_slice())
}

fn quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if at % 20 == 19 {
            out.extend_from_slice(b"=\r\n");
        }
        if byte.is_ascii_alphanumeric() {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("={byte:02X}").as_bytes());
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_bytes_can_be_read(raw in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        check(&raw);
    }

    #[test]
    fn anything_like_mail_can_be_read(raw in mail_like()) {
        check(&raw);
    }

    #[test]
    fn damaged_mail_can_be_read(
        case in 0..42usize, at: prop::sample::Index, damage in mail_like(), cut in 0..40usize,
    ) {
        let (_, mut raw) = cases().swap_remove(case);
        let at = at.index(raw.len());
        let end = (at + cut).min(raw.len());
        raw.splice(at..end, damage);
        raw.truncate(4_000);
        check(&raw);
    }

    #[test]
    fn encoded_attachments_are_exact(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for (encoding, part) in
            [("base64", base64_lines(&bytes)), ("quoted-printable", quoted_printable(&bytes))]
        {
            for media_type in ["application/octet-stream", "text/plain; charset=utf-8"] {
                let raw = multipart(&part, encoding, media_type);
                check(&raw);
                prop_assert_eq!(&attachment(&raw, "1").unwrap().bytes, &bytes);
            }
        }
    }

    #[test]
    fn binary_attachments_are_exact(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assume!(!bytes.windows(2).any(|pair| pair == b"--"));
        let raw = multipart(&bytes, "binary", "text/plain; charset=utf-8");
        check(&raw);
        prop_assert_eq!(&attachment(&raw, "1").unwrap().bytes, &bytes);
    }

    #[test]
    fn no_byte_of_an_undeclared_text_is_lost(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        // Line ends become LF, and a byte order mark is no text.
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\r').collect();
        prop_assume!(!bytes.starts_with(b"\xEF\xBB\xBF"));
        let raw = [b"From: a@example.test\nSubject: s\n\n".as_slice(), &bytes].concat();
        let text = check(&raw).text.unwrap();
        if std::str::from_utf8(&bytes).is_ok() {
            prop_assert_eq!(text.as_bytes(), &bytes);
        } else {
            prop_assert_eq!(text.chars().count(), bytes.len());
        }
    }

    /// Wherever a browser starts to read tags, it finds whole ones that run and load nothing.
    #[test]
    fn previews_hold_tags_that_were_written_and_no_others(source in html_like()) {
        let resolve = |id: &str| Some(format!("/cid/{id}"));
        let page = preview::html(&source, &preview::Options { resolve_cid: &resolve });
        let rest = page.replacen("<meta charset=\"utf-8\">", "", 1);
        let (start, tag) = tags();
        for found in start.find_iter(&rest) {
            let tag = tag.captures(&rest[found.start()..]);
            prop_assert!(tag.is_some(), "{} of {page}", &rest[found.start()..]);
            let name = tag.and_then(|tag| tag.get(1)).map_or("", |name| name.as_str());
            let gone = ["script", "link", "base", "iframe", "noscript", "xmp", "meta"];
            prop_assert!(!gone.iter().any(|gone| gone.eq_ignore_ascii_case(name)), "{page}");
        }
        let page = preview::text(&source);
        prop_assert!(page.contains("<pre>"));
    }

    #[test]
    fn folding_is_stable(text in "\\PC{0,60}") {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), folded.clone());
        prop_assert_eq!(fold(&text.to_lowercase()).is_empty(), folded.is_empty());
    }
}
