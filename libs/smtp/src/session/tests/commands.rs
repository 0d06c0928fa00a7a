use super::*;

#[test]
fn greets_and_lists_extensions() {
    let mut session: Session<(), ()> =
        Session::new(Arc::new(config()), Ipv4Addr::LOCALHOST.into(), Tls::Offered);
    let mut input = &b"EHLO client.test\r\n"[..];
    assert!(matches!(session.feed(&mut input), Step::NeedMore));
    let replies = String::from_utf8(session.take_replies()).unwrap();
    assert_eq!(
        replies,
        "220 mx.test ESMTP Trapline\r\n\
         250-mx.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n\
         250-DSN\r\n250-SIZE 64\r\n250-STARTTLS\r\n250-AUTH PLAIN LOGIN CRAM-MD5\r\n\
         250 ENHANCEDSTATUSCODES\r\n"
    );
}

#[test]
fn one_mail_a_step_at_a_time() {
    let mut talk = Talk::new(config(), Tls::Unavailable);
    converse(
        &mut talk,
        &[
            ("HELO client.test\r\n", &["250"]),
            ("MAIL FROM:<a@b.test>\r\n", &["250 2.1.0"]),
            ("RCPT TO:<c@d.test>\r\n", &["250 2.1.5"]),
            ("RCPT TO:<nobody@d.test>\r\n", &["550 5.1.1"]),
            ("DATA\r\n", &["354"]),
            ("Subject: x\r\n\r\n..dots\r\n", &[]),
            (".\r\n", &["250 2.0.0"]),
            ("QUIT\r\n", &["221 2.0.0"]),
        ],
    );
    assert!(talk.closed && talk.replies.contains("250 2.0.0 accepted m1\r\n"));
    let mail = &talk.mails[0];
    assert_eq!((mail.from.as_str(), mail.helo.as_str()), ("a@b.test", "client.test"));
    assert_eq!(mail.recipients, [("c@d.test".to_owned(), 8)]);
    assert_eq!(mail.body, "Subject: x\r\n\r\n.dots\r\n");
}

