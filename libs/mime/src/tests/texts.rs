use super::{mail, warnings};
use crate::parse;

#[test]
fn charsets() {
    // The Content-Type's parameters, the body, the text.
    let cases: &[(&str, &[u8], &str)] = &[
        ("", "ä".as_bytes(), "ä"),
        ("", b"caf\xE9 \x80", "café €"),
        ("; charset=us-ascii", "ä".as_bytes(), "ä"),
        ("; charset=us-ascii", b"\xE9", "é"),
        ("; charset=x-nobody", b"\xE9", "é"),
        ("; charset=utf-8", "ä\u{1F4E7}".as_bytes(), "ä\u{1F4E7}"),
        ("; charset=\"UTF-8\"", "ä".as_bytes(), "ä"),
        ("; charset=utf8", b"\xEF\xBB\xBFmark", "mark"),
        ("; charset=utf-8", b"wrong \xE9 byte \xC3\xA4", "wrong é byte ä"),
        ("; charset=iso-8859-1", b"\x93quoted\x94 \x80", "“quoted” €"),
        ("; charset=latin1", b"\xE4", "ä"),
        ("; charset=iso-8859-15", b"\xA4", "€"),
        ("; charset=windows-1251", b"\xCF\xF0\xE8\xE2\xE5\xF2", "Привет"),
        ("; charset=koi8-r", b"\xF0\xD2\xC9\xD7\xC5\xD4", "Привет"),
        ("; charset=iso-8859-8-i", b"\xF9\xEC\xE5\xED", "שלום"),
        ("; charset=ISO-8859-8", b"\xF9\xEC\xE5\xED", "שלום"),
        ("; charset=shift_jis", b"\x93\xFA\x96{\x8C\xEA", "日本語"),
        ("; charset=cp932", b"\x93\xFA\x96{\x8C\xEA", "日本語"),
        ("; charset=euc-kr", b"\xC7\xD1\xB1\xB9", "한국"),
        ("; charset=gb2312", b"\xB6\xA9\xB5\xA5", "订单"),
        ("; charset=big5", b"\xA4\xA4\xA4\xE5", "中文"),
        ("; charset=iso-2022-jp", b"\x1B$BF|K\\8l\x1B(B.", "日本語."),
        ("; charset=iso-2022-jp-2", b"\x1B$BF|K\\8l\x1B(B \x1B$A6)5%\x1B(B", "日本語 订单"),
        ("; charset=iso-2022-jp-1", b"\x1B(I\x31\x32\x1B(B", "ｱｲ"),
        ("; charset=iso-2022-kr", b"\x1B$)C\x0EGQ19\x0F ok", "한국 ok"),
        ("; charset=iso-2022-cn", b"\x1B$)A\x0E6)5%\x0F ok", "订单 ok"),
        ("; charset=hz-gb-2312", b"~{6)5%~} ok ~~", "订单 ok ~"),
        ("; charset=utf-7", b"Hi +AOQ- +- 1+-1 +ZeVnLIqe.", "Hi ä + 1+1 日本語."),
        ("; charset=unicode-1-1-utf-7", b"+2D3c5w", "📧"),
        ("; charset=utf-16le", b"h\0i\0", "hi"),
        ("; charset=utf-16", b"\xFE\xFF\0h\0i", "hi"),
        ("; charset=ibm850", b"\x84", "ä"),
        ("; charset*=utf-8''windows-1251; charset=windows-1251", b"\xCF", "П"),
        (" charset=windows-1251", b"\xCF", "П"),
        ("; charset='windows-1251'", b"\xCF", "П"),
        ("; charset=\"'windows-1251'\"", b"\xCF", "П"),
        ("; charset=windows-1251 (Cyrillic)", b"\xCF", "П"),
        ("; charset=windows-1251 format=flowed", b"\xCF", "П"),
        ("; charset=\"windows-1251; format=flowed\"", b"\xCF", "П"),
        ("; charset=\"windows-1251\" or so", b"\xCF", "П"),
        ("; charset*=us-ascii'en'windows-1251", b"\xCF", "П"),
    ];
    for (params, body, expected) in cases {
        let head = format!("Content-Type: text/plain{params}\r\n\r\n");
        let parsed = parse(&[head.as_bytes(), body].concat());
        assert_eq!(parsed.text.as_deref(), Some(*expected), "{params}");
    }
}

