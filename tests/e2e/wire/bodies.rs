//! What may be in a message, and how large it may be.

use trapline_tests::{Deployment, Mail, dot_stuff, shared};

use super::{only_raw, signed_in};

#[tokio::test]
async fn bytes_are_stored_as_they_were_sent() {
    let server = shared();
    let rest = server.rest();
    let every_byte: Vec<u8> = (0..=255).collect();
    for (what, raw) in [
        (
            "a line of 70,000 bytes",
            [b"Subject: x\r\n\r\n", &vec![b'a'; 70_000][..], b"\r\n"].concat(),
        ),
        ("dots", b"Subject: x\r\n\r\n.\r\n..\r\n. x\r\n...\r\n".to_vec()),
        ("a dot first", b".Subject: x\r\n\r\nx\r\n".to_vec()),
        ("nothing", Vec::new()),
        ("an empty line", b"\r\n".to_vec()),
        ("every byte", [b"Subject: x\r\n\r\n", &every_byte[..], b"\r\n"].concat()),
        ("line ends of all kinds", b"Subject: x\r\n\r\na\nb\rc\r\r\nd\n\n\r\n".to_vec()),
    ] {
        let inbox = rest.inbox().await;
        let mut smtp = signed_in(&server, &inbox).await;
        smtp.begin("a@example.test", &["b@example.test"]).await;
        let wire = if raw.is_empty() { b".\r\n".to_vec() } else { dot_stuff(&raw) };
        smtp.write(&wire).await;
        let reply = smtp.reply().await;
        assert_eq!(reply.code, 250, "{what}: {reply}");
        assert!(only_raw(&rest, &inbox).await == raw, "{what}");
    }
}

#[tokio::test]
async fn a_large_message_comes_back_whole() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let text = "0123456789abcdef0123456789abcdef0123456789abcdef\n".repeat(200_000);
    let raw = Mail::new("large", &text).bytes();
    smtp.transact("a@example.test", &["b@example.test"], &raw).await;
    assert!(only_raw(&rest, &inbox).await == raw, "{} bytes differ", raw.len());
}

#[tokio::test]
async fn the_size_limit_holds_and_the_session_goes_on() {
    const LIMIT: usize = 65_536;
    let server = Deployment::with(&["--smtp-message", "64KiB"]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let hello = smtp.ask("EHLO client.test", 250).await;
    assert!(hello.lines.contains(&format!("SIZE {LIMIT}")), "{hello}");
    smtp.ask(&format!("MAIL FROM:<a@example.test> SIZE={}", LIMIT + 1), 552).await;
    smtp.ask("MAIL FROM:<a@example.test> SIZE=99999999999999999999999", 552).await;

    let exact = |size: usize| [&vec![b'a'; size - 2][..], b"\r\n"].concat();
    for (size, code) in [(LIMIT + 1, 552), (4 * LIMIT, 552), (LIMIT, 250)] {
        smtp.begin("a@example.test", &["b@example.test"]).await;
        smtp.write(&dot_stuff(&exact(size))).await;
        let reply = smtp.reply().await;
        assert_eq!(reply.code, code, "{size} bytes: {reply}");
        smtp.ask("NOOP", 250).await;
    }
    assert_eq!(only_raw(&rest, &inbox).await.len(), LIMIT);
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_message_stores_nothing() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    for start in ["", "Subject: x\r\n", "Subject: x\r\n\r\nbody\r\n", "Subject: x\r\n\r\n\r\n."] {
        let mut smtp = signed_in(&server, &inbox).await;
        smtp.begin("a@example.test", &["b@example.test"]).await;
        smtp.write(start.as_bytes()).await;
        drop(smtp);
    }
    let mut smtp = signed_in(&server, &inbox).await;
    smtp.transact("a@example.test", &["b@example.test"], b"Subject: whole\r\n\r\n").await;
    assert_eq!(rest.subjects(&inbox).await, (1, vec!["whole".to_owned()]));
}

#[tokio::test]
async fn the_reply_names_the_message_that_can_be_read_at_once() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    for n in 0..20 {
        let mail = Mail::new(&format!("n {n}"), "x").bytes();
        let ids = smtp.transact("a@example.test", &["b@example.test"], &mail).await;
        assert_eq!(ids.len(), 1);
        let message = rest.message(&ids[0]).await;
        assert_eq!(message["subject"], format!("n {n}"));
        assert_eq!(message["inboxId"], inbox.id);
    }
}
