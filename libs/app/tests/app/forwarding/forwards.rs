//! From an arrived message to the relay.

use std::{sync::Arc, time::Duration};

use trapline_app::{App, Error, Lane, RelayError, RelayStage};
use trapline_model::{ForwardMatch, ForwardStatus, Inbox};

use super::LOOK;
use crate::{
    doubles::as_in_a_cluster,
    mail::{LATER, NEVER, text_of},
    support::Bench,
};

const SECOND: Duration = Duration::from_secs(1);

/// The ladder's pauses in seconds.
const PAUSES: [u64; 5] = [60, 300, 900, 3_600, 14_400];

#[tokio::test]
async fn a_message_is_forwarded_to_each_as_it_arrives() {
    let bench = Bench::with_relay().await;
    let (inbox, other) = (bench.inbox(10, None).await, bench.inbox(10, None).await);
    bench.agreed("ada@example.com").await;
    bench.agreed("bob@example.com").await;
    bench.rule(&inbox, &["ada@example.com", "bob@example.com"], None).await;
    let message = bench.deliver(&inbox, "hello").await;
    bench.deliver(&other, "not this one").await;
    bench.arrive().await;
    let mails = bench.forward_due(|_| Ok(())).await;
    let mut to: Vec<_> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["ada@example.com", "bob@example.com"]);
    for mail in &mails {
        let text = text_of(mail);
        assert!(text.starts_with(&format!("X-Trapline-Forwarded: {}; hops=1; by=", inbox.id)));
        assert!(text.contains(&format!("\r\nResent-To: {}\r\n", mail.to)), "{text}");
        assert!(text.ends_with("To: ada@example.com\r\n\r\nhello hello\r\n"), "{text}");
        assert!(mail.from.starts_with("bounce+") && mail.from.ends_with("@trapline.test"));
    }
    let forwards = bench.forwards(message).await;
    assert!(forwards.iter().all(|forward| forward.status == ForwardStatus::Sent), "{forwards:?}");
}

/// A process with a relay, one without, and an inbox whose mail is forwarded.
async fn with_and_without_a_relay() -> (Bench, Arc<App>, Inbox) {
    let bench = Bench::relaying(as_in_a_cluster).await;
    let without = bench.another_process().await;
    let inbox = bench.inbox(10, None).await;
    bench.agreed("ada@example.com").await;
    bench.rule(&inbox, &["ada@example.com"], None).await;
    (bench, without, inbox)
}

/// Two workers, of which one has no relay and takes the job first.
#[tokio::test]
async fn what_a_process_cannot_forward_is_left_to_one_with_a_relay() {
    let (bench, without, inbox) = with_and_without_a_relay().await;
    let message = bench.deliver(&inbox, "hello").await;
    let lease = bench.app.jobs().take(Lane::Received, 1, LOOK).await.unwrap().remove(0);
    let mut job = lease.job.clone();
    for pause in [1, 2, 4] {
        job = without.arrivals().start(&job).await.unwrap().unwrap();
        assert_eq!(job.body["due"], serde_json::json!(bench.clock.now().after(SECOND * pause)));
        assert_eq!(bench.forwards(message).await, []);
    }
    bench.app.jobs().reschedule(lease, &job).await.unwrap();
    bench.clock.advance(SECOND * 4);
    bench.arrive().await;
    assert_eq!(bench.forward_due(|_| Ok(())).await.len(), 1);
    assert_eq!(bench.forwards(message).await[0].status, ForwardStatus::Sent);
}

#[tokio::test]
async fn what_no_process_can_forward_is_given_up_in_the_end() {
    let (bench, without, inbox) = with_and_without_a_relay().await;
    bench.deliver(&inbox, "hello").await;
    let lease = bench.app.jobs().take(Lane::Received, 1, LOOK).await.unwrap().remove(0);
    let (mut job, mut times) = (Some(lease.job), 0);
    while let Some(again) = job {
        job = without.arrivals().start(&again).await.unwrap();
        times += 1;
        assert!(times < 100);
    }
    assert_eq!(times, 13, "twelve times it was put back");
}

#[tokio::test]
async fn a_repeated_arrival_forwards_once() {
    let bench = Bench::with_relay().await;
    let inbox = bench.inbox(10, None).await;
    bench.agreed("ada@example.com").await;
    bench.rule(&inbox, &["ada@example.com"], None).await;
    bench.deliver(&inbox, "hello").await;
    let look = Duration::from_millis(30);
    let lease = bench.app.jobs().take(Lane::Received, 1, look).await.unwrap().remove(0);
    for _ in 0..3 {
        bench.app.arrivals().start(&lease.job).await.unwrap();
    }
    assert_eq!(bench.forward_due(|_| Ok(())).await.len(), 1);
    bench.app.arrivals().start(&lease.job).await.unwrap();
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
}