#[test]
fn order_is_enforced() {
    let mut talk = Talk::new(config(), Tls::Unavailable);
    converse(
        &mut talk,
        &[
            ("MAIL FROM:<a@b.test>\r\n", &["503 5.5.1"]),
            ("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["503 5.5.1"]),
            ("RCPT TO:<a@b.test>\r\n", &["503 5.5.1"]),
            ("DATA\r\n", &["503 5.5.1"]),
            ("HELO x\r\n", &["250"]),
            ("DATA\r\n", &["503 5.5.1"]),
            ("MAIL FROM:<a@b.test>\r\n", &["250 2.1.0"]),
            ("MAIL FROM:<a@b.test>\r\n", &["503 5.5.1"]),
            ("DATA\r\n", &["554 5.5.1"]),
            ("RCPT TO:<nobody@x.test>\r\nDATA\r\n", &["550 5.1.1", "554 5.5.1"]),
            ("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["503 5.5.1"]),
            ("RSET\r\nRCPT TO:<a@b.test>\r\n", &["250 2.0.0", "503 5.5.1"]),
            ("STARTTLS\r\n", &["502 5.5.1"]),
        ],
    );
}

#[test]
fn small_commands() {
    let mut talk = Talk::open(config());
    converse(
        &mut talk,
        &[
            ("NOOP\r\nnoop hi\n", &["250 2.0.0", "250 2.0.0"]),
            ("VRFY ada\r\n", &["252 2.5.0"]),
            ("EXPN list\r\n", &["502 5.5.1"]),
            ("HELP\r\nHELP MAIL\r\n", &["214 2.0.0", "214 2.0.0"]),
            ("ETRN x\r\n", &["502 5.5.1"]),
            ("WHAT\r\n", &["500 5.5.1"]),
            ("\r\n", &["500 5.5.1"]),
            ("GET / HTTP/1.1\r\n", &["421 4.7.0"]),
        ],
    );
    assert!(talk.closed);
}

#[test]
fn pipelined_commands_are_answered_in_order() {
    let mut talk = Talk::open(config());
    let codes = talk.say(
        "MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nRCPT TO:<no@d.test>\r\nDATA\r\n\
         one\r\n.\r\nMAIL FROM:<>\r\nRCPT TO:<c@d.test>\r\nDATA\r\ntwo\r\n.\r\nRSET\r\nQUIT\r\n",
    );
    let mail = ["250 2.1.0", "250 2.1.5", "550 5.1.1", "354", "250 2.0.0"];
    let next = ["250 2.1.0", "250 2.1.5", "354", "250 2.0.0", "250 2.0.0", "221 2.0.0"];
    assert_eq!(codes, [&mail[..], &next[..]].concat());
    assert_eq!(talk.bodies(), [b"one\r\n", b"two\r\n"]);
}

#[test]
fn ehlo_and_rset_end_the_transaction() {
    for command in ["RSET\r\n", "EHLO again\r\n", "HELO again\r\n"] {
        let mut talk = Talk::open(config());
        talk.say("MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\n");
        talk.say(command);
        assert_eq!(talk.say("DATA\r\n"), ["503 5.5.1"], "{command:?}");
        assert_eq!(talk.say("MAIL FROM:<>\r\n"), ["250 2.1.0"], "{command:?}");
    }
}

#[test]
fn recipients_are_bounded() {
    let mut config = config();
    config.limits.recipients = 150;
    config.limits.envelope = 150 * "100@d.test".len();
    let mut talk = Talk::open(config);
    talk.say("MAIL FROM:<>\r\n");
    for number in 0..150 {
        assert_eq!(talk.say(format!("RCPT TO:<{number}@d.test>\r\n")), ["250 2.1.5"]);
    }
    for _ in 0..30 {
        assert_eq!(talk.say("RCPT TO:<one@more.test>\r\n"), ["452 4.5.3"]);
    }
    assert_eq!(talk.say("DATA\r\n.\r\n"), ["354", "250 2.0.0"]);
    assert_eq!(talk.mails[0].recipients.len(), 150);
    talk.say("MAIL FROM:<>\r\n");
    let long = "v".repeat(900);
    assert_eq!(talk.say(format!("RCPT TO:<{long}@d.test>\r\n")), ["250 2.1.5"]);
    assert_eq!(talk.say(format!("RCPT TO:<{long}@d.test>\r\n")), ["452 4.5.3"]);
}

#[test]
fn mistakes_are_bounded() {
    let mut config = config();
    config.limits.errors = 3;
    let mut talk = Talk::open(config);
    assert_eq!(talk.say("A\r\nRCPT TO:<x>\r\n"), ["500 5.5.1", "503 5.5.1"]);
    assert_eq!(talk.say("C\r\nNOOP\r\n"), ["500 5.5.1", "421 4.7.0"]);
    assert!(talk.closed);
}

#[test]
fn long_lines_are_cut() {
    let mut config = config();
    config.limits.command_line = 64;
    config.limits.errors = 5;
    let mut talk = Talk::open(config);
    let fits = format!("NOOP {}\r\n", "x".repeat(58));
    assert_eq!(talk.say(fits), ["250 2.0.0"]);
    assert_eq!(talk.say("x".repeat(100)), ["500 5.5.2"]);
    assert_eq!(talk.say("\r\nNOOP\r\n"), ["250 2.0.0"]);
    assert_eq!(talk.say("x".repeat(10_000)), ["500 5.5.2", "421 4.7.0"]);
    assert!(talk.closed);
}

#[test]
fn a_rejection_with_421_closes() {
    let mut talk = Talk::open(config());
    talk.session.answer(Answer::Accepted(String::new(), Err(Reject::fixed(421, (4, 3, 0), "off"))));
    assert_eq!(talk.say("NOOP\r\n"), ["421 4.3.0"]);
    assert!(talk.closed);
}

#[test]
fn starttls_starts_over() {
    let mut talk = Talk::new(config(), Tls::Offered);
    talk.say("EHLO client.test\r\nAUTH PLAIN AGFkYQBzZWNyZXQ=\r\n");
    assert!(talk.session.account().is_some());
    talk.say("MAIL FROM:<clear@x.test>\r\n");
    let codes = talk.say("STARTTLS\r\nMAIL FROM:<injected@x.test>\r\n");
    assert_eq!(codes, ["220 2.0.0"], "what follows in the clear is dropped");
    assert!(talk.session.account().is_none());
    assert_eq!(talk.say("RCPT TO:<c@d.test>\r\n"), ["503 5.5.1"]);
    assert_eq!(talk.say("MAIL FROM:<a@b.test>\r\n"), ["503 5.5.1"]);
    talk.replies.clear();
    talk.say("EHLO client.test\r\n");
    assert!(!talk.replies.contains("STARTTLS") && talk.replies.contains("AUTH"));
    assert_eq!(talk.say("STARTTLS\r\n"), ["503 5.5.1"]);
    talk.say("MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\n.\r\n");
    assert!(talk.mails[0].tls);
}
