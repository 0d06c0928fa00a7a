//! What clients do on the wire.

use crate::recorder::{Running, config};

#[tokio::test]
async fn extensions_are_listed() {
    let running = Running::new(config());
    let mut client = running.connect().await;
    assert_eq!(
        client.ask("EHLO client.test\r\n").await,
        "250-mx.test\n250-PIPELINING\n250-8BITMIME\n250-SMTPUTF8\n250-CHUNKING\n250-DSN\n\
         250-SIZE 26214400\n250-AUTH PLAIN LOGIN CRAM-MD5\n250 ENHANCEDSTATUSCODES"
    );
}

#[tokio::test]
async fn many_mails_on_one_connection() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    for number in 1..=50 {
        client.envelope().await;
        client.converse(&[("RSET", "250 2.0.0")]).await;
        client.envelope().await;
        client.converse(&[("DATA", "354 ")]).await;
        let reply = client.ask(format!("Subject: {number}\r\n\r\n.\r\n")).await;
        assert_eq!(reply, format!("250 2.0.0 accepted m{number}"));
    }
    client.converse(&[("QUIT", "221 2.0.0")]).await;
    assert_eq!(client.rest().await, "");
    assert_eq!(running.recorder.bodies().len(), 50);
}

#[tokio::test]
async fn a_packet_of_commands_is_answered_in_order() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    client
        .send("MAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nRCPT TO:<no@d.test>\r\nDATA\r\n")
        .await;
    for expected in ["250 2.1.0 ", "250 2.1.5 ", "550 5.1.1 ", "354 "] {
        assert!(client.reply().await.starts_with(expected));
    }
    client.send("x\r\n.\r\nMAIL FROM:<>\r\nQUIT\r\n").await;
    let rest = client.rest().await;
    let codes: Vec<_> = rest.lines().map(|line| &line[..9]).collect();
    assert_eq!(codes, ["250 2.0.0", "250 2.1.0", "221 2.0.0"]);
}

#[tokio::test]
async fn only_crlf_dot_crlf_ends_data() {
    let running = Running::new(config());
    for (sent, kept) in [
        ("a\n.\nb\r\n", "a\n.\nb\r\n"),
        ("a\n.\r\nb\r\n", "a\n.\r\nb\r\n"),
        ("a\r.\rb\r\n", "a\r.\rb\r\n"),
        ("a\r\n.\nb\r\n", "a\r\n\nb\r\n"),
        ("a\rb\nc\r\n", "a\rb\nc\r\n"),
        ("..\r\n...a\r\n", ".\r\n..a\r\n"),
        ("", ""),
    ] {
        let mut client = running.data().await;
        for octet in sent.bytes() {
            client.send([octet]).await;
        }
        assert!(client.ask(".\r\n").await.starts_with("250 2.0.0"), "{sent:?}");
        assert_eq!(running.recorder.bodies().last().unwrap(), kept.as_bytes(), "{sent:?}");
    }
}

#[tokio::test]
async fn a_smuggled_mail_stays_text() {
    let running = Running::new(config());
    let mut client = running.data().await;
    let inner = "a\n.\r\nMAIL FROM:<evil@x.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\nb\r\n.\r\n";
    assert_eq!(client.ask(inner).await, "250 2.0.0 accepted m1");
    client.converse(&[("NOOP", "250 2.0.0")]).await;
    assert_eq!(running.recorder.bodies().len(), 1);
}

#[tokio::test]
async fn chunks_carry_anything() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    client.envelope().await;
    client.converse(&[("BDAT 11\r\n\0\r\n.\r\n\u{7f}ab", "250 2.0.0")]).await;
    client.converse(&[("BDAT 0 LAST", "250 2.0.0 accepted")]).await;
    client.envelope().await;
    client.converse(&[("BDAT 3\r\nx", "250"), ("DATA", "503 5.5.1"), ("RSET", "250")]).await;
    let binary: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    client.envelope().await;
    for chunk in binary.chunks(300_000) {
        client.send(format!("BDAT {}\r\n", chunk.len())).await;
        assert!(client.ask(chunk).await.starts_with("250 2.0.0 "));
    }
    client.converse(&[("BDAT 0 LAST", "250 2.0.0 accepted")]).await;
    let bodies = running.recorder.bodies();
    assert_eq!(bodies[0], b"\0\r\n.\r\n\x7fab\r\n");
    assert!(bodies[1] == binary);
}

#[tokio::test]
async fn a_chunk_comes_with_its_envelope() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    let packet = "MAIL FROM:<>\r\nRCPT TO:<c@d.test>\r\nBDAT 5 LAST\r\nhelloQUIT\r\n";
    client.send(packet).await;
    let codes: String = client.rest().await.lines().map(|line| &line[..4]).collect();
    assert_eq!(codes, "250 250 250 221 ");
    assert_eq!(running.recorder.bodies(), [b"hello"]);
}

#[tokio::test]
async fn large_mails_and_long_lines_come_through() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    for size in [70_000, 26_214_398] {
        client.envelope().await;
        client.converse(&[("DATA", "354 ")]).await;
        client.send(vec![b'x'; size]).await;
        assert!(client.ask("\r\n.\r\n").await.starts_with("250 2.0.0"));
        assert_eq!(running.recorder.bodies().pop().unwrap().len(), size + 2);
    }
    assert_eq!(running.server.memory_reserved(), 0);
}

