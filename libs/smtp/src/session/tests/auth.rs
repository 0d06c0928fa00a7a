use super::*;

/// `\0ada\0secret`, `ada`, `secret`.
const PLAIN: &str = "AGFkYQBzZWNyZXQ=";
const ADA: &str = "YWRh";
const SECRET: &str = "c2VjcmV0";

#[test]
fn every_way_to_sign_in() {
    let plain = Login::Plain { username: "ada".to_owned(), password: "secret".to_owned() };
    for lines in [
        &[(&*format!("AUTH PLAIN {PLAIN}\r\n"), &["235 2.7.0"][..])][..],
        &[("auth plain\r\n", &["334"]), (&format!("{PLAIN}\r\n"), &["235 2.7.0"])],
        &[
            ("AUTH LOGIN\r\n", &["334"]),
            (&format!("{ADA}\r\n"), &["334"]),
            (&format!("{SECRET}\r\n"), &["235 2.7.0"]),
        ],
        &[(&format!("AUTH LOGIN {ADA}\r\n"), &["334"]), (&format!("{SECRET}\r\n"), &["235 2.7.0"])],
        &[(&format!("AUTH LOGIN {ADA}\r\n{SECRET}\r\n"), &["334", "235 2.7.0"])],
    ] {
        let mut talk = Talk::open(config());
        converse(&mut talk, lines);
        assert_eq!(talk.session.account().map(String::as_str), Some("ada"));
        assert_eq!(talk.logins, std::slice::from_ref(&plain));
    }
}

#[test]
fn login_prompts_in_the_words_that_clients_know() {
    let mut talk = Talk::open(config());
    talk.replies.clear();
    talk.say(format!("AUTH LOGIN\r\n{ADA}\r\n"));
    assert_eq!(talk.replies, "334 VXNlcm5hbWU6\r\n334 UGFzc3dvcmQ6\r\n");
}

#[test]
fn cram_md5_keys_the_challenge() {
    let mut talk = Talk::open(config());
    talk.replies.clear();
    assert_eq!(talk.say("AUTH CRAM-MD5\r\n"), ["334"]);
    let challenge = "<abababababababababababababababab@mx.test>";
    let sent = data_encoding::BASE64.encode(challenge.as_bytes());
    assert_eq!(talk.replies, format!("334 {sent}\r\n"));
    let response = format!("ada {}", "07".repeat(16));
    let response = data_encoding::BASE64.encode(response.as_bytes());
    assert_eq!(talk.say(format!("{response}\r\n")), ["235 2.7.0"]);
    let (username, challenge) = ("ada".to_owned(), challenge.to_owned());
    assert_eq!(talk.logins, [Login::CramMd5 { username, challenge, digest: [7; 16] }]);
}

#[test]
fn failures_leave_the_session_usable() {
    let mut talk = Talk::open(config());
    converse(
        &mut talk,
        &[
            ("AUTH PLAIN AGFkYQB3cm9uZw==\r\n", &["535 5.7.8"]),
            ("AUTH PLAIN\r\n*\r\n", &["334", "501 5.7.0"]),
            ("AUTH LOGIN\r\n*\r\n", &["334", "501 5.7.0"]),
            ("AUTH CRAM-MD5\r\n*\r\n", &["334", "501 5.7.0"]),
            ("AUTH CRAM-MD5 YWRh\r\n", &["501 5.5.4"]),
            ("AUTH PLAIN !!\r\n", &["501 5.5.2"]),
            ("AUTH PLAIN YWRh\r\n", &["501 5.5.2"]),
            ("AUTH PLAIN =\r\n", &["501 5.5.2"]),
            ("AUTH XOAUTH2 YWRh\r\n", &["504 5.5.4"]),
            ("AUTH\r\n", &["501 5.5.4"]),
            ("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["235 2.7.0"]),
            ("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["503 5.5.1"]),
        ],
    );
    let mut talk = Talk::open(config());
    assert_eq!(talk.say(b"AUTH LOGIN\r\n\xff\r\n"), ["334", "501 5.5.2"]);
}

#[test]
fn a_long_response_is_read() {
    let response = "A".repeat(12_288);
    for lines in [
        &[(&*format!("AUTH PLAIN {}\r\n", &response[12..]), &["535 5.7.8"][..])][..],
        &[("AUTH LOGIN\r\n", &["334"]), (&format!("{response}\r\n"), &["334"])],
        &[("AUTH LOGIN\r\n", &["334"]), (&format!("{response}AAAA\r\n"), &["500 5.5.2"])],
    ] {
        converse(&mut Talk::open(config()), lines);
    }
}

#[test]
fn rset_and_ehlo_keep_who_signed_in() {
    let mut talk = Talk::open(Config { require_auth: true, ..config() });
    converse(
        &mut talk,
        &[
            ("MAIL FROM:<a@b.test>\r\n", &["530 5.7.0"]),
            ("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["235 2.7.0"]),
            ("RSET\r\nMAIL FROM:<a@b.test>\r\n", &["250 2.0.0", "250 2.1.0"]),
            ("HELO again\r\nMAIL FROM:<a@b.test>\r\n", &["250", "250 2.1.0"]),
        ],
    );
}

#[test]
fn who_may_no_longer_send_signs_in_again() {
    let mut talk = Talk::open(config());
    assert_eq!(talk.say("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n"), ["235 2.7.0"]);
    assert_eq!(talk.say("MAIL FROM:<a@b.test>\r\nRSET\r\n"), ["250 2.1.0", "250 2.0.0"]);
    talk.rotated = true;
    assert_eq!(talk.say("MAIL FROM:<a@b.test>\r\n"), ["530 5.7.0"]);
    assert_eq!(talk.say("RCPT TO:<c@d.test>\r\n"), ["503 5.5.1"]);
    talk.rotated = false;
    assert_eq!(talk.say("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n"), ["235 2.7.0"]);
    assert_eq!(talk.say("MAIL FROM:<a@b.test>\r\n"), ["250 2.1.0"]);
}

#[test]
fn refusals_are_told() {
    let mut talk = Talk::open(config());
    talk.say("MAIL FROM:<> SIZE=65\r\nrcpt to:<\r\nAUTH X\r\nDATA\r\nWHAT\r\n");
    talk.say("AUTH PLAIN AGEAYg==\r\nMAIL FROM:<>\r\nRCPT TO:<no@d.test>\r\nRCPT TO:<c>\r\n");
    talk.say(format!("DATA\r\n{}\r\n.\r\n", "x".repeat(100)));
    assert_eq!(
        talk.session.take_refusals(),
        [
            (Stage::Mail, 552),
            (Stage::Rcpt, 501),
            (Stage::Auth, 504),
            (Stage::Data, 503),
            (Stage::Other, 500),
            (Stage::Data, 552)
        ],
        "but not what the mailroom refused"
    );
    assert!(talk.session.take_refusals().is_empty());
}

#[test]
fn may_be_kept_for_tls() {
    let config = Config { auth_requires_tls: true, ..config() };
    let mut talk = Talk::new(config, Tls::Offered);
    let lines: &[_] = &[("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n", &["538 5.7.11"][..])];
    talk.say("EHLO client.test\r\n");
    assert!(!talk.replies.contains("AUTH"), "not offered");
    converse(&mut talk, lines);
    talk.say("STARTTLS\r\n");
    talk.say("EHLO client.test\r\n");
    assert!(talk.replies.contains("AUTH PLAIN"));
    assert_eq!(talk.say("AUTH PLAIN AGFkYQBzZWNyZXQ=\r\n"), ["235 2.7.0"]);
}
