//! AUTH (RFC 4954): credentials choose the inbox.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use trapline_tests::{Inbox, Mail, Smtp, shared};

fn base64(text: &str) -> String {
    BASE64.encode(text.as_bytes())
}

fn plain(inbox: &Inbox) -> String {
    base64(&format!("\0{}\0{}", inbox.username, inbox.password))
}

/// The answer to a CRAM-MD5 challenge (RFC 2195).
fn keyed(challenge: &str, username: &str, password: &str) -> String {
    let challenge = BASE64.decode(challenge.as_bytes()).unwrap();
    let mut mac = Hmac::<Md5>::new_from_slice(password.as_bytes()).unwrap();
    mac.update(&challenge);
    let digest = data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes());
    base64(&format!("{username} {digest}"))
}

/// Says lines, each of which gets 334 but the last.
async fn exchange(smtp: &mut Smtp, lines: &[String], last: u16) {
    let (end, start) = lines.split_last().unwrap();
    for line in start {
        smtp.ask(line, 334).await;
    }
    smtp.ask(end, last).await;
}

#[tokio::test]
async fn every_mechanism_signs_in_with_and_without_initial_response() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let (user, password) = (base64(&inbox.username), base64(&inbox.password));
    let upper = base64(&format!("\0{}\0{}", inbox.username.to_uppercase(), inbox.password));
    let whole = base64(&format!("\0{}\0{}", inbox.address, inbox.password));
    let exchanges = [
        vec![format!("AUTH PLAIN {whole}")],
        vec![format!("AUTH PLAIN {}", plain(&inbox))],
        vec![format!("auth plain {}", plain(&inbox).trim_end_matches('='))],
        vec![format!("AUTH PLAIN {upper}")],
        vec!["AUTH PLAIN".to_owned(), plain(&inbox)],
        vec!["AUTH LOGIN".to_owned(), user.clone(), password.clone()],
        vec![format!("AUTH LOGIN {user}"), password.clone()],
    ];
    for lines in &exchanges {
        let mut smtp = Smtp::hello(server.smtp()[0]).await;
        exchange(&mut smtp, lines, 235).await;
        // Any recipient is fine, and the mail is in the inbox whose credentials these are.
        let mail = Mail::new(&lines[0], "x").bytes();
        let ids = smtp.transact("a@example.test", &["x@elsewhere.test"], &mail).await;
        assert_eq!(rest.message(&ids[0]).await["inboxId"], inbox.id, "{lines:?}");
        smtp.ask("AUTH LOGIN", 503).await;
    }
}

#[tokio::test]
async fn cram_md5_signs_in_with_a_new_challenge_each_time() {
    let server = shared();
    let inbox = server.rest().inbox().await;
    let mut challenges = Vec::new();
    for _ in 0..2 {
        let mut smtp = Smtp::hello(server.smtp()[0]).await;
        let challenge = smtp.ask("AUTH CRAM-MD5", 334).await.lines.remove(0);
        smtp.ask(&keyed(&challenge, &inbox.username, "wrong"), 535).await;
        let challenge = smtp.ask("AUTH CRAM-MD5", 334).await.lines.remove(0);
        smtp.ask(&keyed(&challenge, &inbox.username, &inbox.password), 235).await;
        challenges.push(challenge);
    }
    assert_ne!(challenges[0], challenges[1]);
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_can_be_put_right() {
    let server = shared();
    let inbox = server.rest().inbox().await;
    let other = server.rest().inbox().await;
    let star = || "*".to_owned();
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    for (lines, code) in [
        (vec!["AUTH PLAIN".to_owned(), star()], 501),
        (vec!["AUTH LOGIN".to_owned(), star()], 501),
        (vec!["AUTH LOGIN".to_owned(), base64("ada"), star()], 501),
        (vec!["AUTH CRAM-MD5".to_owned(), star()], 501),
        (vec!["AUTH PLAIN §§§".to_owned()], 501),
        (vec!["AUTH PLAIN".to_owned(), base64("no separators")], 501),
        (vec!["AUTH XOAUTH9".to_owned()], 504),
        (vec![format!("AUTH PLAIN {}", base64("\0nobody\0nothing"))], 535),
        (vec![format!("AUTH PLAIN {}", base64(&format!("\0{}\0", inbox.username)))], 535),
        (
            vec![format!(
                "AUTH PLAIN {}",
                base64(&format!("\0{}\0{}", inbox.username, other.password))
            )],
            535,
        ),
    ] {
        exchange(&mut smtp, &lines, code).await;
    }
    smtp.ask(&format!("AUTH PLAIN {}", plain(&inbox)), 235).await;
    smtp.quit().await;
}