#[tokio::test]
async fn a_rule_forwards_what_matches() {
    let cases = [
        (Some("APP@"), None, None, true),
        (None, Some("ada@"), Some("HELL"), true),
        (None, None, Some("other"), false),
        (Some("app@"), None, Some("other"), false),
        (None, Some("eve@"), None, false),
    ];
    for (from, to, subject, wanted) in cases {
        let bench = Bench::with_relay().await;
        let inbox = bench.inbox(10, None).await;
        bench.agreed("ada@example.com").await;
        let text = |text: Option<&str>| text.map(str::to_owned);
        let matching = ForwardMatch { from: text(from), to: text(to), subject: text(subject) };
        bench.rule(&inbox, &["ada@example.com"], Some(matching)).await;
        bench.deliver(&inbox, "hello").await;
        bench.arrive().await;
        let count = bench.forward_due(|_| Ok(())).await.len();
        assert_eq!(count, usize::from(wanted), "{from:?} {to:?} {subject:?}");
    }
}

#[tokio::test]
async fn the_ladder_has_six_attempts_for_whom_was_refused() {
    let bench = Bench::with_relay().await;
    let inbox = bench.inbox(10, None).await;
    bench.agreed("ada@example.com").await;
    bench.agreed("bob@example.com").await;
    let message = bench.deliver(&inbox, "hello").await;
    let to = ["ada@example.com", "bob@example.com"].map(str::to_owned);
    let answer = bench.app.forwarding().forward(&bench.by, message, &to).await.unwrap();
    assert!(answer.iter().all(|forward| forward.status == ForwardStatus::Pending), "{answer:?}");
    let refuse = |mail: &trapline_app::OutgoingMail| {
        if mail.to.starts_with("bob") { Err(LATER) } else { Ok(()) }
    };
    assert_eq!(bench.forward_due(refuse).await.len(), 2);
    for pause in PAUSES.map(Duration::from_secs) {
        let bob = bench.forwards(message).await.remove(0);
        assert_eq!((bob.to.as_str(), bob.status), ("bob@example.com", ForwardStatus::Retrying));
        bench.clock.advance(pause.saturating_sub(Duration::from_millis(1)));
        assert!(bench.forward_due(|_| Ok(())).await.is_empty(), "too early: {pause:?}");
        bench.clock.advance(Duration::from_millis(1));
        let mails = bench.forward_due(refuse).await;
        assert_eq!(mails.len(), 1);
        assert_eq!(mails[0].to, "bob@example.com");
    }
    let bob = bench.forwards(message).await.remove(0);
    assert_eq!((bob.status, bob.error.as_deref()), (ForwardStatus::Failed, Some("smtp_4xx")));
    bench.clock.advance(Duration::from_hours(48));
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
    // Forwarding is not mail of the service's own.
    assert!(bench.app.outbound_mail().health().await.unwrap().reasons.is_empty());
}

#[tokio::test]
async fn a_refusal_for_good_is_the_end() {
    let bench = Bench::with_relay().await;
    let message = bench.asked_for().await;
    assert_eq!(bench.forward_due(|_| Err(NEVER)).await.len(), 1);
    assert_eq!(bench.refusal(message).await.as_deref(), Some("smtp_5xx"));
    bench.clock.advance(Duration::from_hours(48));
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
    let content = RelayError { stage: RelayStage::Content, ..NEVER };
    assert!(content.is_about_content() && !NEVER.is_about_content());
}

#[tokio::test]
async fn a_message_that_is_gone_is_not_forwarded() {
    let bench = Bench::with_relay().await;
    let message = bench.asked_for().await;
    bench.app.messages().delete(&bench.by, message).await.unwrap();
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
    bench.clock.advance(Duration::from_hours(48));
    assert!(bench.forward_due(|_| Ok(())).await.is_empty());
}

#[tokio::test]
async fn one_person_gets_a_bounded_number_by_hand() {
    let bench = Bench::with_relay().await;
    let message = bench.asked_for().await;
    let to = ["ada@example.com".to_owned()];
    let forward = || bench.app.forwarding().forward(&bench.by, message, &to);
    let mut taken = 1;
    while forward().await.is_ok() {
        taken += 1;
    }
    assert_eq!(taken, 30);
    assert!(matches!(forward().await, Err(Error::TooMany { .. })));
    bench.clock.advance(Duration::from_mins(10));
    forward().await.unwrap();
}
