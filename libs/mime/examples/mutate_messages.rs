//! Many mutated messages: none makes the parser panic, hang or grow, and what is listed can be
//! fetched. Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "../../../tests/fuzz/cases.rs"]
mod cases;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;

use std::{fmt::Write as _, process::ExitCode};

use mutation::{Mutator, Random};
use trapline_mime::{attachment, codes, digest, parse, preview};

/// What senders get wrong, and what a parser looks for.
#[rustfmt::skip]
const TOKENS: &[&[u8]] = &[
    b"--BB", b"\r\n--BB\r\n", b"--BB--", b"--", b"\r\n\r\n", b"\n\n", b"\r", b"\n", b"\r\r\n", b"\0",
    b"\xFF", b"\xEF\xBB\xBF", b"\xC3", b"\xF0\x9F", b"\xE2\x80\xAE", b"=?utf-8?b?", b"=?utf-8?q?=C3?=",
    b"=?iso-2022-jp?B?GyRC?=", b"?=", b"=?", b"=\r\n", b"=0", b"=3D", b"====", b"\x1B$B", b"\x1B(B",
    b"+AGE-", b"Subject: ", b"From: ", b"To: ", b"Date: ", b"Content-Type: ", b"\r\n ", b"\r\n\t",
    b"Content-Type: multipart/mixed; boundary=\"BB\"\r\n", b"Content-Type: message/rfc822\r\n\r\n",
    b"Content-Type: text/html; charset=utf-7\r\n", b"Content-Type: text/plain; charset=x-none\r\n",
    b"Content-Transfer-Encoding: base64\r\n", b"Content-Transfer-Encoding: quoted-printable\r\n",
    b"Content-Disposition: attachment; filename*0*=utf-8''%E2%82; filename*1*=%AC\r\n",
    b"Content-ID: <", b"boundary=", b"charset=", b"filename*=", b"name=\"", b"\"", b"\\\"", b"(", b")",
    b"<", b">", b",", b";", b":", b"@", b"begin 644 a\r\n", b"<a href=\"", b"<img src=cid:", b"<style>",
    b"<!--", b"-->", b"<![CDATA[", b"<script>", b"</", b"<svg>", b"<table><", b"&#x", b"&#0;", b"&amp",
    b"javascript:", b"http://", b"url(", b"code 123456", b"G-123 456", b"style=\"x:expression(",
];

fn main() -> ExitCode {
    let mut seeds = cases::seeds();
    seeds.extend([nested().into_bytes(), long_html().into_bytes()]);
    campaign::run("messages", &Mutator::new(seeds, TOKENS), check)
}

fn check(raw: &[u8], random: &mut Random) {
    let digest = digest(raw);
    assert!(!digest.warnings.iter().any(|warning| warning.code == "parse_error"));
    let parsed = parse(raw);
    assert_eq!(parsed.digest, digest);
    assert_eq!(parsed.codes, codes(raw));
    if !parsed.attachments.is_empty() {
        let listed = random.pick(&parsed.attachments);
        assert!(attachment(raw, &listed.id).is_some_and(|found| found.meta == *listed));
    }
    if let Some(html) = &parsed.html {
        let resolve = |id: &str| Some(format!("/parts/{id}"));
        let page = preview::html(html, &preview::Options { resolve_cid: &resolve });
        assert!(page.contains("charset=\"utf-8\""));
    }
    if let Some(text) = &parsed.text {
        assert!(preview::text(text).ends_with("</pre>"));
    }
}

/// Forty multiparts within each other, each with a file.
fn nested() -> String {
    let mut message = String::from("From: a@example.test\r\nMIME-Version: 1.0\r\n");
    for level in 0..40 {
        let _infallible = write!(
            message,
            "Content-Type: multipart/mixed; boundary=B{level}\r\n\r\n--B{level}\r\n\
             Content-Type: application/pdf; name=\"=?utf-8?q?f=C3=BC_{level}?=.pdf\"\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{}\r\n--B{level}\r\n",
            "JVBERi0xLjQK".repeat(6),
        );
    }
    message + "Content-Type: text/plain\r\n\r\nYour code is 482913\r\n"
}

/// An HTML newsletter of a few hundred links and images.
fn long_html() -> String {
    let mut message = String::from(
        "From: News <n@example.test>\r\nSubject: =?utf-8?B?TmV1ZXM=?= =?utf-8?Q?_heute?=\r\n\
         Content-Type: text/html; charset=iso-8859-1\r\n\r\n<html><style>p{color:red}</style>\r\n",
    );
    for row in 0..200 {
        let _infallible = write!(
            message,
            "<table><tr><td style=\"background:url(http://x.test/{row}.png)\"><a \
             href='https://example.test/?q={row}&amp;r=1'>Link &eacute; {row}</a><img \
             src=\"cid:i{row}@x\" onerror=alert(1)></td></tr></table>\r\n",
        );
    }
    message + "<p>Verification code: <b>719 204</b></p></html>\r\n"
}
