use super::{mail, warnings};
use crate::parse;
use trapline_model::Address;

#[test]
fn encoded_words_and_raw_bytes() {
    let cases: &[(&[u8], &str)] = &[
        (b"=?utf-8?Q?J=C3=B8ran?=", "Jøran"),
        (b"=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        (b"=?utf-8?q?a?= b =?utf-8?q?c?=", "a b c"),
        (b"x=?utf-8?q?a?=y", "xay"),
        // A character split between words, and between encodings.
        (b"=?utf-8?B?w6Q=?= =?UTF-8?Q?=C3?=\r\n =?utf-8?B?tg==?=", "äö"),
        (b"=?iso-8859-1?Q?=E4?= =?utf-8?Q?=C3=A4?=", "ää"),
        (b"=?utf-8*en?Q?lang?=", "lang"),
        (b"=?utf-8?Q?a b_c?=", "a b c"),
        (b"=?utf-8?B?4pyT?==?utf-8?B?4pyT?=", "✓✓"),
        (b"=?utf-8?B?4pyTIG5vIHBhZA?=", "✓ no pad"),
        (b"=?x-nobody?Q?caf=E9?=", "café"),
        (b"=?us-ascii?Q?caf=C3=A9?=", "café"),
        (b"=?windows-1251?B?z/Do4uXy?=", "Привет"),
        (b"=?iso-2022-jp?B?GyRCRnxLXDhsGyhC?=", "日本語"),
        (b"=?utf-7?Q?Hi_+AOQ-?=", "Hi ä"),
        (b"=?utf-8?Q?two=0D=0Alines?=", "two lines"),
        (b"=?utf-8?Q?broken", "=?utf-8?Q?broken"),
        (b"=?utf-8?X?no?= =?=?", "=?utf-8?X?no?= =?=?"),
        (b"raw \xC3\xA4", "raw ä"),
        (b"raw \xE4", "raw ä"),
        (b"raw \xE4 =?utf-8?Q?=C3=A4?=", "raw ä ä"),
        (b"folded\r\n\tline\r\r\n  two", "folded\tline  two"),
        (b"", ""),
    ];
    for (value, expected) in cases {
        let raw = [b"Subject: ".as_slice(), value, b"\r\nX-Odd: ", value, b"\r\n\r\n"].concat();
        let parsed = parse(&raw);
        assert_eq!(parsed.digest.subject, *expected, "{}", String::from_utf8_lossy(value));
        assert_eq!(parsed.headers[1].value, *expected);
    }
}

#[test]
fn address_lists() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("a@x.test", &[("a@x.test", "")]),
        ("<a@x.test>", &[("a@x.test", "")]),
        ("Ada <a@x.test>, b@x.test", &[("a@x.test", "Ada"), ("b@x.test", "")]),
        ("\"Doe, John (QA)\" <j@x.test>", &[("j@x.test", "Doe, John (QA)")]),
        ("\"a \\\"b\\\" c\" <j@x.test>", &[("j@x.test", "a \"b\" c")]),
        ("j@x.test (John Doe)", &[("j@x.test", "John Doe")]),
        ("John (the boss) <j@x.test>", &[("j@x.test", "John")]),
        ("undisclosed-recipients:;", &[]),
        (
            "team: x@x.test, \"y, z\" <y@x.test>;, w@x.test",
            &[("x@x.test", ""), ("y@x.test", "y, z"), ("w@x.test", "")],
        ),
        ("\"odd\\\"q\"@x.test", &[("\"odd\\\"q\"@x.test", "")]),
        ("<@a.test,@b.test:u@c.test>", &[("u@c.test", "")]),
        (
            "u@[IPv6:2001:db8::1], v@[127.0.0.1]",
            &[("u@[IPv6:2001:db8::1]", ""), ("v@[127.0.0.1]", "")],
        ),
        ("John Doe j@x.test", &[("j@x.test", "John Doe")]),
        ("=?utf-8?Q?Doe,_J=C3=B8rn?= <j@x.test>", &[("j@x.test", "Doe, Jørn")]),
        ("=?utf-8?Q?J=C3?= =?utf-8?Q?=B8rn?= <j@x.test>", &[("j@x.test", "Jørn")]),
        ("\"=?utf-8?Q?J=C3=B8rn?=\" <j@x.test>", &[("j@x.test", "Jørn")]),
        ("a@b <c@x.test>", &[("c@x.test", "a@b")]),
        ("\"a@b.test\"", &[("a@b.test", "")]),
        ("root", &[("root", "")]),
        ("Just A Name", &[("", "Just A Name")]),
        ("<>", &[]),
        ("a@x.test; b@x.test", &[("a@x.test", ""), ("b@x.test", "")]),
        ("Jøran <jøran@x.test>", &[("jøran@x.test", "Jøran")]),
        ("Broken <a@x.test", &[("a@x.test", "Broken")]),
        ("(unclosed a@x.test", &[("a@x.test", "(unclosed")]),
        ("a@x.test,,\r\n b@x.test,", &[("a@x.test", ""), ("b@x.test", "")]),
    ];
    for (value, expected) in cases {
        let parsed = parse(format!("To: {value}\r\n\r\n").as_bytes());
        let expected: Vec<Address> = expected
            .iter()
            .map(|(address, name)| Address { address: (*address).into(), name: (*name).into() })
            .collect();
        assert_eq!(parsed.digest.to, expected, "{value}");
    }
}