#[tokio::test]
async fn a_mail_past_the_limit_leaves_the_connection_usable() {
    let mut config = config();
    config.limits.message_size = 100_000;
    let running = Running::new(config);
    let mut client = running.hello().await;
    client.converse(&[("MAIL FROM:<a@b.test> SIZE=100001", "552 5.3.4")]).await;
    client.envelope().await;
    client.converse(&[("DATA", "354 ")]).await;
    client.send(vec![b'x'; 1 << 20]).await;
    assert!(client.ask("\r\n.\r\n").await.starts_with("552 5.3.4"));
    client.envelope().await;
    client.send("BDAT 100001 LAST\r\n").await;
    assert!(client.ask(vec![b'x'; 100_001]).await.starts_with("552 5.3.4"));
    client.envelope().await;
    client.converse(&[("DATA", "354 "), ("ok\r\n.", "250 2.0.0")]).await;
    assert_eq!(running.recorder.bodies(), [b"ok\r\n"]);
}

#[tokio::test]
async fn signing_in() {
    let running = Running::new(config());
    for lines in [
        &[("AUTH PLAIN AGFkYQBzZWNyZXQ=", "235 2.7.0")][..],
        &[("AUTH PLAIN", "334"), ("AGFkYQBzZWNyZXQ=", "235 2.7.0")],
        &[("AUTH LOGIN", "334 VXN"), ("YWRh", "334 UGF"), ("c2VjcmV0", "235 2.7.0")],
        &[("AUTH LOGIN YWRh", "334 UGF"), ("c2VjcmV0", "235 2.7.0")],
    ] {
        let mut client = running.hello().await;
        client.converse(&[("AUTH PLAIN AGFkYQB4", "535 5.7.8")]).await;
        client.converse(&[("AUTH CRAM-MD5", "334 "), ("*", "501 5.7.0")]).await;
        client.converse(lines).await;
        client.converse(&[("AUTH LOGIN", "503 5.5.1"), ("RSET", "250")]).await;
        client.envelope().await;
        client.converse(&[("DATA", "354"), (".", "250")]).await;
        let mails = running.recorder.mails.lock().unwrap();
        assert_eq!(mails.last().unwrap().recipients, [("c@d.test".into(), "ada".into())]);
    }
}

#[tokio::test]
async fn challenges_differ() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    let first = client.ask("AUTH CRAM-MD5\r\n").await;
    client.converse(&[("*", "501")]).await;
    assert_ne!(client.ask("AUTH CRAM-MD5\r\n").await, first);
}

#[tokio::test]
async fn odd_envelopes_are_taken() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    let verp = format!("{}@d.test", "v".repeat(900));
    for (line, from) in [
        ("MAIL FROM:<>", ""),
        ("MAIL FROM: <a@b.test>", "a@b.test"),
        ("MAIL FROM:a@b.test", "a@b.test"),
        ("MAIL FROM:<> AUTH=<> RET=HDRS ENVID=x X-UNKNOWN=1", ""),
        (&format!("MAIL FROM:<{verp}>"), &verp),
        ("MAIL FROM:<\"a b\"@c.test>", "\"a b\"@c.test"),
        ("MAIL FROM:<a@[127.0.0.1]>", "a@[127.0.0.1]"),
        ("MAIL FROM:<@a.test,@b.test:c@d.test>", "c@d.test"),
        ("MAIL FROM:<ä@ö.test> SMTPUTF8", "ä@ö.test"),
    ] {
        client.converse(&[(line, "250 2.1.0"), ("RCPT TO:<c@d.test> NOTIFY=NEVER", "250")]).await;
        client.converse(&[("DATA", "354"), (".", "250")]).await;
        assert_eq!(running.recorder.mails.lock().unwrap().last().unwrap().from, from);
    }
}

#[tokio::test]
async fn a_mail_to_150_recipients() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    let recipients = "RCPT TO:<user@d.test>\r\n".repeat(150);
    client.send(format!("MAIL FROM:<>\r\n{recipients}DATA\r\n")).await;
    for _ in 0..151 {
        assert!(client.reply().await.starts_with("250 "));
    }
    client.converse(&[("", "354"), ("\r\n.", "250")]).await;
    assert_eq!(running.recorder.mails.lock().unwrap()[0].recipients.len(), 150);
}

#[tokio::test]
async fn a_header_cannot_be_injected() {
    let running = Running::new(config());
    let mut client = running.hello().await;
    client.converse(&[("MAIL FROM:<>", "250")]).await;
    client.converse(&[("RCPT TO:<\"a\rBcc: x\"@d.test>", "501")]).await;
    client.converse(&[("RCPT TO:<a\0@d.test>", "501")]).await;
}

#[tokio::test]
async fn a_dropped_mail_is_not_delivered() {
    let running = Running::new(config());
    let mut client = running.data().await;
    client.send("half a mail\r\n").await;
    drop(client);
    let mut client = running.data().await;
    client.converse(&[("whole\r\n.", "250")]).await;
    running.shutdown.cancel();
    running.serving.await.unwrap();
    assert_eq!(running.recorder.bodies(), [b"whole\r\n"]);
}
