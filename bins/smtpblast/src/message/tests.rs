#![expect(clippy::unwrap_used, reason = "tests")]

use clap::Parser;
use mail_parser::{MessageParser, MimeHeaders};

use super::*;

fn template(args: &[&str]) -> anyhow::Result<Template> {
    let fixed = ["smtpblast", "--seed", "1"];
    Template::new(&Args::try_parse_from(fixed.into_iter().chain(args.iter().copied())).unwrap())
}

#[test]
fn sizes_are_as_asked() {
    for size in [2048, 6144, 100_000] {
        for shape in ["multipart", "plain"] {
            let args = ["--size", &size.to_string(), "--shape", shape];
            for n in 0..50 {
                let length = template(&args).unwrap().build(n).content.len();
                assert!(length.abs_diff(size) < 100, "{shape} {size}: {length}");
            }
        }
    }
}

#[test]
fn a_multipart_has_text_html_and_an_attachment() {
    let mail = template(&["--subject", "Invoice {n}"]).unwrap().build(7);
    let message = MessageParser::default().parse(&mail.content).unwrap();
    assert_eq!(message.subject(), Some("Invoice 7"));
    assert_eq!(message.body_text(0).unwrap().len().div_ceil(100), 9);
    assert!(message.body_html(0).unwrap().contains("<p>"));
    let attachment = message.attachment(0).unwrap();
    assert_eq!(attachment.attachment_name(), Some("data.bin"));
    assert!(attachment.contents().len() > 1500);
    assert!(message.date().is_some() && message.message_id().is_some());
}

#[test]
fn every_line_is_short_and_needs_no_dot_stuffing() {
    for n in 0..200 {
        let content = template(&[]).unwrap().build(n).content;
        let text = String::from_utf8(content).unwrap();
        assert!(text.ends_with("\r\n"));
        for line in text.split_terminator("\r\n") {
            assert!(!line.starts_with('.') && !line.contains(['\r', '\n']), "{line:?}");
            assert!(line.len() <= 100, "{line:?}");
        }
    }
}

#[test]
fn messages_differ_and_can_be_made_again() {
    let template = template(&[]).unwrap();
    let (first, second) = (template.build(1), template.build(2));
    assert_eq!(first, template.build(1));
    let same = first.content.iter().zip(&second.content).filter(|(a, b)| a == b).count();
    assert!(same < first.content.len() / 3, "{same} bytes alike");
}

#[test]
fn numbers_fill_the_addresses() {
    let mail = template(&["--from", "a{n}@x", "--to", "b{n}-{n}@x"]).unwrap().build(12);
    assert_eq!((mail.from.as_str(), mail.to.as_str()), ("a12@x", "b12-12@x"));
}

#[test]
fn listed_recipients_take_turns() {
    let template = Template {
        recipients: Recipients::List(vec!["a@x".into(), "b@x".into()]),
        ..template(&[]).unwrap()
    };
    let to: Vec<_> = (0..3).map(|n| template.build(n).to).collect();
    assert_eq!(to, ["a@x", "b@x", "a@x"]);
}

#[test]
fn what_would_break_a_command_is_refused() {
    for args in [["--from", "a\r\nRSET"], ["--to", "\u{e9}@x"], ["--subject", "a\nBcc: b"]] {
        assert!(template(&args).is_err(), "{args:?}");
    }
}
