#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;

fn headers() -> ForwardHeaders {
    ForwardHeaders {
        from: "Trapline <no-reply@mail.example>".to_owned(),
        to: "ada@example.com".to_owned(),
        date: "Fri, 15 Jan 2027 08:00:00 +0000".to_owned(),
        message_id: "<id@mail.example>".to_owned(),
        boundary: "=_id".to_owned(),
        mark: "inbox; hops=1; by=abc".to_owned(),
    }
}

const ADDED: &str = "X-Trapline-Forwarded: inbox; hops=1; by=abc\r\n\
    Resent-Date: Fri, 15 Jan 2027 08:00:00 +0000\r\n\
    Resent-From: Trapline <no-reply@mail.example>\r\n\
    Resent-To: ada@example.com\r\n\
    Resent-Message-ID: <id@mail.example>\r\n";
const AUTO: &str = "Auto-Submitted: auto-forwarded\r\n";

fn sent(raw: &[u8]) -> (Vec<u8>, bool) {
    let rewritten = rewrite_for_forward(&Bytes::copy_from_slice(raw), &headers());
    (rewritten.content.concat(), rewritten.is_whole)
}

/// What the attachment of a wrapped message holds.
fn unwrapped(raw: &[u8]) -> Vec<u8> {
    let message = wrap_as_attachment(&Bytes::copy_from_slice(raw), &headers()).content.concat();
    assert!(message.is_ascii());
    assert!(message.split(|byte| *byte == b'\n').all(|line| line.len() <= MAX_LINE + 1));
    let text = String::from_utf8(message).unwrap();
    let (head, body) = text.rsplit_once("filename=\"message.eml\"\r\n").unwrap();
    let (more, body) = body.split_once("\r\n").unwrap();
    let body = body.strip_suffix("\r\n--=_id--\r\n").unwrap();
    if !more.contains("base64") {
        assert!(head.contains("Content-Type: message/rfc822"), "{head}");
        return body.as_bytes().to_vec();
    }
    let encoded = body.replace("\r\n", "");
    data_encoding::BASE64.decode(encoded.as_bytes()).unwrap()
}

#[test]
fn fields_are_added_in_front_and_some_are_taken_out() {
    let cases = [
        ("Subject: a\r\nTo: b\r\n\r\nbody\r\n", "Subject: a\r\nTo: b\r\n\r\nbody\r\n"),
        (
            "Bcc: eve@x.example\r\nSubject: a\r\n\r\nBcc: stays\r\n",
            "Subject: a\r\n\r\nBcc: stays\r\n",
        ),
        ("A: 1\r\nbcc : e,\r\n\tf,\r\n g\r\nB: 2\r\n\r\n", "A: 1\r\nB: 2\r\n\r\n"),
        ("Return-Path: <x>\r\nResent-Bcc: y\r\nA: 1\r\n\r\n", "A: 1\r\n\r\n"),
        ("Subject: no body\r\n", "Subject: no body\r\n"),
        ("\r\nonly a body\r\n", "\r\nonly a body\r\n"),
        ("Bccx: stays\r\n\r\n.\r\n..\r\n", "Bccx: stays\r\n\r\n.\r\n..\r\n"),
    ];
    for (raw, kept) in cases {
        let (message, is_whole) = sent(raw.as_bytes());
        assert!(is_whole, "{raw:?}");
        assert_eq!(String::from_utf8(message).unwrap(), format!("{ADDED}{AUTO}{kept}"), "{raw:?}");
    }
    let automatic = "Auto-Submitted: auto-generated\r\nA: 1\r\n\r\n";
    assert_eq!(sent(automatic.as_bytes()).0, format!("{ADDED}{automatic}").into_bytes());
}

#[test]
fn what_smtp_cannot_carry_is_attached_byte_for_byte() {
    let long = format!("A: 1\r\n\r\n{}\r\n", "x".repeat(999));
    let cases: [&[u8]; 8] = [
        b"A: 1\r\n\r\nnul\0\r\n",
        b"A: 1\r\n\r\nbare\nline feed\r\n",
        b"A: 1\r\n\r\nbare\rreturn\r\n",
        b"A: 1\r\n\r\nsmuggled\n.\r\nMAIL FROM:<eve@x.example>\r\n",
        b"A: 1\n\nunix\n",
        b" starts with a space\r\n\r\n",
        b"",
        long.as_bytes(),
    ];
    for raw in cases {
        assert!(!sent(raw).1, "{raw:?}");
        assert_eq!(unwrapped(raw), raw, "{raw:?}");
    }
    assert!(sent(format!("A: 1\r\n\r\n{}\r\n", "x".repeat(998)).as_bytes()).1);
}

#[test]
fn a_message_that_was_refused_is_attached() {
    for raw in ["Subject: a\r\n\r\nbody\r\n", "Subject: \u{e4}\r\n\r\nb\u{f6}dy\r\n"] {
        assert_eq!(unwrapped(raw.as_bytes()), raw.as_bytes());
    }
    let message =
        wrap_as_attachment(&Bytes::from_static("Subject: Grüße\r\n\r\n".as_bytes()), &headers());
    let read = trapline_mime::parse(&message.content.concat());
    assert_eq!(read.digest.subject, "Forwarded: Grüße");
    assert_eq!(read.attachments.len(), 1);
}

proptest! {
    #[test]
    fn nothing_is_lost_whatever_it_is(raw in proptest::collection::vec(
        prop_oneof![Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), Just(b'B'), any::<u8>()], 0..200
    )) {
        let (message, is_whole) = sent(&raw);
        if is_whole {
            let bytes = String::from_utf8_lossy(&raw).to_lowercase();
            if !bytes.contains("bcc") && !bytes.contains("return") && !bytes.contains("auto") {
                prop_assert_eq!(&message, &[ADDED.as_bytes(), AUTO.as_bytes(), &raw].concat());
            }
        }
        prop_assert_eq!(unwrapped(&raw), raw);
    }
}
