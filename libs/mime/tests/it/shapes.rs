//! Messages that are made to be slow: each has to take time in proportion to its length.

use trapline_mime::{attachment, codes, digest, fold, parse};

/// Bytes of each message. Quadratic work would take minutes on these.
const LENGTH: usize = 64 * 1024;

/// What comes before and what is repeated.
const SHAPES: &[(&str, &str)] = &[
    // Header fields.
    ("From: ", "("),
    ("From: ", "(()"),
    ("From: ", "<"),
    ("From: ", "<\""),
    ("From: ", "<\\\""),
    ("From: ", "\"\\"),
    ("From: ", "\\\""),
    ("From: ", "["),
    ("From: ", "a,"),
    ("From: ", "a@b <c@d>"),
    ("From: ", "<a,"),
    ("From: ", "=?a?q?"),
    ("From: ", "=?utf-8?q?a?= "),
    ("Subject: ", "=?utf-8?b?YQ==?= =?utf-8?q?=C3?="),
    ("Subject: ", "=?a?q?"),
    ("Subject: ", "=?"),
    ("Subject: a", "\n "),
    ("Subject: a", "\r"),
    ("Date: ", "("),
    ("Date: ", "1 "),
    ("Message-ID: ", "<"),
    ("", "A: 1\n"),
    ("", "no field\n"),
    ("", " "),
    ("", "From "),
    ("Content-Type: text/plain; ", "(("),
    ("Content-Type: text/plain; ", "a*1*=%41; "),
    ("Content-Type: text/plain; a=\"", "\\\""),
    ("Content-Type: text/plain; ", ";"),
    ("Content-Disposition: attachment; ", "filename*0=\"=?utf-8?q?a?=\"; "),
    // Boundaries.
    ("Content-Type: multipart/mixed; boundary=B\n\n", "--B\n\n"),
    ("Content-Type: multipart/mixed; boundary=B\n\n", "--B\nA: 1\n"),
    ("Content-Type: multipart/mixed; boundary=B\n\n", "--B--\n"),
    ("Content-Type: multipart/mixed; boundary=B\n\n", "--\n"),
    ("Content-Type: multipart/mixed; boundary=B\n\n", "--B \r"),
    ("Content-Type: multipart/mixed; boundary=N\n\n", "--X\n"),
    (
        "Content-Type: multipart/mixed; boundary=N\n\n",
        "--X\nContent-Type: multipart/mixed; boundary=N\n\n",
    ),
    (
        "Content-Type: multipart/mixed; boundary=B\n\n",
        "--B\nContent-Type: multipart/mixed; boundary=N\n\n",
    ),
    (
        "Content-Type: multipart/mixed; boundary=B\n\n",
        "--B\nContent-Type: multipart/mixed\n\n--C\nx\n",
    ),
    (
        "Content-Type: multipart/mixed; boundary=B\n\n",
        "--B\nContent-Type: multipart/mixed; boundary=B\n\n",
    ),
    (
        "Content-Type: multipart/mixed; boundary=B\n\n",
        "--B\nContent-Disposition: attachment; filename=f\n\nx\n",
    ),
    // Encodings.
    ("Content-Transfer-Encoding: base64\n\n", "YQ=="),
    ("Content-Transfer-Encoding: base64\n\n", "=*"),
    ("Content-Transfer-Encoding: quoted-printable\n\n", "= "),
    ("Content-Transfer-Encoding: quoted-printable\n\n", " \t"),
    ("Content-Transfer-Encoding: quoted-printable\n\n", " \n"),
    ("Content-Transfer-Encoding: quoted-printable\n\n", "=\r"),
    ("Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n", "M\n"),
    ("Content-Transfer-Encoding: x-uuencode\n\n", "begin 644 a\n"),
    ("Content-Transfer-Encoding: x-uuencode\n\n", "begin "),
    // Charsets.
    ("Content-Type: text/plain; charset=utf-7\n\n", "+A"),
    ("Content-Type: text/plain; charset=iso-2022-kr\n\n", "\x1B$)C\x0E"),
    ("Content-Type: text/plain; charset=iso-2022-jp-2\n\n", "\x1B$B!"),
    ("Content-Type: text/plain; charset=hz-gb-2312\n\n", "~{~"),
    ("Content-Type: text/plain; charset=utf-8\n\n", "\u{FF}\u{A4}"),
    ("Content-Type: text/plain; format=flowed; delsp=yes\n\n", "> \n"),
    ("Content-Type: text/plain; format=flowed; delsp=yes\n\n", ">"),
    // Codes and links.
    ("\n", "code;1234;"),
    (
        "\n;1234;code",
        ";1234;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;code",
    ),
    ("code\n\n", "\nABCDEF"),
    ("\ncode ", "1234 . "),
    ("\ncode\n", "!\u{3001}1234"),
    ("\n", "1 "),
    ("\n", "A-"),
    ("\n", "123-"),
    ("\n", "order "),
    ("\n", "verify 12:34a@"),
    ("\n", "a."),
    ("\n", "a://"),
    ("\n", "aa.-+"),
    ("\n", "www."),
    ("\n", "*_https://x)"),
    ("\nhttps://x", "]"),
    ("\n", "*"),
    ("\nhttps://", "(_"),
    // HTML.
    ("Content-Type: text/html\n\n", "<"),
    ("Content-Type: text/html\n\n", "<a \""),
    ("Content-Type: text/html\n\n", "<a b="),
    ("Content-Type: text/html\n\n<a ", "= \""),
    ("Content-Type: text/html\n\n<a ", " \""),
    ("Content-Type: text/html\n\n", "<!--"),
    ("Content-Type: text/html\n\n", "<!-"),
    ("Content-Type: text/html\n\n", "<style>"),
    ("Content-Type: text/html\n\n<style>", "</"),
    ("Content-Type: text/html\n\n", "<style></style"),
    ("Content-Type: text/html\n\n", "<b>"),
    ("Content-Type: text/html\n\n", "<b>1</b><i></b>"),
    ("Content-Type: text/html\n\n", "<p style=display:none>"),
    ("Content-Type: text/html\n\n", "<a href=x><a href=y>"),
    ("Content-Type: text/html\n\n", "<a href=x>1"),
    ("Content-Type: text/html\n\n<a href=x>", "<img>"),
    ("Content-Type: text/html\n\n", "<td>"),
    ("Content-Type: text/html\n\n", "&#0"),
    ("Content-Type: text/html\n\n<p style='", "opacity:0."),
    ("Content-Type: text/html\n\n<p ", "style=a "),
    ("Content-Type: text/html\n\n<p ", "/"),
];

fn shape(start: &str, piece: &str) -> Vec<u8> {
    let flood = piece.repeat(LENGTH / piece.len());
    format!("To: a@example.test\n{start}{flood}").into_bytes()
}

#[test]
fn messages_made_to_be_slow_take_linear_time() {
    for (start, piece) in SHAPES {
        let raw = shape(start, piece);
        let parsed = parse(&raw);
        assert_eq!(parsed.digest, digest(&raw));
        assert!(parsed.attachments.len() <= 500 && parsed.links.len() <= 1_000);
        assert!(attachment(&raw, "1").is_some() != parsed.attachments.is_empty());
        assert_eq!(parsed.codes, codes(&raw));
    }
    for letters in ["\u{300}\u{345}a", "\u{300}\u{323}", "\u{1161}\u{11A8}", "\u{FDFA}"] {
        assert!(!fold(&letters.repeat(LENGTH)).is_empty());
    }
}
