//! BDAT (RFC 3030).

use trapline_tests::{Deployment, Smtp, shared};

use super::{only_raw, signed_in};

#[tokio::test]
async fn chunks_are_binary_and_joined() {
    let server = shared();
    let rest = server.rest();
    let first = b"Subject: chunks\r\n\r\na\0b\xff\r\n.\r\n..x";
    let second = b"\n.\n\rend";
    for last_is_empty in [true, false] {
        let inbox = rest.inbox().await;
        let mut smtp = signed_in(&server, &inbox).await;
        smtp.ask("MAIL FROM:<a@example.test> BODY=8BITMIME", 250).await;
        smtp.ask("RCPT TO:<b@example.test>", 250).await;
        smtp.write(&[format!("BDAT {}\r\n", first.len()).as_bytes(), first].concat()).await;
        smtp.expect(250).await;
        let end = if last_is_empty { "" } else { " LAST" };
        smtp.write(&[format!("BDAT {}{end}\r\n", second.len()).as_bytes(), second].concat()).await;
        let mut reply = smtp.expect(250).await;
        if last_is_empty {
            reply = smtp.ask("BDAT 0 LAST", 250).await;
        }
        assert_eq!(reply.ids().len(), 1, "{reply}");
        assert_eq!(only_raw(&rest, &inbox).await, [&first[..], second].concat());
    }
}

#[tokio::test]
async fn binary_mime_is_refused_as_it_is_not_offered() {
    let mut smtp = Smtp::connect(shared().smtp()[0]).await;
    let hello = smtp.ask("EHLO client.test", 250).await;
    assert!(!hello.lines.iter().any(|line| line == "BINARYMIME"), "{hello}");
    smtp.ask("MAIL FROM:<a@example.test> BODY=BINARYMIME", 555).await;
    smtp.ask("MAIL FROM:<a@example.test> BODY=8BITMIME", 250).await;
}

#[tokio::test]
async fn pipelined_chunks_are_answered_in_order() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    smtp.write(
        b"MAIL FROM:<a@example.test>\r\nRCPT TO:<b@example.test>\r\nBDAT 9\r\nSubject: \
          BDAT 3\r\nx\r\nBDAT 2 LAST\r\n\r\nNOOP\r\n",
    )
    .await;
    for code in [250, 250, 250, 250, 250, 250] {
        smtp.expect(code).await;
    }
    assert_eq!(only_raw(&rest, &inbox).await, b"Subject: x\r\n\r\n");
}

#[tokio::test]
async fn chunks_and_data_do_not_mix() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    smtp.ask("MAIL FROM:<a@example.test>", 250).await;
    smtp.ask("RCPT TO:<b@example.test>", 250).await;
    smtp.write(b"BDAT 4\r\nSubj").await;
    smtp.expect(250).await;
    smtp.ask("DATA", 503).await;
    smtp.ask("RSET", 250).await;
    smtp.transact("a@example.test", &["b@example.test"], b"Subject: after\r\n\r\n").await;
    assert_eq!(only_raw(&rest, &inbox).await, b"Subject: after\r\n\r\n");
}

#[tokio::test]
async fn a_chunk_that_is_not_welcome_is_swallowed() {
    let server = Deployment::with(&["--smtp-message", "64KiB"]);
    let inbox = server.rest().inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    // No transaction: the octets are no commands.
    smtp.write(b"BDAT 6\r\nQUIT\r\nNOOP\r\n").await;
    smtp.expect(503).await;
    smtp.expect(250).await;
    // Too large.
    smtp.ask("MAIL FROM:<a@example.test>", 250).await;
    smtp.ask("RCPT TO:<b@example.test>", 250).await;
    let large = vec![b'a'; 70_000];
    smtp.write(&[b"BDAT 70000\r\n", &large[..], b"NOOP\r\n"].concat()).await;
    smtp.expect(552).await;
    smtp.expect(250).await;
    smtp.quit().await;
    assert_eq!(server.rest().subjects(&inbox).await.0, 0);
}