#[test]
fn html_may_name_its_charset_itself() {
    // The Content-Type's parameters, the HTML, what it ends in, whether that is reported.
    let meta = "<html><head><meta charset=\"windows-1251\"></head>";
    let equiv = "<META http-equiv='Content-Type' content='text/html; charset=windows-1251'/>";
    let cases = [
        ("", meta, b"\xCF", "П", false),
        ("", equiv, b"\xCF", "П", false),
        ("", "<meta content='text/html;charset=windows-1251' http-equiv=x>", b"\xCF", "П", false),
        ("", "<meta charset = windows-1251 />", b"\xCF", "П", false),
        ("; charset=us-ascii", meta, b"\xCF", "П", false),
        ("; charset=x-nobody", meta, b"\xCF", "П", true),
        ("; charset=koi8-r", meta, b"\xF0", "П", false),
        ("", "<meta charset=x-nobody>", b"\xE9", "é", true),
        ("", "<meta charset=utf-16>", b"\x61", "a", false),
        ("", "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", b"\xCF", "П", false),
        ("", "<p data-charset=koi8-r><meta name=x data-charset=koi8-r>", b"\xE9", "é", true),
    ];
    for (params, start, last, expected, reported) in cases {
        let head = format!("Content-Type: text/html{params}\r\n\r\n{start}<p>");
        let parsed = parse(&[head.as_bytes(), last].concat());
        assert!(parsed.html.as_ref().unwrap().ends_with(expected), "{params} {start}");
        let has = |code| warnings(&parsed).contains(&code);
        assert_eq!(has("unknown_charset") || has("eight_bit_without_charset"), reported, "{start}");
    }
    let late = format!("\r\n<!-- {} -->{meta}", "x".repeat(2_000));
    let parsed = parse(&[b"Content-Type: text/html\r\n", late.as_bytes(), b"\xE9"].concat());
    assert!(parsed.html.unwrap().ends_with('é'));
}

#[test]
fn words_that_soft_line_breaks_divide_are_whole() {
    // The body and the text.
    let cases = [
        ("https://x.test/v?t=abc \ndef \nghi\nnext", "https://x.test/v?t=abcdefghi\nnext"),
        ("one  \ntwo", "one two"),
        ("> a \n> b\n>> c\n>d", "> ab\n>> c\n> d"),
        ("a \n> b", "a\n> b"),
        (" >no quote\n  two", ">no quote\n two"),
        ("text \n-- \nAda \nL", "text\n-- \nAdaL"),
        ("a\n\n \nb", "a\n\n\nb"),
    ];
    for (body, expected) in cases {
        let parsed = mail(&format!("Content-Type: text/plain; format=flowed; delsp=yes\n\n{body}"));
        assert_eq!(parsed.text.as_deref(), Some(expected), "{body}");
        let parsed = mail(&format!("Content-Type: text/plain; format=flowed\n\n{body}"));
        assert_eq!(parsed.text.as_deref(), Some(body));
    }
    let body = "Go to https://x.test/verify?token=abc \ndef now";
    let parsed = mail(&format!("Content-Type: text/plain; format=flowed; delsp=\"YES\"\n\n{body}"));
    assert_eq!(parsed.links[0].url, "https://x.test/verify?token=abcdef");
}

#[test]
fn snippets() {
    let long = "word ".repeat(2_000);
    let cases: &[(String, String)] = &[
        ("\n  Hello\n\n\tAda  \n".into(), "Hello Ada".into()),
        (format!("\n{long}"), "word ".repeat(28).trim_end().into()),
        (format!("\n{}", "ä".repeat(9_000)), "ä".repeat(140)),
        (format!("\nx{}", "日".repeat(9_000)), format!("x{}", "日".repeat(139))),
        (
            "Content-Type: text/html\n\n<style>p{}</style><p>Hi&nbsp;<b>Ada</b></p><p>you</p>"
                .into(),
            "Hi Ada you".into(),
        ),
        ("Content-Type: application/pdf\n\n%PDF".into(), String::new()),
        ("\n".into(), String::new()),
    ];
    for (text, expected) in cases {
        assert_eq!(mail(&format!("From: a@x.test\n{text}")).digest.snippet, *expected);
    }
}

#[test]
fn line_faults() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"A: 1\r\n\r\nx\r\n", &[]),
        (b"A: 1\r\n\r\nx\ny\r\n", &["bare_lf"]),
        (b"A: 1\r\n\r\nx\ry\r\n", &["bare_cr"]),
        (b"A: 1\r\n\r\nx\r\r\n", &["bare_cr"]),
        (b"A: 1\r\n\r\nx\r\ny\n\r", &["bare_lf", "bare_cr"]),
        (b"A: 1\r\n\r\n\0", &["nul_byte"]),
        (b"A: \xC3\xA4\r\n\r\nx", &["eight_bit_header"]),
    ];
    for (raw, expected) in cases {
        let mut found = crate::digest(raw).warnings;
        found.retain(|warning| !warning.code.starts_with("missing_"));
        let found: Vec<&str> = found.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(found, *expected, "{raw:?}");
    }
    for (length, expected) in [(998, false), (999, true)] {
        for end in ["", "\r\n", "\n"] {
            let parsed = parse(format!("A: 1\r\n\r\n{}{end}", "x".repeat(length)).as_bytes());
            assert_eq!(warnings(&parsed).contains(&"line_too_long"), expected, "{length} {end:?}");
        }
    }
}
