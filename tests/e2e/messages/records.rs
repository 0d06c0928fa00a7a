//! The full message.

use serde_json::{Value, json};
use trapline_tests::{Mail, Smtp, deliver, shared};

#[tokio::test]
async fn a_message_shows_header_envelope_and_bodies_apart() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mail = Mail::new("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "")
        .from("=?utf-8?Q?J=C3=B8ran?= <j@example.test>, second@example.test")
        .to("Ada <ada@example.test>, bob@example.test")
        .field("Cc: cc@example.test")
        .field("Bcc: Hidden <bcc@example.test>")
        .field("Reply-To: Desk <desk@example.test>")
        .field("X-Twice: one")
        .field("X-Twice: =?utf-8?Q?zw=C3=B6lf?=")
        .multipart(
            "alternative",
            &[
                "Content-Type: text/plain; charset=utf-8\n\nplain ö",
                "Content-Type: text/html; charset=utf-8\n\n<p>html ö</p>",
            ],
        );
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let to = ["one@example.test", "two@example.test"];
    let id = smtp.transact("bounce@example.test", &to, &mail.bytes()).await.remove(0);
    let message = rest.message(&id).await;
    let address = |address: &str, name: &str| json!({ "address": address, "name": name });
    for (field, expected) in [
        ("id", json!(id)),
        ("inboxId", json!(inbox.id)),
        ("messageId", json!("1@example.test")),
        ("subject", json!("Grüße")),
        ("from", address("j@example.test", "Jøran")),
        ("to", json!([address("ada@example.test", "Ada"), address("bob@example.test", "")])),
        ("cc", json!([address("cc@example.test", "")])),
        ("bcc", json!([address("bcc@example.test", "Hidden")])),
        ("replyTo", json!([address("desk@example.test", "Desk")])),
        ("envelope", json!({ "from": "bounce@example.test", "to": to })),
        ("date", json!("2026-01-31T09:30:00.000Z")),
        ("size", json!(mail.bytes().len())),
        ("isRead", json!(false)),
        ("html", json!("<p>html ö</p>")),
        ("text", json!("plain ö")),
        ("attachments", json!([])),
        ("alternatives", json!([])),
        ("warnings", json!([])),
    ] {
        assert_eq!(message[field], expected, "{field}");
    }
    let headers = message["headers"].as_array().unwrap();
    let twice: Vec<_> = headers.iter().filter(|field| field["name"] == "X-Twice").collect();
    assert_eq!(
        twice,
        [
            &json!({"name": "X-Twice", "value": "one"}),
            &json!({"name": "X-Twice", "value": "zwölf"})
        ]
    );
    assert_eq!(headers[0]["name"], "From");
}

#[tokio::test]
async fn codes_and_links_are_picked_out() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let html = "<p>Your verification code is <b>482913</b>.</p>\
        <p>© 2026 Shop, order #1234567, call +1 555 010 9999, 19.99 EUR</p>\
        <a href=\"https://example.test/verify?token=a&amp;b=1\">Verify your address</a>";
    let id = deliver(&server, &inbox, &Mail::new("Your code", "").html(html)).await;
    let message = rest.message(&id).await;
    assert_eq!(message["codes"], json!(["482913"]));
    let link =
        json!({ "url": "https://example.test/verify?token=a&b=1", "text": "Verify your address" });
    assert_eq!(message["links"], json!([link]));
}

#[tokio::test]
async fn what_the_sender_got_wrong_is_said() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let long = format!("From: a@x.test\r\nSubject: x\r\n\r\n{}\r\n", "l".repeat(1_000));
    let cases: [(&[u8], &[&str]); 5] = [
        (b"From: a@x.test\r\nSubject: one\r\nSubject: two\r\n\r\nx\r\n", &["repeated_header"]),
        (b"Subject: x\r\n\r\nx\r\n", &["missing_from", "missing_date"]),
        (b"From: a@x.test\r\nSubject: \xfc\r\n\r\nx\r\n", &["eight_bit_header"]),
        (
            b"From: a@x.test\r\nContent-Type: multipart/mixed\r\n\r\n--b\r\n\r\nx\r\n",
            &["missing_boundary"],
        ),
        (long.as_bytes(), &["line_too_long"]),
    ];
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    for (raw, codes) in cases {
        let id = smtp.transact("a@x.test", &["b@x.test"], raw).await.remove(0);
        let message = rest.message(&id).await;
        let found: Vec<&Value> = message["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| &warning["code"])
            .collect();
        for code in codes {
            assert!(found.contains(&&json!(code)), "{code} is not among {found:?}");
        }
    }
}
