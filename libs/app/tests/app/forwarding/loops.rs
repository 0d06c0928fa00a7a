//! Mail that would go round and round.

use std::time::Duration;

use crate::{mail::text_of, support::Bench};

#[tokio::test]
async fn two_inboxes_that_forward_to_each_other_stop() {
    let bench = Bench::with_relay().await;
    let (one, two) = (bench.inbox(100, None).await, bench.inbox(100, None).await);
    // Addresses elsewhere, whose owners forward to our inboxes.
    bench.agreed("one@elsewhere.example").await;
    bench.agreed("two@elsewhere.example").await;
    bench.rule(&one, &["two@elsewhere.example"], None).await;
    bench.rule(&two, &["one@elsewhere.example"], None).await;
    bench.deliver(&one, "round").await;
    let mut sent = 0;
    loop {
        bench.arrive().await;
        let mails = bench.forward_due(|_| Ok(())).await;
        if mails.is_empty() {
            break;
        }
        sent += mails.len();
        assert!(sent < 10, "it goes round");
        for mail in mails {
            let inbox = if mail.to.starts_with("one") { &one } else { &two };
            bench.deliver_raw(inbox, &mail.from, text_of(&mail).into_bytes()).await;
        }
    }
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn what_programs_answer_and_what_went_far_stays_here() {
    let received =
        |count| "Received: from a by b; Fri, 15 Jan 2027 08:00:00 +0000\r\n".repeat(count);
    let cases = [
        ("app@example.com", "Auto-Submitted: auto-replied\r\n".to_owned(), Some("automatic_reply")),
        (
            "app@example.com",
            "Auto-Submitted: auto-forwarded\r\n".to_owned(),
            Some("automatic_reply"),
        ),
        (
            "app@example.com",
            "auto-submitted: Auto-Generated (cron)\r\n".to_owned(),
            Some("automatic_reply"),
        ),
        ("app@example.com", "Auto-Submitted: auto-generated\r\n".to_owned(), None),
        ("app@example.com", "Auto-Submitted: no\r\n".to_owned(), None),
        ("app@example.com", received(51), Some("too_many_hops")),
        ("app@example.com", received(50), None),
        (
            "app@example.com",
            "X-Trapline-Forwarded: other; hops=5; by=0\r\n".to_owned(),
            Some("too_many_hops"),
        ),
        ("app@example.com", "X-Trapline-Forwarded: other; hops=4; by=0\r\n".to_owned(), None),
    ];
    for (from, head, wanted) in cases {
        let bench = Bench::with_relay().await;
        let inbox = bench.inbox(10, None).await;
        bench.agreed("ada@example.com").await;
        bench.rule(&inbox, &["ada@example.com"], None).await;
        let raw = format!("{head}Subject: a\r\n\r\nb\r\n").into_bytes();
        let message = bench.deliver_raw(&inbox, from, raw).await;
        bench.arrive().await;
        let sent = bench.forward_due(|_| Ok(())).await.len();
        assert_eq!(sent, usize::from(wanted.is_none()), "{head}");
        assert_eq!(bench.refusal(message).await.as_deref(), wanted, "{head}");
    }
}

#[tokio::test]
async fn bounces_are_not_forwarded_of_themselves() {
    let bench = Bench::with_relay().await;
    let inbox = bench.inbox(10, None).await;
    bench.agreed("ada@example.com").await;
    bench.rule(&inbox, &["ada@example.com"], None).await;
    let message = bench.deliver_raw(&inbox, "", b"Subject: a\r\n\r\nb\r\n".to_vec()).await;
    bench.arrive().await;
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
    // By hand, they are.
    let to = ["ada@example.com".to_owned()];
    bench.app.forwarding().forward(&bench.by, message, &to).await.unwrap();
    assert_eq!(bench.forward_due(|_| Ok(())).await.len(), 1);
}

#[tokio::test]
async fn an_inbox_forwards_so_much_a_minute() {
    let bench = Bench::with_relay().await;
    let inbox = bench.inbox(100, None).await;
    bench.agreed("ada@example.com").await;
    bench.rule(&inbox, &["ada@example.com"], None).await;
    for number in 0..25 {
        bench.deliver(&inbox, &number.to_string()).await;
    }
    bench.arrive().await;
    assert_eq!(bench.forward_due(|_| Ok(())).await.len(), 20);
    bench.clock.advance(Duration::from_mins(1));
    bench.deliver(&inbox, "later").await;
    bench.arrive().await;
    assert_eq!(bench.forward_due(|_| Ok(())).await.len(), 1);
}
