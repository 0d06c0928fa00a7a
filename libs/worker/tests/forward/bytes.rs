//! What reaches the other server, byte for byte.

use trapline_model::ForwardStatus;

use trapline_relay_testkit::MailServer;

use crate::bench::{Bench, arrived};

/// What comes in front of a message, and the message behind it.
fn split(bytes: &[u8]) -> (String, Vec<u8>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let added: String = text.split_inclusive("\r\n").take(6).map(str::to_owned).collect();
    (added.clone(), bytes[added.len()..].to_vec())
}

#[tokio::test]
async fn a_message_arrives_as_it_was_caught() {
    let server = MailServer::start();
    let bench = Bench::new(server.address().port()).await;
    bench.agreed(&server, "ada@example.com").await;
    let inbox = bench.inbox(&["ada@example.com"]).await;
    let long = "y".repeat(998);
    let large = "0123456789 0123456789 0123456789\r\n".repeat(20_000);
    let bodies = [
        "hello\r\n".to_owned(),
        ".\r\n..\r\n.dot at the start\r\nend.\r\n".to_owned(),
        "\r\n\r\nempty lines before and after\r\n\r\n\r\n".to_owned(),
        "Gr\u{fc}\u{df}e, 8 bits \u{1f600}\r\n".to_owned(),
        format!("{long}\r\n"),
        large,
    ];
    for (place, body) in bodies.iter().enumerate() {
        let head = "Subject: folded\r\n\tover lines\r\nX-Odd :  kept \r\nFrom: a@b.example\r\n\
                    Subject: twice\r\nTo: eve@example.com\r\n";
        let hidden =
            "Bcc: eve@example.com,\r\n mallory@example.com\r\nReturn-Path: <x@y.example>\r\n";
        let message = bench.deliver(&inbox, format!("{head}{hidden}\r\n{body}").as_bytes()).await;
        bench.when(message, "ada@example.com", ForwardStatus::Sent).await;
        let mail = arrived(&server, place + 2).await.pop().unwrap();
        assert_eq!(mail.to, ["ada@example.com"]);
        assert!(mail.from.starts_with("bounce+") && mail.from.ends_with("@trapline.test"));
        let (added, rest) = split(&mail.bytes);
        let names: Vec<_> = added.lines().map(|line| line.split(':').next().unwrap()).collect();
        let wanted = [
            "X-Trapline-Forwarded",
            "Resent-Date",
            "Resent-From",
            "Resent-To",
            "Resent-Message-ID",
            "Auto-Submitted",
        ];
        assert_eq!(names, wanted);
        assert!(rest == format!("{head}\r\n{body}").as_bytes(), "body {place} is another");
    }
}

#[tokio::test]
async fn what_cannot_travel_arrives_in_an_attachment() {
    let server = MailServer::start();
    let bench = Bench::new(server.address().port()).await;
    bench.agreed(&server, "ada@example.com").await;
    let inbox = bench.inbox(&["ada@example.com"]).await;
    let cases: [&[u8]; 4] = [
        b"Subject: a\r\n\r\nbare\n.\r\nMAIL FROM:<eve@example.com>\r\n",
        b"Subject: a\r\n\r\nnul\0\r\n",
        b"Subject: a\r\n\r\nbare\rreturn\r\n",
        // This server does not offer SMTPUTF8.
        "Subject: Gr\u{fc}\u{df}e\r\n\r\nhello\r\n".as_bytes(),
    ];
    for (place, raw) in cases.into_iter().enumerate() {
        let message = bench.deliver(&inbox, raw).await;
        bench.when(message, "ada@example.com", ForwardStatus::Sent).await;
        let received = arrived(&server, place + 2).await;
        assert_eq!(received.len(), place + 2, "nothing was smuggled in");
        let text = received.last().unwrap().text();
        let (_, encoded) = text.split_once("Content-Transfer-Encoding: base64\r\n\r\n").unwrap();
        let encoded = encoded.split("\r\n--").next().unwrap().replace("\r\n", "");
        assert_eq!(data_encoding::BASE64.decode(encoded.as_bytes()).unwrap(), raw, "{place}");
    }
}

#[tokio::test]
async fn a_relay_that_wants_no_foreign_author_gets_an_attachment() {
    let server = MailServer::start();
    let bench = Bench::new(server.address().port()).await;
    bench.agreed(&server, "ada@example.com").await;
    let inbox = bench.inbox(&["ada@example.com"]).await;
    server.dislike("Resent-From:");
    let raw = "From: app@example.com\r\nSubject: a\r\n\r\nhello\r\n";
    let message = bench.deliver(&inbox, raw.as_bytes()).await;
    bench.when(message, "ada@example.com", ForwardStatus::Sent).await;
    let text = arrived(&server, 2).await.pop().unwrap().text();
    assert!(text.contains("\r\nFrom: no-reply@mail.example\r\n"), "{text}");
    assert!(text.contains("Content-Type: message/rfc822\r\n"), "{text}");
    assert!(text.contains(&format!("\r\n\r\n{raw}\r\n--=_")), "{text}");
}