#[test]
fn addresses_in_odd_fields() {
    // The field, the mailboxes, whether it is reported.
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], bool);
    let cases: &[Case] = &[
        ("111(aaa）<bb@x.test>", &[("bb@x.test", "111(aaa）")], true),
        ("111 (aaa <bb@x.test>", &[("bb@x.test", "111 (aaa")], true),
        ("((a) b <c@x.test>", &[("c@x.test", "( b")], true),
        ("a) b <c@x.test>", &[("c@x.test", "a) b")], false),
        ("a (b \"c) <d@x.test>", &[("d@x.test", "a")], false),
        ("\"Doe, John <j@x.test>", &[("j@x.test", "Doe, John")], true),
        ("Doe\" <j@x.test>", &[("j@x.test", "Doe")], true),
        ("\"a\" b\" <j@x.test>", &[("j@x.test", "a b")], true),
        ("\"a\\\" <j@x.test>", &[("j@x.test", "a\\")], true),
        ("Doe, John <j@x.test>", &[("j@x.test", "Doe, John")], true),
        (
            "Doe, Dr., John <j@x.test>, r@x.test",
            &[("j@x.test", "Doe, Dr., John"), ("r@x.test", "")],
            true,
        ),
        ("a@x.test, Doe, John <j@x.test>", &[("a@x.test", ""), ("j@x.test", "Doe, John")], true),
        ("Acme, Inc. (QA) <q@x.test>", &[("q@x.test", "Acme, Inc.")], true),
        ("root, admin", &[("root", ""), ("admin", "")], false),
        ("root, j@x.test", &[("root", ""), ("j@x.test", "")], false),
        ("Just A Name, j@x.test", &[("", "Just A Name"), ("j@x.test", "")], false),
        ("x <j@x.test", &[("j@x.test", "x")], true),
        ("A <a@x.test, B <b@x.test>", &[("a@x.test", "A"), ("b@x.test", "B")], true),
        ("A <a@x.test> B <b@x.test>", &[("a@x.test", "A"), ("b@x.test", "B")], true),
        ("<<a@x.test>>", &[("a@x.test", "")], true),
        ("<QA> <a@x.test>", &[("a@x.test", "QA")], false),
        ("a <a@x.test> <QA>", &[("a@x.test", "a QA")], false),
        ("<\"a>b\"@x.test>", &[("\"a>b\"@x.test", "")], false),
        ("<\"a@x.test>", &[("\"a@x.test", "")], false),
        ("[Team] <t@x.test>", &[("t@x.test", "[Team]")], false),
        ("[Team <t@x.test>", &[("t@x.test", "[Team")], false),
        ("Team: Ada <a@x.test>;", &[("a@x.test", "Ada")], false),
        ("A <a@x.test> B: <b@x.test>;", &[("a@x.test", "A"), ("b@x.test", "")], true),
        ("A <a@x.test> B: C <b@x.test>;", &[("a@x.test", "A"), ("b@x.test", "C")], true),
    ];
    for (value, expected, reported) in cases {
        let parsed = parse(format!("From: x@x.test\r\nTo: {value}\r\n\r\n").as_bytes());
        let found: Vec<(&str, &str)> =
            parsed.digest.to.iter().map(|a| (a.address.as_str(), a.name.as_str())).collect();
        assert_eq!(found, *expected, "{value}");
        assert_eq!(warnings(&parsed).contains(&"malformed_address"), *reported, "{value}");
        let parsed = parse(format!("From: {value}\r\n\r\n").as_bytes());
        let author = parsed.digest.from.unwrap().address;
        assert!(author.contains('@') || *value == "root, admin", "{value}: {author}");
    }
}

