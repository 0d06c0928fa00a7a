use super::*;

const ENVELOPE: &str = "MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\n";

/// A session that's ready for a body of at most 64 octets.
fn ready() -> Talk {
    let mut talk = Talk::open(config());
    assert_eq!(talk.say(ENVELOPE), ["250 2.1.0", "250 2.1.5"]);
    talk
}

#[test]
fn size_is_checked_at_mail() {
    let mut talk = Talk::open(config());
    assert_eq!(talk.say("MAIL FROM:<> SIZE=65\r\n"), ["552 5.3.4"]);
    assert_eq!(talk.say("MAIL FROM:<> SIZE=99999999999999999999999\r\n"), ["552 5.3.4"]);
    assert_eq!(talk.say("MAIL FROM:<> SIZE=64\r\n"), ["250 2.1.0"]);
}

#[test]
fn data_up_to_the_limit_is_kept() {
    for size in [0, 1, 7, 8, 9, 15, 16, 63, 64] {
        let body = format!("{}\r\n", "x".repeat(size));
        let body = &body[body.len() - size.max(2)..];
        let mut talk = ready();
        assert_eq!(talk.say(format!("DATA\r\n{body}.\r\n")), ["354", "250 2.0.0"], "{size}");
        assert_eq!(talk.bodies(), [body.as_bytes()]);
    }
}

#[test]
fn data_past_the_limit_is_refused_after_the_dot() {
    for size in [63, 64, 1000] {
        let mut talk = ready();
        assert_eq!(talk.say(format!("DATA\r\n{}\r\n", "x".repeat(size))), ["354"]);
        assert!(matches!(talk.session.transaction.as_ref().unwrap().body, Body::TooLarge));
        assert_eq!(talk.say(".\r\n"), ["552 5.3.4"]);
        talk.say(ENVELOPE);
        assert_eq!(talk.say("DATA\r\nok\r\n.\r\n"), ["354", "250 2.0.0"]);
        assert_eq!(talk.bodies(), [b"ok\r\n"]);
    }
}

#[test]
fn nothing_but_crlf_dot_crlf_ends_data() {
    let mut talk = ready();
    let body = "a\n.\nb\n.\r\nc\r.\rd\r\n.\ne";
    assert_eq!(talk.say(format!("DATA\r\n{body}\r\n.\r\n")), ["354", "250 2.0.0"]);
    assert_eq!(talk.bodies(), [b"a\n.\nb\n.\r\nc\r.\rd\r\n\ne\r\n"]);
}

#[test]
fn chunks_are_joined() {
    let mut talk = ready();
    assert_eq!(talk.say(b"BDAT 6\r\n\0\r\n.\r\n"), ["250 2.0.0"]);
    assert_eq!(talk.say("BDAT 0\r\n"), ["250 2.0.0"]);
    assert_eq!(talk.say(b"BDAT 20\r\n0123456789"), Vec::<String>::new());
    assert_eq!(talk.say("0123456789BDAT 2 LAST\r\n\r\n"), ["250 2.0.0", "250 2.0.0"]);
    assert_eq!(talk.bodies(), [b"\0\r\n.\r\n01234567890123456789\r\n"]);
}

#[test]
fn the_last_chunk_may_be_empty() {
    let mut talk = ready();
    assert_eq!(talk.say("BDAT 1\r\nxBDAT 0 LAST\r\n"), ["250 2.0.0", "250 2.0.0"]);
    talk.say(ENVELOPE);
    assert_eq!(talk.say("BDAT 0 LAST\r\n"), ["250 2.0.0"]);
    assert_eq!(talk.bodies(), [&b"x"[..], b""]);
}

