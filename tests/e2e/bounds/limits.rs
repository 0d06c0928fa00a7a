//! Whatever is beyond a limit is told so, and what is within it goes on.

use std::time::{Duration, Instant};

use data_encoding::BASE64;
use trapline_tests::{Deployment, Mail, Smtp, eventually};

#[tokio::test]
async fn connections_beyond_the_limit_are_told_so() {
    let server = Deployment::with(&["--smtp-connections", "5"]);
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(Smtp::hello(server.smtp()[0]).await);
    }
    for _ in 0..3 {
        assert_eq!(Smtp::dial(server.smtp()[0]).await.closed().await, [421]);
    }
    for smtp in &mut open {
        smtp.ask("NOOP", 250).await;
    }
    open.pop().unwrap().quit().await;
    // The place is free as soon as the server has seen the end of that session.
    let mut smtp = eventually("a free place", async || {
        let mut smtp = Smtp::dial(server.smtp()[0]).await;
        (smtp.reply().await.code == 220).then_some(smtp)
    })
    .await;
    smtp.ask("EHLO client.test", 250).await;
    let ids = smtp.transact("a@x.test", &["b@x.test"], &Mail::new("x", "x").bytes()).await;
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn recipients_beyond_the_limit_are_put_off() {
    let server = Deployment::with(&["--smtp-recipients", "3"]);
    let inbox = server.rest().inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    smtp.ask("MAIL FROM:<a@x.test>", 250).await;
    for code in [250, 250, 250, 452, 452] {
        smtp.ask("RCPT TO:<b@x.test>", code).await;
    }
    smtp.ask("DATA", 354).await;
    smtp.write(b"Subject: three\r\n\r\n.\r\n").await;
    let id = smtp.expect(250).await.ids().remove(0);
    let message = server.rest().message(&id).await;
    assert_eq!(message["envelope"]["to"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn waits_beyond_the_limit_are_put_off() {
    let server = Deployment::with(&["--max-streams", "2", "--max-streams-per-team", "2"]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let first = rest.events(&inbox.path("/events"), None).await;
    let _second = rest.events(&inbox.path("/events"), None).await;
    let refused = rest.get(&inbox.path("/messages/wait?timeout=1")).await.error(429);
    assert!(!refused.header("retry-after").is_empty());
    drop(first);
    eventually("a free place", async || {
        let answer = rest.get(&inbox.path("/messages/wait?timeout=1")).await;
        (answer.status == 408).then_some(())
    })
    .await;
}

#[tokio::test]
async fn guessed_passwords_are_slowed_and_the_right_one_is_not() {
    let server = Deployment::with(&["--smtp-auth-failures", "1"]);
    let inbox = server.rest().inbox().await;
    let wrong = BASE64.encode(format!("\0{}\0guessed", inbox.username).as_bytes());
    let began = Instant::now();
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    for _ in 0..4 {
        smtp.ask(&format!("AUTH PLAIN {wrong}"), 535).await;
    }
    // The second waits a quarter of a second, and each further one twice as long.
    assert!(began.elapsed() >= Duration::from_millis(250 + 500 + 1_000), "{:?}", began.elapsed());
    smtp.login(&inbox.username, &inbox.password).await;
}
