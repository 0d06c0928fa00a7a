use super::{mail, warnings};
use crate::{attachment, parse};

const PDF: &str = "Content-Type: application/pdf; name=r.pdf\n\n%PDF\n";

fn mixed(parts: &str) -> String {
    format!(
        "From: a@x.test\nDate: Thu, 01 Jan 2026 00:00:00 +0000\nContent-Type: multipart/mixed; boundary=BB\n\n{parts}"
    )
}

fn names(parsed: &crate::Parsed) -> Vec<&str> {
    parsed.attachments.iter().map(|attachment| attachment.content_type.as_str()).collect()
}

/// Parts, the text, the HTML, the media types of the attachments.
type Roles<'a> = (String, Option<&'a str>, Option<&'a str>, &'a [&'a str]);

#[test]
fn parts_have_their_roles() {
    let text = "--BB\n\none\n";
    let cases: &[Roles] = &[
        (format!("{text}--BB\n{PDF}--BB--\n"), Some("one"), None, &["application/pdf"]),
        (format!("{text}--BB\nContent-Type: text/plain\n\ntwo\n--BB--\n"), Some("one\ntwo"), None, &[]),
        (
            "--BB\nContent-Type: text/html\n\n<p>1\n--BB\nContent-Type: text/html\n\n<p>2\n--BB--\n".into(),
            None,
            Some("<p>1"),
            &["text/html"],
        ),
        (
            "--BB\nContent-Type: text/plain\nContent-Disposition: attachment\n\nnote\n--BB--\n".into(),
            None,
            None,
            &["text/plain"],
        ),
        (
            "--BB\nContent-Type: text/plain\nContent-Disposition: inline; filename=n.txt\n\nnote\n--BB--\n".into(),
            Some("note"),
            None,
            &["text/plain"],
        ),
        ("--BB\nContent-Type: text/csv\n\na;b\n--BB--\n".into(), None, None, &["text/csv"]),
        ("--BB\nContent-Type: text\n\nbroken type\n--BB--\n".into(), Some("broken type"), None, &[]),
        ("--BB\nContent-Type: text/plain\n--BB--\n".into(), Some(""), None, &[]),
        ("--BB\nno blank line\n--BB--\n".into(), Some("no blank line"), None, &[]),
        ("preamble\n--BB  \n\none\n--BB-- \nepilogue\n".into(), Some("one"), None, &[]),
        (format!("{text}--BB--\n\n--BB\n{PDF}--BB--\n"), Some("one"), None, &["application/pdf"]),
        ("--BB\n\n--BBB\n--B\n-- BB\n--BB--\n".into(), Some("--BBB\n--B\n-- BB"), None, &[]),
    ];
    for (parts, text, html, attachments) in cases {
        for end in ["\r\n", "\n", "\r\r\n"] {
            let parsed = parse(mixed(parts).replace('\n', end).as_bytes());
            assert_eq!(parsed.text.as_deref(), *text, "{parts} {end:?}");
            assert_eq!(parsed.html.as_deref(), *html, "{parts}");
            assert_eq!(names(&parsed), *attachments, "{parts}");
        }
    }
}

#[test]
fn texts_with_a_file_name_are_listed() {
    let part = |kind: &str, disposition: &str, body: &str| {
        format!("--BB\nContent-Type: text/{kind}{disposition}\n\n{body}\n")
    };
    let inline = "\nContent-Disposition: inline; filename=n.txt";
    let named = "; name=n.txt";
    let attached = "\nContent-Disposition: attachment; filename=n.txt";
    // Parts, the text, the HTML, the media types of the attachments.
    let cases: &[(&str, Roles)] = &[
        ("mixed", (part("plain", inline, "1"), Some("1"), None, &["text/plain"])),
        ("mixed", (part("plain", named, "1"), Some("1"), None, &["text/plain"])),
        ("mixed", (part("plain", attached, "1"), None, None, &["text/plain"])),
        ("mixed", (part("html", inline, "<p>"), None, Some("<p>"), &["text/html"])),
        (
            "mixed",
            (
                part("plain", "", "1") + &part("plain", inline, "2"),
                Some("1"),
                None,
                &["text/plain"],
            ),
        ),
        (
            "mixed",
            (
                part("plain", "", "1") + &part("plain", named, "2") + &part("plain", "", "3"),
                Some("1\n3"),
                None,
                &["text/plain"],
            ),
        ),
        (
            "mixed",
            (
                part("plain", "", "1") + &part("html", inline, "<p>"),
                Some("1"),
                None,
                &["text/html"],
            ),
        ),
        (
            "mixed",
            (
                part("plain", inline, "1") + &part("plain", inline, "2"),
                Some("1"),
                None,
                &["text/plain", "text/plain"],
            ),
        ),
        (
            "related",
            (
                part("html", "", "<p>") + &part("html", named, "<i>"),
                None,
                Some("<p>"),
                &["text/html"],
            ),
        ),
        (
            "alternative",
            (
                part("plain", named, "1") + &part("html", named, "<p>"),
                Some("1"),
                Some("<p>"),
                &["text/plain", "text/html"],
            ),
        ),
    ];
    for (kind, (parts, text, html, attachments)) in cases {
        let parsed =
            mail(&format!("Content-Type: multipart/{kind}; boundary=BB\n\n{parts}--BB--\n"));
        assert_eq!(parsed.text.as_deref(), *text, "{parts}");
        assert_eq!(parsed.html.as_deref(), *html, "{parts}");
        assert_eq!(names(&parsed), *attachments, "{parts}");
        assert_eq!(parsed.digest.attachment_count as usize, attachments.len());
    }
    let parsed = mail("Content-Type: text/plain; name=n.txt\n\nnote");
    assert_eq!(parsed.text.as_deref(), Some("note"));
    assert_eq!(parsed.attachments[0].filename, "n.txt");
}

#[test]
fn other_forms_of_the_body_are_alternatives() {
    // Fields of a third part of a `multipart/alternative`, whether it is an alternative.
    let cases = [
        ("Content-Type: text/x-amp-html", true),
        ("Content-Type: text/calendar; method=REQUEST; name=invite.ics", true),
        ("Content-Type: text/calendar\nContent-Disposition: inline; filename=i.ics", true),
        ("Content-Type: text/calendar\nContent-Disposition: attachment; filename=i.ics", false),
        ("Content-Type: text/html", true),
        ("Content-Type: application/rtf", true),
        ("Content-Type: application/pdf; name=r.pdf", false),
        ("Content-Type: image/png\nContent-ID: <logo@x>", false),
    ];
    for (fields, is_alternative) in cases {
        let parsed = mail(&format!(
            "Content-Type: multipart/alternative; boundary=BB\n\n--BB\n\n1\n--BB\n\
             Content-Type: text/html\n\n<p>\n--BB\n{fields}\n\nx\n--BB--\n"
        ));
        assert_eq!(parsed.text.as_deref(), Some("1"), "{fields}");
        assert_eq!(parsed.html.as_deref(), Some("<p>"), "{fields}");
        let lists = (parsed.attachments.len(), parsed.alternatives.len());
        assert_eq!(lists, if is_alternative { (0, 1) } else { (1, 0) }, "{fields}");
        assert_eq!(parsed.digest.attachment_count, u32::from(!is_alternative));
    }
    let raw = "Content-Type: multipart/alternative; boundary=BB\n\n--BB\n\n1\n--BB\n\
               Content-Type: text/calendar; name=invite.ics\n\nBEGIN:VCALENDAR\n--BB--\n";
    let found = attachment(raw.as_bytes(), "a1").unwrap();
    assert_eq!(found.meta, parse(raw.as_bytes()).alternatives[0]);
    assert_eq!((&*found.meta.filename, &*found.bytes), ("invite.ics", &b"BEGIN:VCALENDAR"[..]));
    for id in ["1", "a0", "a2", "a01", "a+1", "a", "aa1", "b1"] {
        assert_eq!(attachment(raw.as_bytes(), id), None, "{id}");
    }
}

#[test]
fn the_boundary_that_a_body_uses_counts() {
    let body = "--X\nContent-Type: text/plain\n\none\n--X\nContent-Type: a/b\n\nx\n--X--\n";
    let bare = "--X\n\none\n--X\nContent-Type: a/b\n\nx\n--X--\n";
    // The Content-Type's fields after `multipart/mixed`, the body.
    let cases = [
        ("; boundary=Y", body),
        ("; boundary=Y\nContent-Type: multipart/mixed; boundary=X", body),
        ("; boundary=\"Y\n X\"", body),
        ("; boundary=X charset=utf-8", body),
        ("; boundary='X'", body),
        ("; boundary=x", bare),
        ("", bare),
        ("; boundary=Y", &format!("This is a message in parts.\n\n{body}")),
        ("; boundary=Y", "--X\nContent-Type: a/b\n\nx\n--X\n\none\n"),
    ];
    for (params, body) in cases {
        for end in ["\r\n", "\n", "\r"] {
            let text = format!("Content-Type: multipart/mixed{params}\n\n{body}");
            let parsed = parse(text.replace('\n', end).as_bytes());
            assert_eq!(parsed.text.as_deref().map(str::trim_end), Some("one"), "{text}");
            assert_eq!(names(&parsed), ["a/b"], "{text}");
            assert!(warnings(&parsed).contains(&"missing_boundary"), "{text}");
        }
    }
    let inner = format!("--B\nContent-Type: multipart/related; boundary=Y\n\n{body}\n--B--");
    let parsed = mail(&format!("Content-Type: multipart/mixed; boundary=B\n\n{inner}"));
    assert_eq!((parsed.text.as_deref(), parsed.attachments.len()), (Some("one"), 1));
    // A boundary of the multipart around is none of the inner one's, and prose is no part.
    let around = "--B\nContent-Type: multipart/mixed; boundary=Y\n\n--B\n\none\n--B--";
    let parsed = mail(&format!("Content-Type: multipart/mixed; boundary=B\n\n{around}"));
    assert_eq!(parsed.text.as_deref(), Some("one"));
    for prose in ["a\n-----\n\nb\n-----\n", "--help\nlists all\n", "--x\n\nonly once\n"] {
        let parsed = mail(&format!("Content-Type: multipart/mixed; boundary=Y\n\n{prose}"));
        assert_eq!(parsed.text.as_deref(), Some(prose));
    }
}

#[test]
fn broken_boundaries_lose_nothing() {
    // The mail, its text, its attachments, a warning.
    let cases: &[(&str, &str, usize, &str)] = &[
        (
            "Content-Type: multipart/mixed; boundary=B\n\nno part at all\n",
            "no part at all\n",
            0,
            "missing_boundary",
        ),
        (
            "Content-Type: multipart/mixed\n\nno part at all\n",
            "no part at all\n",
            0,
            "missing_boundary",
        ),
        (
            "Content-Type: multipart/mixed\n\n--X\n\none\n--X\nContent-Type: a/b\n\nx\n--X--\n",
            "one",
            1,
            "missing_boundary",
        ),
        (
            "Content-Type: multipart/mixed\n\n-- \nsignature\n",
            "-- \nsignature\n",
            0,
            "missing_boundary",
        ),
        (
            "Content-Type: multipart/mixed; boundary=B\n\n--B\n\none\n--B\nContent-Type: a/b\n\ncut off",
            "one",
            1,
            "missing_closing_boundary",
        ),
        (
            "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: multipart/alternative; boundary=C\n\n--C\n\none\n--B\nContent-Type: a/b\n\nx\n--B--\n",
            "one",
            1,
            "missing_closing_boundary",
        ),
        (
            "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: multipart/alternative; boundary=C\n\ninner text\n--B--\n",
            "inner text",
            0,
            "missing_boundary",
        ),
        (
            "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\none\n--B--\n--B\nContent-Type: a/b\n\nx\n--B--\n",
            "one",
            1,
            "",
        ),
        (
            "Content-Type: multipart/mixed; boundary=B\nContent-Transfer-Encoding: base64\n\n--B\n\none\n--B--\n",
            "one",
            0,
            "bad_encoding",
        ),
        ("Content-Type: multipart/mixed; boundary=\"B\n\n--B\n\none\n--B--\n", "one", 0, ""),
        (
            "Content-Type: multipart/digest; boundary=B\n\n--B\n\nSubject: inner\n\nx\n--B--\n",
            "-",
            1,
            "",
        ),
    ];
    for (text, body, attachments, warning) in cases {
        let parsed = mail(text);
        assert_eq!(parsed.text.as_deref().unwrap_or("-"), *body, "{text}");
        assert_eq!(parsed.attachments.len(), *attachments, "{text}");
        assert!(warning.is_empty() || warnings(&parsed).contains(warning), "{text}");
    }
}

#[test]
fn attachments_are_exact() {
    // Encoding, body as sent, bytes.
    let cases: &[(&str, &[u8], &[u8])] = &[
        ("base64", b"aGVsbG8=", b"hello"),
        ("BASE64", b" aGVs\r\n\tbG8 ", b"hello"),
        ("base64", b"aGVsbG8", b"hello"),
        ("base64", b"aGV*sb!G8=", b"hello"),
        ("base64", b"aGVsbA==bG8=", b"helllo"),
        ("base64", b"aGVsbG8=\r\n\r\n____\r\nList footer, see below", b"hello"),
        ("base64", b"-_8=", b"\xFB\xFF"),
        ("base64", b"", b""),
        ("quoted-printable", b"a=3Db=\r\nc=3d=ZZ 100% =", b"a=bc==ZZ 100% "),
        ("quoted-printable", b"=FF=FE=00", b"\xFF\xFE\x00"),
        ("\"quoted-printable\"", b"a=  \r\nb", b"ab"),
        ("quoted-printable (comment)", b"=41", b"A"),
        ("quoted-printable", b"a \t\r\nb=20 \r\n \tc= \r\n d\t ", b"a\r\nb \r\n \tc d"),
        ("x-uuencode", b"begin 644 a.txt\r\n%:&5L;&\\ \r\n`\r\nend\r\n", b"hello"),
        ("X-UUE", b"see:\n\nbegin 0644 a b\n%:&5L;&\\\n\nend", b"hello"),
        ("uuencode", b"begin 644 a\r\n#____\r\n#``!!\r\n#\r\n", b"\xFF\xFF\xFF\0\0A\0\0\0"),
        ("x-uuencode", b"no such line", b"no such line"),
        ("8bit", b"\xFF\xFE\r\nx\r", b"\xFF\xFE\r\nx\r"),
        ("x-unknown", b"as it is", b"as it is"),
        ("", b"as it is", b"as it is"),
    ];
    for (encoding, body, bytes) in cases {
        for media_type in ["application/x", "text/plain; charset=utf-16", "message/rfc822"] {
            let head = format!(
                "Content-Type: multipart/mixed; boundary=BB\r\n\r\n--BB\r\nContent-Type: {media_type}\r\n\
                 Content-Disposition: attachment\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
            );
            let raw = [head.as_bytes(), body, b"\r\n--BB--\r\n"].concat();
            assert_eq!(attachment(&raw, "1").unwrap().bytes, *bytes, "{encoding} {body:?}");
        }
    }
    for id in ["0", "2", "01", "+1", "", "x", "-1"] {
        assert_eq!(attachment(mixed(&format!("--BB\n{PDF}--BB--")).as_bytes(), id), None, "{id}");
    }
}

#[test]
fn file_names() {
    let disposition = |value: &str| format!("Content-Disposition: attachment; {value}");
    let cases: &[(String, &str)] = &[
        (disposition("filename=a.pdf"), "a.pdf"),
        (disposition("filename=my file.pdf"), "my file.pdf"),
        (disposition("filename=\"a;b.pdf\""), "a;b.pdf"),
        (disposition("filename=\"C:\\dir\\a.pdf\""), "C:\\dir\\a.pdf"),
        (disposition("filename=\"a\\\"b\\\\c.pdf\""), "a\"b\\c.pdf"),
        (disposition("filename=\"../../etc/passwd\""), "../../etc/passwd"),
        (disposition("filename*=UTF-8''%E4%BB%8A.txt; filename=x.txt"), "今.txt"),
        (disposition("filename=x.txt; filename*=utf-8'en'%C3%A4.txt"), "ä.txt"),
        (disposition("filename*=ISO-8859-1''%FC.txt"), "ü.txt"),
        (disposition("filename*0=\"long \"; filename*1=name.txt"), "long name.txt"),
        (disposition("filename*1*=%A4.txt; filename*0*=UTF-8''%C3"), "ä.txt"),
        (
            disposition("filename*0*=UTF-8''a%20; filename*1=\"b%20\"; filename*2*=%C3%A4"),
            "a b%20ä",
        ),
        (disposition("filename*=%C3%A4.txt"), "ä.txt"),
        (disposition("filename*0=\"=?utf-8?Q?=C3=A4?=\"; filename*1=\".txt\""), "ä.txt"),
        (disposition("filename=\"=?UTF-8?B?VMO2?=\r\n =?UTF-8?B?LnBkZg==?=\""), "Tö.pdf"),
        (disposition("filename==?utf-8?q?=C3=A4.txt?="), "ä.txt"),
        (disposition("FileName = \"a.pdf\""), "a.pdf"),
        (disposition("\r\n\tfilename=\"folded.pdf\""), "folded.pdf"),
        (disposition("filename=\"ä.txt\""), "ä.txt"),
        (disposition("filename=\"unclosed.pdf"), "unclosed.pdf"),
        (disposition("size=3; (comment) filename=a.pdf"), "a.pdf"),
        ("Content-Disposition: filename=bare.pdf".into(), "bare.pdf"),
        ("Content-Type: a/b; name=\"t.pdf\"".into(), "t.pdf"),
        ("Content-Type: a/b; name*=utf-8''%C3%A4".into(), "ä"),
        ("Content-Type: a/b; name=t.pdf\r\nContent-Disposition: attachment".into(), "t.pdf"),
        (
            "Content-Type: a/b; name=t.pdf\r\nContent-Disposition: attachment; filename=\"\""
                .into(),
            "t.pdf",
        ),
        ("Content-Type: a/b".into(), ""),
    ];
    for (fields, expected) in cases {
        let media_type = if fields.contains("Content-Type") { "" } else { "Content-Type: a/b\r\n" };
        let raw = format!(
            "Content-Type: multipart/mixed; boundary=BB\r\n\r\n--BB\r\n{media_type}{fields}\r\n\r\nx\r\n--BB--"
        );
        let parsed = parse(raw.as_bytes());
        assert_eq!(parsed.attachments[0].filename, *expected, "{fields}");
    }
    let long = disposition(&format!("filename={}", "ä".repeat(300)));
    let parsed = mail(&format!("Content-Type: a/b\n{long}\n\nx"));
    assert_eq!(parsed.attachments[0].filename.chars().count(), 255);
    assert!(warnings(&parsed).contains(&"filename_too_long"));
}

#[test]
fn uuencoded_files_have_the_name_of_their_begin_line() {
    let head = "Content-Type: a/b\nContent-Transfer-Encoding: x-uuencode\n";
    let body = "\nbegin 644 my file.bin\n#____\n`\nend\n";
    let parsed = mail(&format!("{head}{body}"));
    assert_eq!(parsed.attachments[0].filename, "my file.bin");
    assert_eq!(warnings(&parsed), ["missing_from", "missing_date"]);
    let parsed = mail(&format!("{head}Content-Disposition: attachment; filename=f\n{body}"));
    assert_eq!(parsed.attachments[0].filename, "f");
    let cut = "\nbegin 644 a\nM\nM\nM\n".repeat(100);
    let parsed = mail(&format!("{head}{cut}"));
    assert!(warnings(&parsed).contains(&"bad_uuencode"));
    // Characters that are not there stand for zeros, but not for more than the body is long.
    assert!(parsed.attachments[0].size <= 2 * cut.len() as u64);
}

#[test]
fn inline_parts_and_content_ids() {
    // Fields, the Content-ID, whether it is inline.
    let cases = [
        ("Content-ID: <logo@x>", Some("logo@x"), true),
        ("Content-ID: logo@x", Some("logo@x"), true),
        ("Content-ID: <logo@x>\nContent-Disposition: attachment", Some("logo@x"), false),
        ("Content-Disposition: INLINE; filename=a.png", None, true),
        ("Content-ID: <>", None, false),
        ("X: y", None, false),
    ];
    for (fields, id, inline) in cases {
        let parsed = mail(&format!("Content-Type: image/png\n{fields}\n\nx"));
        assert_eq!(parsed.attachments[0].content_id.as_deref(), id, "{fields}");
        assert_eq!(parsed.attachments[0].inline, inline, "{fields}");
    }
}

#[test]
fn parts_are_bounded() {
    let many = format!("--BB\n{PDF}").repeat(1_200);
    let parsed = mail(&mixed(&many));
    assert_eq!(parsed.attachments.len(), 500);
    assert_eq!(parsed.digest.attachment_count, 500);
    assert!(warnings(&parsed).contains(&"too_many_parts"));
    assert!(warnings(&parsed).contains(&"too_many_attachments"));

    let open = |depth| {
        format!(
            "Content-Type: multipart/mixed; boundary=B{depth}

--B{depth}
"
        )
    };
    let deep: String = (0..60).map(open).collect();
    let parsed = mail(&format!("{deep}\ninnermost"));
    assert_eq!(names(&parsed), ["multipart/mixed"]);
    assert!(warnings(&parsed).contains(&"too_deep"));
}

#[test]
fn hostile_structures_take_linear_time() {
    // Quadratic work would take minutes here.
    let pieces = [
        "--B\n\n",
        "--B",
        "\n--B--",
        "--\n",
        "--B\nContent-Type: multipart/mixed; boundary=B\n\n",
        "=?a?q?",
        "(<\"",
        "a@b,",
        "=",
        "= ",
        "\r",
    ];
    for piece in pieces {
        let flood = piece.repeat(300_000 / piece.len());
        let parsed = parse(
            format!("To: {flood}\nContent-Type: multipart/mixed; boundary=B\n\n{flood}").as_bytes(),
        );
        assert!(parsed.attachments.len() <= 500);
        let parsed =
            parse(format!("Content-Transfer-Encoding: quoted-printable\n\n{flood}").as_bytes());
        assert!(parsed.text.is_some());
        let parsed = parse(format!("Content-Type: text/html\n\n{flood}").as_bytes());
        assert!(parsed.html.is_some());
    }
}