#[test]
fn data_and_bdat_do_not_mix() {
    let mut talk = ready();
    converse(
        &mut talk,
        &[
            ("BDAT 1\r\nx", &["250 2.0.0"]),
            ("DATA\r\n", &["503 5.5.1"]),
            ("RCPT TO:<e@f.test>\r\n", &["503 5.5.1"]),
            ("MAIL FROM:<e@f.test>\r\n", &["503 5.5.1"]),
            ("BDAT 1 LAST\r\ny", &["250 2.0.0"]),
        ],
    );
    assert_eq!(talk.bodies(), [b"xy"]);
    talk.say(ENVELOPE);
    assert_eq!(talk.say("BDAT 1\r\nxRSET\r\n"), ["250 2.0.0", "250 2.0.0"]);
    assert_eq!(talk.say("DATA\r\n"), ["503 5.5.1"]);
}

#[test]
fn the_octets_of_an_unwelcome_chunk_are_dropped() {
    let mut talk = Talk::open(config());
    assert_eq!(talk.say("BDAT 6\r\nQUIT\r\nNOOP\r\n"), ["503 5.5.1", "250 2.0.0"]);
    talk.say("MAIL FROM:<a@b.test>\r\nRCPT TO:<no@d.test>\r\n");
    assert_eq!(talk.say("BDAT 6 LAST\r\nQUIT\r\nNOOP\r\n"), ["554 5.5.1", "250 2.0.0"]);
}

#[test]
fn chunks_past_the_limit_are_refused() {
    let mut talk = ready();
    let chunk = format!("BDAT 40\r\n{}", "x".repeat(40));
    assert_eq!(talk.say(&chunk), ["250 2.0.0"]);
    assert_eq!(talk.say(&chunk), ["552 5.3.4"]);
    for _ in 0..50 {
        assert_eq!(talk.say(&chunk), ["503 5.5.1"], "the client may have sent more already");
    }
    talk.say(ENVELOPE);
    assert_eq!(talk.say(format!("BDAT 65 LAST\r\n{}", "x".repeat(65))), ["552 5.3.4"]);
    talk.say(ENVELOPE);
    assert_eq!(talk.say(format!("BDAT 64 LAST\r\n{}", "x".repeat(64))), ["250 2.0.0"]);
    assert_eq!(talk.bodies(), ["x".repeat(64).as_bytes()]);
}

#[test]
fn the_mailroom_may_refuse_a_mail() {
    let mut talk = Talk::open(config());
    talk.say("MAIL FROM:<later@b.test>\r\nRCPT TO:<c@d.test>\r\n");
    assert_eq!(talk.say("DATA\r\nx\r\n.\r\n"), ["354", "451 4.3.0"]);
    assert!(!talk.session.is_established());
    assert_eq!(talk.say("MAIL FROM:<a@b.test>\r\n"), ["250 2.1.0"]);
}

#[test]
fn flags_reach_the_mailroom() {
    let mut talk = Talk::open(config());
    talk.say("MAIL FROM:<> BODY=8BITMIME SMTPUTF8 REQUIRETLS\r\nRCPT TO:<c>\r\nDATA\r\n.\r\n");
    talk.say("MAIL FROM:<>\r\nRCPT TO:<c>\r\nDATA\r\n.\r\n");
    let flags = |mail: &Mail<usize>| [mail.eight_bit, mail.smtputf8, mail.require_tls, mail.tls];
    let seen: Vec<_> = talk.mails.iter().map(flags).collect();
    assert_eq!(seen, [[true, true, true, false], [false; 4]]);
    assert!(talk.session.is_established());
}

#[test]
fn no_more_is_read_than_fits() {
    let mut talk = ready();
    assert!(!talk.session.is_receiving());
    talk.say("DATA\r\n");
    assert!(talk.session.is_receiving());
    assert_eq!(talk.session.read_size(), 1, "for which room is asked");
    talk.say("0");
    assert_eq!(talk.session.read_size(), 6, "of a room of 8 that holds 1");
    talk.say("1234567");
    assert_eq!(talk.session.read_size(), 7, "of a room of 16 that holds 8");
    talk.say("x".repeat(100));
    assert_eq!(talk.session.read_size(), BODY_READ_SIZE, "to be dropped");
    talk.say("\r\n.\r\n");
    assert!(!talk.session.is_receiving());
    assert_eq!(talk.session.read_size(), COMMAND_READ_SIZE);
}