#[test]
fn message_ids() {
    for (value, expected) in [
        ("<a.b@x.test>", Some("a.b@x.test")),
        ("\r\n <a@x.test> (comment)", Some("a@x.test")),
        ("a@x.test", Some("a@x.test")),
        ("<a@x.test", Some("a@x.test")),
        ("id: <a@x.test>", Some("a@x.test")),
        ("<>", None),
        ("", None),
    ] {
        let parsed = parse(format!("Message-ID: {value}\r\n\r\n").as_bytes());
        assert_eq!(parsed.message_id.as_deref(), expected, "{value}");
    }
    assert_eq!(parse(b"Subject: s\r\n\r\n").message_id, None);
}

#[test]
fn dates() {
    let cases: &[(&str, Option<&str>)] = &[
        ("Thu, 01 Jan 2026 00:00:00 +0000", Some("2026-01-01T00:00:00.000Z")),
        ("1 Jan 2026 10:30 +0100 (CET)", Some("2026-01-01T09:30:00.000Z")),
        ("Thu, 1 Jan 2026 00:00:00 GMT", Some("2026-01-01T00:00:00.000Z")),
        ("Thu, 01 Jan 2026 00:00:00 -0800", Some("2026-01-01T08:00:00.000Z")),
        ("Wed, 31 Dec 2025 23:59:60 +0000", Some("2025-12-31T23:59:59.000Z")),
        ("yesterday", None),
        ("", None),
    ];
    for (value, expected) in cases {
        let parsed = parse(format!("Date: {value}\r\n\r\n").as_bytes());
        let found = parsed.digest.date.map(|date| date.to_string());
        assert_eq!(found.as_deref(), *expected, "{value}");
        assert_eq!(warnings(&parsed).contains(&"bad_date"), expected.is_none(), "{value}");
    }
}

#[test]
fn header_blocks_as_they_come() {
    // The mail, its fields, and its text.
    let cases: &[(&str, &[&str], &str)] = &[
        ("A: 1\nB: 2\n\nbody\n", &["A", "B"], "body\n"),
        ("A : 1\nB\t: 2\n\nbody", &["A", "B"], "body"),
        ("From x Thu Jan  1 00:00:00 2026\nA: 1\n\nbody", &["A"], "body"),
        (">From x Thu Jan  1 00:00:00 2026\nA: 1\n\nbody", &["A"], "body"),
        ("A: 1\ngarbage line\nB: 2\n\nbody", &["A", "B"], "body"),
        ("A: 1\nbody without a blank line\nC: 3", &["A"], "body without a blank line\nC: 3"),
        ("garbage\nSubject: s\n\nbody", &["Subject"], "body"),
        ("just a body\n\nof two paragraphs", &[], "just a body\n\nof two paragraphs"),
        (" starts with a blank\nand goes on", &[], " starts with a blank\nand goes on"),
        ("\nbody", &[], "body"),
        ("A: 1", &["A"], ""),
        ("", &[], ""),
        ("A: 1\nB: 2\n", &["A", "B"], ""),
    ];
    for (text, fields, body) in cases {
        for end in ["\r\n", "\n", "\r\r\n"] {
            let parsed = parse(text.replace('\n', end).as_bytes());
            let names: Vec<&str> =
                parsed.headers.iter().map(|header| header.name.as_str()).collect();
            assert_eq!(names, *fields, "{text:?}");
            assert_eq!(parsed.text.as_deref(), Some(*body), "{text:?} {end:?}");
        }
    }
}

