//! Many commands in one packet (RFC 2920), and many messages in one session.

use trapline_tests::{Mail, Smtp, shared};

use super::{only_raw, signed_in};

#[tokio::test]
async fn pipelined_commands_are_answered_in_order() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::connect(server.smtp()[0]).await;
    let packet = format!(
        "EHLO client.test\r\nMAIL FROM:<a@example.test>\r\nRCPT TO:<{0}>\r\nRCPT TO:<\r\n\
         RCPT TO:<{0}>\r\nDATA\r\n",
        inbox.address
    );
    smtp.write(packet.as_bytes()).await;
    for code in [250, 250, 250, 501, 250, 354] {
        smtp.expect(code).await;
    }
    smtp.write(b"Subject: piped\r\n\r\nx\r\n.\r\n").await;
    smtp.expect(250).await;
    assert_eq!(only_raw(&rest, &inbox).await, b"Subject: piped\r\n\r\nx\r\n");
}

#[tokio::test]
async fn a_whole_session_fits_one_packet() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = Smtp::dial(server.smtp()[0]).await;
    let mail = |n: u8| {
        format!(
            "MAIL FROM:<a@example.test>\r\nRCPT TO:<{}>\r\nDATA\r\nSubject: {n}\r\n\r\n..x\r\n.\r\n",
            inbox.address
        )
    };
    smtp.write(format!("EHLO c.test\r\n{}{}QUIT\r\n", mail(1), mail(2)).as_bytes()).await;
    for code in [220, 250, 250, 250, 354, 250, 250, 250, 354, 250, 221] {
        smtp.expect(code).await;
    }
    assert!(smtp.closed().await.is_empty());
    assert_eq!(rest.subjects(&inbox).await, (2, vec!["2".to_owned(), "1".to_owned()]));
}

#[tokio::test]
async fn a_session_carries_many_messages_with_resets_between() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let mut subjects = Vec::new();
    for n in 0..30 {
        smtp.ask("MAIL FROM:<dropped@example.test>", 250).await;
        smtp.ask("RCPT TO:<dropped@example.test>", 250).await;
        smtp.ask(["RSET", "EHLO again.test"][n % 2], 250).await;
        smtp.ask("DATA", 503).await;
        smtp.ask("NOOP", 250).await;
        if n % 10 == 9 {
            // A new session before so many faults count as too many.
            smtp = signed_in(&server, &inbox).await;
        }
        let subject = format!("number {n}");
        let mail = Mail::new(&subject, "x").bytes();
        let id = smtp.transact("a@example.test", &["b@example.test"], &mail).await.remove(0);
        assert_eq!(rest.message(&id).await["envelope"]["from"], "a@example.test");
        subjects.insert(0, subject);
    }
    assert_eq!(rest.subjects(&inbox).await, (30, subjects));
}

#[tokio::test]
async fn commands_out_of_order_and_unknown_ones_are_refused() {
    let server = shared();
    let mut smtp = Smtp::connect(server.smtp()[0]).await;
    for (command, code) in [
        ("MAIL FROM:<a@example.test>", 503),
        ("EHLO client.test", 250),
        ("RCPT TO:<a@example.test>", 503),
        ("DATA", 503),
        ("MAIL FROM:<a@example.test>", 250),
        ("MAIL FROM:<a@example.test>", 503),
        ("DATA", 554),
        ("HELP", 214),
        ("VRFY ada", 252),
        ("EXPN list", 502),
        ("FROBNICATE", 500),
        ("RCPT TO:<a\u{1}b@example.test>", 501),
        ("RCPT TO:<>", 501),
    ] {
        smtp.ask(command, code).await;
    }
    smtp.write(format!("NOOP {}\r\n", "x".repeat(5_000)).as_bytes()).await;
    smtp.expect(500).await;
    smtp.ask("NOOP", 250).await;
    smtp.quit().await;
}

#[tokio::test]
async fn too_many_faults_end_a_session() {
    let server = shared();
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    for _ in 0..19 {
        smtp.ask("FROBNICATE", 500).await;
    }
    smtp.ask("FROBNICATE", 500).await;
    assert_eq!(smtp.closed().await, [421]);
}

#[tokio::test]
async fn a_browser_is_turned_away() {
    let server = shared();
    let mut smtp = Smtp::connect(server.smtp()[0]).await;
    smtp.write(b"POST / HTTP/1.1\r\nHost: x\r\n\r\nMAIL FROM:<a@example.test>\r\n").await;
    assert_eq!(smtp.closed().await, [421]);
}
