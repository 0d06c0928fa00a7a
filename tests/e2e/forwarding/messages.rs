//! What is forwarded, and how it arrives.

use serde_json::{Value, json};
use trapline_tests::{Mail, Relayed, Smtp, deliver, shared};

use super::Team;

/// What is put in front of a message.
const ADDED: [&str; 6] = [
    "X-Trapline-Forwarded",
    "Resent-Date",
    "Resent-From",
    "Resent-To",
    "Resent-Message-ID",
    "Auto-Submitted",
];

/// What comes behind the fields that were put in front, whose names are checked.
fn behind_added(mail: &Relayed) -> Vec<u8> {
    let text = String::from_utf8_lossy(&mail.bytes);
    let added: Vec<_> = text.split_inclusive("\r\n").take(ADDED.len()).collect();
    let names: Vec<_> = added.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(names, ADDED);
    mail.bytes[added.concat().len()..].to_vec()
}

#[tokio::test]
async fn mail_that_matches_is_forwarded_as_it_arrives() {
    let server = shared();
    let team = Team::on(&server);
    let email = "ada@matching.example";
    team.agreed(&[email]).await;
    let inbox = team.inbox(&[email], json!({ "from": "BILLING@", "subject": "invoice" })).await;
    let mail = |subject: &str, from: &str| Mail::new(subject, "x").from(from);
    let others = [mail("Invoice 1", "shop@a.test"), mail("Hello", "billing@a.test")];
    let mut left_out = Vec::new();
    for other in others {
        left_out.push(deliver(&server, &inbox, &other).await);
    }
    let mail = mail("Your INVOICE 2", "Billing <billing@a.test>");
    let wanted = deliver(&server, &inbox, &mail).await;
    let forward = team.when(&wanted, email, "sent").await;
    assert_eq!((&forward["messageId"], &forward["error"]), (&json!(wanted), &Value::Null));
    for message in left_out {
        assert_eq!(team.forwards(&message).await, Vec::<Value>::new());
    }
    let mails = team.forwarded(email);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].from.starts_with("bounce+"), "{}", mails[0].from);
    assert!(behind_added(&mails[0]) == mail.bytes());
}

#[tokio::test]
async fn a_message_is_forwarded_to_at_most_ten_by_hand() {
    let server = shared();
    let team = Team::on(&server);
    let emails: Vec<_> = (0..11).map(|n| format!("n{n}@ten.example")).collect();
    let emails: Vec<_> = emails.iter().map(String::as_str).collect();
    team.agreed(&emails).await;
    let inbox = team.rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("by hand", "x")).await;
    let path = format!("/api/messages/{message}/forward");
    for to in [&emails[..], &[]] {
        team.rest.post(&path, json!({ "to": to })).await.error(400);
    }
    let forwards = team.forward(&message, &emails[..10]).await;
    assert_eq!(forwards.len(), 10);
    for email in &emails[..10] {
        team.when(&message, email, "sent").await;
        assert_eq!(team.forwarded(email).len(), 1, "{email}");
    }
    assert_eq!(team.forwards(&message).await.len(), 10);
    assert!(team.forwarded(emails[10]).is_empty());
}

#[tokio::test]
async fn a_message_arrives_byte_for_byte_but_for_hidden_recipients() {
    let server = shared();
    let team = Team::on(&server);
    let email = "ada@bytes.example";
    team.agreed(&[email]).await;
    let inbox = team.rest.inbox().await;
    let hidden = "Bcc: eve@example.com,\r\n mallory@example.com\r\nReturn-Path: <x@y.example>\r\n";
    let head = "Subject: folded\r\n\tover lines\r\nX-Odd :  kept \r\nFrom: a@b.example\r\n\
                Subject: twice\r\nTo: eve@example.com\r\n";
    let bodies = [
        ".\r\n..\r\n.dot at the start\r\nend.\r\n".to_owned(),
        "\r\n\r\nempty lines\r\n\r\n\r\n".to_owned(),
        "Gr\u{fc}\u{df}e, 8 bits \u{1f600}\r\n".to_owned(),
        format!("{}\r\n", "y".repeat(998)),
        "0123456789 0123456789 0123456789\r\n".repeat(20_000),
    ];
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    for (place, body) in bodies.iter().enumerate() {
        let raw = format!("{head}{hidden}\r\n{body}");
        let message = smtp.transact("app@x.test", &["b@x.test"], raw.as_bytes()).await.remove(0);
        team.forward(&message, &[email]).await;
        team.when(&message, email, "sent").await;
        let arrived = team.forwarded(email).remove(place);
        assert!(behind_added(&arrived) == format!("{head}\r\n{body}").as_bytes(), "body {place}");
    }
}

#[tokio::test]
async fn what_the_wire_cannot_carry_arrives_in_an_attachment() {
    let server = shared();
    let team = Team::on(&server);
    let email = "ada@attached.example";
    team.agreed(&[email]).await;
    let inbox = team.rest.inbox().await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let raw = format!("Subject: long\r\n\r\n{}\r\n", "z".repeat(1_200));
    let message = smtp.transact("app@x.test", &["b@x.test"], raw.as_bytes()).await.remove(0);
    team.forward(&message, &[email]).await;
    team.when(&message, email, "sent").await;
    let arrived = String::from_utf8(team.forwarded(email).remove(0).bytes).unwrap();
    assert!(arrived.contains("message.eml"), "{arrived}");
    let (_, encoded) = arrived.split_once("Content-Transfer-Encoding: base64\r\n\r\n").unwrap();
    let encoded = encoded.split("\r\n--").next().unwrap().replace("\r\n", "");
    assert_eq!(data_encoding::BASE64.decode(encoded.as_bytes()).unwrap(), raw.as_bytes());
}