#[test]
fn mail_with_carriage_returns_only() {
    let parsed =
        parse(b"Subject: s\rContent-Type: multipart/mixed; boundary=B\r\r--B\r\rone\r--B--\r");
    assert_eq!(parsed.digest.subject, "s");
    assert_eq!(parsed.text.as_deref(), Some("one"));
}

#[test]
fn the_first_of_repeated_fields_counts() {
    let parsed = mail("From: a@x.test\nFrom: b@x.test\nTo: c@x.test\nto: d@x.test\nX: 1\nX: 2\n\n");
    assert_eq!(parsed.digest.from.as_ref().unwrap().address, "a@x.test");
    assert_eq!(parsed.digest.to.len(), 1);
    assert_eq!(parsed.headers.len(), 6);
    assert!(warnings(&parsed).contains(&"repeated_header"));
    let parsed = mail("From: a@x.test\nX: 1\nX: 2\nReceived: 1\nReceived: 2\n\n");
    assert!(!warnings(&parsed).contains(&"repeated_header"));
}

#[test]
fn a_mail_without_an_author_is_reported() {
    for (fields, missing) in
        [("From: a@x.test\n", false), ("From:\n", true), ("From: x:;\n", true), ("", true)]
    {
        let parsed = mail(&format!("{fields}Subject: s\n\nx"));
        assert_eq!(parsed.digest.from.is_none(), missing, "{fields}");
        assert_eq!(warnings(&parsed).contains(&"missing_from"), missing, "{fields}");
    }
}

#[test]
fn headers_are_bounded() {
    let many = "X: 1\r\n".repeat(crate::limits::FIELDS + 5);
    let parsed = parse(format!("{many}\r\nbody").as_bytes());
    assert_eq!(parsed.headers.len(), crate::limits::FIELDS);
    assert_eq!(parsed.text.as_deref(), Some("body"));
    assert!(warnings(&parsed).contains(&"too_many_headers"));
    let parsed = parse(format!("Subject: {}\r\n\r\n", "x".repeat(200_000)).as_bytes());
    assert_eq!(parsed.digest.subject.len(), crate::limits::FIELD_VALUE - 1);
    assert!(warnings(&parsed).contains(&"header_too_long"));
}

#[test]
fn folding_compares_any_script() {
    assert_eq!(crate::fold("STRASSE"), crate::fold("Straße"));
    assert_eq!(crate::fold("ПРИВЕТ"), "привет");
    for (a, b) in [
        ("CAFE\u{301}", "café"),
        ("\u{1E69}", "S\u{307}\u{323}"),
        ("Ｔｒａｐｌｉｎｅ １２３", "trapline 123"),
        ("ﬁle", "FILE"),
        ("\u{212B}ngström", "Ångstro\u{308}m"),
        ("ｶﾞ", "ガ"),
        ("\u{1112}\u{1161}\u{11AB}", "한"),
        ("㎐", "hz"),
        ("a\u{A0}b", "a b"),
        ("\u{345}\u{3B1}\u{301}", "\u{3B9}ά"),
    ] {
        assert_eq!(crate::fold(a), crate::fold(b), "{a}");
    }
    assert_eq!(crate::fold("a\0B\r\nc\u{85}Ä"), "a b  c ä");
}
