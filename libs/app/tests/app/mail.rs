//! Mail of the service itself, with a relay that answers from a script and a clock that moves.

use std::time::Duration;

use trapline_app::{Claimed, Error, Lane, OutgoingMail, RelayError, RelayStage};

use crate::support::Bench;

/// Long enough for a job that is due; a clock that stands still makes no other.
const LOOK: Duration = Duration::from_millis(30);
/// The ladder's pauses in seconds.
const PAUSES: [u64; 5] = [15, 60, 300, 900, 1_800];

pub(crate) const LATER: RelayError =
    RelayError { code: "smtp_4xx", is_final: false, stage: RelayStage::Connection };
pub(crate) const NEVER: RelayError =
    RelayError { code: "smtp_5xx", is_final: true, stage: RelayStage::Recipient };

pub(crate) fn text_of(mail: &OutgoingMail) -> String {
    String::from_utf8(mail.content.concat()).unwrap()
}

impl Bench {
    /// Sends the mail that is due now, and returns what the relay got.
    pub(crate) async fn send_due(&self, answer: Result<(), RelayError>) -> Vec<OutgoingMail> {
        let mut mails = Vec::new();
        loop {
            let leases = self.app.jobs().take(Lane::Mail, 100, LOOK).await.unwrap();
            if leases.is_empty() {
                return mails;
            }
            for lease in leases {
                let next = match self.app.outbound_mail().claim(&lease.job).await.unwrap() {
                    Claimed::Finished => None,
                    Claimed::Reschedule(next) => Some(next),
                    Claimed::Run(attempt) => {
                        mails.push(attempt.outgoing.clone());
                        self.app.outbound_mail().record(*attempt, answer).await.unwrap()
                    }
                };
                match next {
                    Some(next) => self.app.jobs().reschedule(lease, &next).await.unwrap(),
                    None => self.app.jobs().complete(lease).await.unwrap(),
                }
            }
        }
    }

    async fn add(&self, email: &str) {
        self.app.forwarding().add_address(&self.by, email).await.unwrap();
    }

    async fn reasons(&self) -> Vec<String> {
        self.app.outbound_mail().health().await.unwrap().reasons
    }
}

#[tokio::test]
async fn the_ladder_has_six_attempts_in_an_hour() {
    let bench = Bench::with_relay().await;
    bench.add("ada@example.com").await;
    let mut seen = Vec::new();
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        let mails = bench.send_due(Err(LATER)).await;
        assert_eq!(mails.len(), 1, "{pause:?}");
        assert_eq!(mails[0].to, "ada@example.com");
        seen.push(text_of(&mails[0]));
        let Some(pause) = pause.map(Duration::from_secs) else { break };
        bench.clock.advance(pause.saturating_sub(Duration::from_millis(1)));
        assert!(bench.send_due(Ok(())).await.is_empty(), "too early: {pause:?}");
        bench.clock.advance(Duration::from_millis(1));
    }
    // The message is the same in every attempt, so that a relay can tell a repeat.
    seen.dedup();
    assert_eq!(seen.len(), 1);
    bench.clock.advance(Duration::from_hours(24));
    assert!(bench.send_due(Ok(())).await.is_empty());
}

#[tokio::test]
async fn a_refusal_for_good_and_a_success_end_it() {
    for answer in [Ok(()), Err(NEVER)] {
        let bench = Bench::with_relay().await;
        bench.add("ada@example.com").await;
        assert_eq!(bench.send_due(answer).await.len(), 1);
        bench.clock.advance(Duration::from_hours(24));
        assert!(bench.send_due(Ok(())).await.is_empty());
        // That one recipient is refused says nothing about the relay.
        assert!(bench.reasons().await.is_empty());
    }
}

#[tokio::test]
async fn bounces_come_back_under_a_name_of_the_mails_own() {
    let bench = Bench::with_relay().await;
    bench.add("ada@example.com").await;
    bench.add("bob@example.com").await;
    let senders: Vec<_> = bench.send_due(Ok(())).await.into_iter().map(|mail| mail.from).collect();
    assert_eq!(senders.len(), 2);
    assert_ne!(senders[0], senders[1]);
    for sender in senders {
        let local = sender.strip_suffix("@trapline.test").unwrap();
        assert!(local.starts_with("bounce+") && local.len() <= 64, "{sender}");
    }
}

#[tokio::test]
async fn health_tells_of_mail_that_was_given_up_for_half_an_hour() {
    let bench = Bench::with_relay().await;
    bench.add("ada@example.com").await;
    for pause in PAUSES {
        bench.send_due(Err(LATER)).await;
        bench.clock.advance(Duration::from_secs(pause));
    }
    bench.send_due(Err(LATER)).await;
    let reasons = bench.reasons().await;
    assert!(reasons.contains(&"exhausted:1".to_owned()), "{reasons:?}");
    bench.clock.advance(Duration::from_mins(31));
    let reasons = bench.reasons().await;
    assert!(!reasons.iter().any(|reason| reason.starts_with("exhausted")), "{reasons:?}");
}

#[tokio::test]
async fn health_tells_of_mail_that_waits_for_too_long() {
    for has_outbox in [false, true] {
        let bench = Bench::relaying(|ports| {
            if has_outbox {
                crate::doubles::as_in_a_cluster(ports);
            }
        })
        .await;
        bench.add("ada@example.com").await;
        bench.clock.advance(Duration::from_mins(10));
        assert!(bench.reasons().await.is_empty(), "{has_outbox}");
        bench.clock.advance(Duration::from_secs(1));
        assert_eq!(bench.reasons().await, ["oldest_overdue_s:601"], "{has_outbox}");
        bench.send_due(Ok(())).await;
        assert!(bench.reasons().await.is_empty(), "{has_outbox}");
    }
}

#[tokio::test]
async fn health_tells_of_sends_that_keep_failing() {
    let bench = Bench::with_relay().await;
    for number in 0..4 {
        bench.add(&format!("ada{number}@example.com")).await;
    }
    assert_eq!(bench.send_due(Err(LATER)).await.len(), 4);
    assert!(bench.reasons().await.is_empty(), "four are not a pattern");
    bench.clock.advance(Duration::from_secs(15));
    assert_eq!(bench.send_due(Err(LATER)).await.len(), 4);
    assert_eq!(bench.reasons().await, ["consecutive_failures:8"]);
    bench.clock.advance(Duration::from_mins(1));
    assert_eq!(bench.send_due(Ok(())).await.len(), 4);
    assert!(bench.reasons().await.is_empty());
}

#[tokio::test]
async fn without_a_relay_what_needs_it_says_so() {
    let bench = Bench::new().await;
    let added = bench.app.forwarding().add_address(&bench.by, "ada@example.com").await;
    assert!(matches!(added, Err(Error::OutboundDisabled)), "{added:?}");
    assert!(!bench.app.forwarding().status().outbound_enabled);
    assert!(bench.app.forwarding().addresses(&bench.by).await.unwrap().is_empty());
    assert!(bench.reasons().await.is_empty());
}
