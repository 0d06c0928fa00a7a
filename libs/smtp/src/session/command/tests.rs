#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn sender(address: &str) -> Sender {
    Sender { address: address.to_owned(), ..Sender::default() }
}

#[test]
fn parses_commands() {
    let auth =
        |mechanism, initial: &str| SmtpCommand::Auth { mechanism, initial: initial.to_owned() };
    for (line, command) in [
        ("EHLO client.test\r\n", SmtpCommand::Ehlo("client.test".to_owned())),
        ("ehlo [127.0.0.1]\n", SmtpCommand::Ehlo("[127.0.0.1]".to_owned())),
        ("HELO x\r\n", SmtpCommand::Helo("x".to_owned())),
        ("DATA\r\n", SmtpCommand::Data),
        ("data \r\n", SmtpCommand::Data),
        ("BDAT 86 LAST\r\n", SmtpCommand::Bdat { size: 86, last: true }),
        ("BDAT 0\r\n", SmtpCommand::Bdat { size: 0, last: false }),
        ("bdat 99999999999999999999999 last\r\n", SmtpCommand::Bdat { size: u64::MAX, last: true }),
        ("AUTH PLAIN\r\n", auth(SaslMechanism::Plain, "")),
        ("auth plain AGEAYg==\r\n", auth(SaslMechanism::Plain, "AGEAYg==")),
        ("AUTH LOGIN YQ==\r\n", auth(SaslMechanism::Login, "YQ==")),
        ("AUTH CRAM-MD5\r\n", auth(SaslMechanism::CramMd5, "")),
        ("STARTTLS\r\n", SmtpCommand::StartTls),
        ("rset\r\n", SmtpCommand::Rset),
        ("NOOP hi there\r\n", SmtpCommand::Noop),
        ("HELP\r\n", SmtpCommand::Help),
        ("VRFY ada\r\n", SmtpCommand::Vrfy),
        ("QUIT\n", SmtpCommand::Quit),
        ("GET / HTTP/1.1\r\n", SmtpCommand::Http),
        ("RCPT TO:<a@b.test>\r\n", SmtpCommand::Rcpt("a@b.test".to_owned())),
        (
            "rcpt to: a@b.test NOTIFY=NEVER ORCPT=rfc822;a\n",
            SmtpCommand::Rcpt("a@b.test".to_owned()),
        ),
        ("RCPT\tTO : <ada>\r\n", SmtpCommand::Rcpt("ada".to_owned())),
    ] {
        assert_eq!(parse(line.as_bytes()), Ok(command), "{line:?}");
    }
}

#[test]
fn parses_mail_and_its_parameters() {
    let all = Sender { size: Some(12), eight_bit: true, smtputf8: true, ..sender("a@b.test") };
    for (line, expected) in [
        ("MAIL FROM:<>\r\n", sender("")),
        ("mail from: <a@b.test>\r\n", sender("a@b.test")),
        ("MAIL FROM:<a@b.test> size=12 BODY=8bitmime SMTPUTF8\r\n", all),
        ("MAIL FROM:<> AUTH=<> RET=HDRS ENVID=a+20b X-ODD=1 BODY=7BIT\r\n", sender("")),
        ("MAIL FROM:<> REQUIRETLS\r\n", Sender { require_tls: true, ..sender("") }),
        (
            "MAIL FROM:<> SIZE=99999999999999999999999999\r\n",
            Sender { size: Some(u64::MAX), ..sender("") },
        ),
    ] {
        assert_eq!(parse(line.as_bytes()), Ok(SmtpCommand::Mail(expected)), "{line:?}");
    }
}

#[test]
fn refuses_faulty_lines() {
    for (line, code) in [
        (&b"\r\n"[..], 500),
        (b"FOO\r\n", 500),
        (b"DATAXXXXXX\r\n", 500),
        (b"EXPN list\r\n", 502),
        (b"ETRN x\r\n", 502),
        (b"LHLO x\r\n", 502),
        (b"EHLO\r\n", 501),
        (b"HELO \r\n", 501),
        (b"BDAT\r\n", 501),
        (b"BDAT -1\r\n", 501),
        (b"BDAT 1 LAST x\r\n", 501),
        (b"BDAT 1 MORE\r\n", 501),
        (b"AUTH\r\n", 501),
        (b"AUTH XOAUTH2 eA==\r\n", 504),
        (b"AUTH NOSUCHMECHANISMATALLANYWHERE\r\n", 504),
        (b"MAIL\r\n", 501),
        (b"MAIL FROM <a@b.test>\r\n", 501),
        (b"MAIL FROM:\r\n", 501),
        (b"MAIL FROM:<a@b.test\r\n", 501),
        (b"MAIL FROM:<> SIZE=x\r\n", 501),
        (b"MAIL FROM:<> SIZE=\r\n", 501),
        (b"MAIL FROM:<> BODY=BINARYMIME\r\n", 555),
        (b"MAIL FROM:<> BODY=9BIT\r\n", 501),
        (b"MAIL FROM:<> BODY\r\n", 501),
        (b"MAIL FROM:Bob <a@b.test>\r\n", 501),
        (b"MAIL FROM:<a@b.test> <c@d.test>\r\n", 501),
        (b"RCPT TO:Bob <a@b.test>\r\n", 501),
        (b"RCPT TO:\"Bob\" <a@b.test> NOTIFY=NEVER\r\n", 501),
        (b"RCPT TO:<>\r\n", 501),
        (b"RCPT TO:\r\n", 501),
        (b"RCPT FROM:<a@b.test>\r\n", 501),
        (b"RCPT TO:<a\rb@c.test>\r\n", 501),
        (b"RCPT TO:<a@b.test>\r\r\n", 501),
        (b"RCPT TO:<\"a\0\"@b.test>\r\n", 501),
        (b"RCPT TO:<\xffa@b.test>\r\n", 501),
        (b"RS\rET\r\n", 501),
    ] {
        let reject = parse(line).unwrap_err();
        assert_eq!(reject.code, code, "{:?}", String::from_utf8_lossy(line));
    }
}
