//! Inboxes that change while a session with them is open, and what the log says of it all.

use data_encoding::BASE64;
use serde_json::json;
use trapline_tests::{Deployment, Inbox, Mail, Smtp, eventually, shared};

use super::signed_in;

fn plain(inbox: &Inbox) -> String {
    let response = format!("\0{}\0{}", inbox.username, inbox.password);
    format!("AUTH PLAIN {}", BASE64.encode(response.as_bytes()))
}

#[tokio::test]
async fn a_mail_for_an_inbox_that_was_deleted_meanwhile_is_refused() {
    let server = shared();
    let rest = server.rest();
    for credentials in [true, false] {
        let inbox = rest.inbox().await;
        let mut smtp = if credentials {
            signed_in(&server, &inbox).await
        } else {
            Smtp::hello(server.smtp()[0]).await
        };
        smtp.begin("a@example.test", &[&inbox.address]).await;
        smtp.write(b"Subject: late\r\n\r\n").await;
        rest.delete(&inbox.path("")).await.expect(204);
        let mut other = Smtp::hello(server.smtp()[0]).await;
        eventually("the deletion", async || {
            (other.command(&plain(&inbox)).await.code != 235).then_some(())
        })
        .await;
        smtp.write(b"x\r\n.\r\n").await;
        smtp.expect(550).await;
        smtp.ask("NOOP", 250).await;
    }
}

#[tokio::test]
async fn an_open_session_signs_in_again_when_the_password_was_replaced() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    smtp.transact("a@example.test", &["b@example.test"], &Mail::new("1", "x").bytes()).await;
    let rotated = rest.post(&inbox.path("/credentials"), json!(null)).await;
    let rotated = Inbox::of(&rotated.expect(200).json());
    eventually("the new password", async || {
        let reply = smtp.command("MAIL FROM:<a@example.test>").await;
        if reply.code == 250 {
            smtp.ask("RSET", 250).await;
        }
        (reply.code == 530).then_some(())
    })
    .await;
    smtp.ask(&plain(&inbox), 535).await;
    smtp.ask(&plain(&rotated), 235).await;
    smtp.transact("a@example.test", &["b@example.test"], &Mail::new("2", "x").bytes()).await;
    assert_eq!(rest.subjects(&inbox).await.0, 2);
}

#[tokio::test]
async fn the_log_says_where_mail_went() {
    let server = Deployment::with(&["--log-format", "json"]);
    let inbox = server.rest().inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let raw = Mail::new("unmentionable", "x").bytes();
    let ids = smtp.transact("author@example.test", &["b@example.test"], &raw).await;
    smtp.ask("MAIL FROM:<author@example.test> SIZE=99999999999", 552).await;
    smtp.quit().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.ask("AUTH PLAIN AGEAYg==", 535).await;
    smtp.quit().await;
    let log = eventually("the log", async || {
        let log = server.log();
        log.contains("\"code\":535").then_some(log)
    })
    .await;
    for part in [&*ids[0], &inbox.id, "mail accepted", "127.0.0.1", "\"code\":552"] {
        assert!(log.contains(part), "{part} in {log}");
    }
    for part in ["unmentionable", "author@", "b@example"] {
        assert!(!log.contains(part), "{part} in {log}");
    }
}
