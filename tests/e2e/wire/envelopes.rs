//! Senders and recipients as clients write them.

use serde_json::json;
use trapline_tests::{Mail, Smtp, shared};

use super::signed_in;

#[tokio::test]
async fn unusual_senders_are_taken() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let verp = format!("{}@example.test", "v".repeat(900));
    let long = format!("<{verp}>");
    for (written, stored) in [
        ("<>", ""),
        (" <a@example.test>", "a@example.test"),
        ("<a@example.test> RET=HDRS ENVID=QQ314159 AUTH=<>", "a@example.test"),
        ("<a@example.test> BODY=8BITMIME SMTPUTF8 SIZE=100", "a@example.test"),
        ("<a@example.test> X-UNKNOWN=1 MT-PRIORITY=3", "a@example.test"),
        ("<\"a b\"@example.test>", "\"a b\"@example.test"),
        ("<a@[127.0.0.1]>", "a@[127.0.0.1]"),
        ("<a@[IPv6:::1]>", "a@[IPv6:::1]"),
        ("<@one.test,@two.test:a@example.test>", "a@example.test"),
        ("<jøran@eksempel.test>", "jøran@eksempel.test"),
        (&long, &verp),
    ] {
        smtp.ask(&format!("MAIL FROM:{written}"), 250).await;
        smtp.ask("RCPT TO:<b@example.test> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;b@x.test", 250)
            .await;
        smtp.ask("DATA", 354).await;
        smtp.write(b"Subject: x\r\n\r\n.\r\n").await;
        let id = smtp.expect(250).await.ids().remove(0);
        let envelope = &rest.message(&id).await["envelope"];
        assert_eq!(envelope, &json!({ "from": stored, "to": ["b@example.test"] }), "{written}");
    }
}

#[tokio::test]
async fn every_recipient_is_in_the_envelope_and_none_in_the_header() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let to: Vec<_> = (0..150).map(|n| format!("r{n}@example.test")).collect();
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    let raw = Mail::new("many", "x").bytes();
    let ids = smtp.transact("a@example.test", &to, &raw).await;
    assert_eq!(ids.len(), 1, "one inbox, one message");
    let message = rest.message(&ids[0]).await;
    assert_eq!(message["envelope"]["to"], json!(to));
    assert_eq!(message["bcc"], json!([]));
    assert_eq!(rest.raw(&ids[0]).await, raw);
}

#[tokio::test]
async fn without_credentials_the_address_chooses_the_inbox() {
    let server = shared();
    let rest = server.rest();
    let (one, two) = (rest.inbox().await, rest.inbox().await);
    let (user, domain) = two.address.split_once('@').unwrap();
    let plus = format!("{user}+sign-up+2@{}", domain.to_uppercase());
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let raw = Mail::new("two inboxes", "x").bytes();
    let ids = smtp.transact("a@example.test", &[&one.address, &plus, &two.address], &raw).await;
    assert_eq!(ids.len(), 2, "each inbox once");
    let mut inboxes = Vec::new();
    for id in &ids {
        let message = rest.message(id).await;
        assert_eq!(message["envelope"]["to"], json!([one.address, plus, two.address]));
        assert_eq!(rest.raw(id).await, raw);
        inboxes.push(message["inboxId"].as_str().unwrap().to_owned());
    }
    assert_eq!(inboxes, [one.id, two.id]);
}

#[tokio::test]
async fn an_unknown_address_lands_in_the_first_inbox() {
    let server = shared();
    let rest = server.rest();
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    for to in ["somebody@example.test", "nobody@trapline.test", "postmaster"] {
        let raw = Mail::new("caught", "x").bytes();
        let ids = smtp.transact("a@example.test", &[to], &raw).await;
        assert_eq!(rest.message(&ids[0]).await["inboxId"], server.default_inbox(), "{to}");
    }
}

#[tokio::test]
async fn what_stands_beside_the_path_is_no_recipient() {
    let server = shared();
    let inbox = server.rest().inbox().await;
    let mut smtp = signed_in(&server, &inbox).await;
    let address = &inbox.address;
    smtp.ask(&format!("MAIL FROM:Bob <{address}>"), 501).await;
    smtp.ask("MAIL FROM:<a@example.test> <b@example.test>", 501).await;
    smtp.ask("MAIL FROM:<a@example.test>", 250).await;
    for to in [
        format!("Bob <{address}>"),
        format!("Bob Smith <{address}>"),
        format!("\"Bob\" <{address}>"),
        format!("<{address}> Bob@x.test"),
        format!("<{address}>, <b@example.test>"),
        "Bob Smith".to_owned(),
    ] {
        smtp.ask(&format!("RCPT TO:{to}"), 501).await;
    }
    smtp.ask(&format!("RCPT TO:{address} NOTIFY=NEVER"), 250).await;
    smtp.quit().await;
}
