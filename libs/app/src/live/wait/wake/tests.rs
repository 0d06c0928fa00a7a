use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use trapline_store::{Key, Op, Result, Row, Scan, Store, Table};

use super::*;
use crate::{Filter, live::streams::Streams};

/// A store without rows.
struct Empty;

#[async_trait]
impl Store for Empty {
    async fn prepare(&self, _: &[&'static Table]) -> Result<()> {
        Ok(())
    }
    async fn get(&self, _: &Key) -> Result<Option<Row>> {
        Ok(None)
    }
    async fn scan(&self, _: Scan) -> Result<Vec<Row>> {
        Ok(Vec::new())
    }
    async fn write(&self, _: Vec<Op>) -> Result<()> {
        Ok(())
    }
    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}

fn subscription(signals: SignalStream) -> (WaitSubscription, watch::Sender<u64>) {
    let (losses, lost) = watch::channel(0);
    let resyncs = ResyncScheduler::new(Arc::new(Empty), Streams::new(1, 1));
    let inbox = InboxId(Uuid::nil());
    (
        WaitSubscription {
            signals,
            inbox,
            losses: lost,
            resyncs,
            resync_queue: ResyncQueue::default(),
        },
        losses,
    )
}

fn heard(subject: &str, cut: bool) -> Signal {
    Signal::Event(Arc::new(LiveEvent::MessageCreated {
        id: Uuid::nil(),
        from: Vec::new(),
        to: Vec::new(),
        subject: subject.to_owned(),
        cut,
        record: None,
    }))
}

fn about(subject: &str) -> Matcher {
    Matcher::new(&Filter { subject: Some(subject.to_owned()), ..Filter::default() })
}

#[tokio::test(start_paused = true)]
async fn noise_does_not_put_off_a_look() {
    let noise = futures_util::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Some((heard("noise", false), ()))
    });
    let gap = futures_util::stream::once(async { Signal::Gap });
    let (mut subscription, losses) = subscription(gap.chain(noise).boxed());
    let matcher = about("code");
    assert!(matches!(subscription.wake(&matcher, Uuid::nil()).await, WaitWake::Resynced(_)));
    losses.send_replace(1);
    assert!(matches!(subscription.wake(&matcher, Uuid::nil()).await, WaitWake::Resynced(_)));
}

#[tokio::test(start_paused = true)]
async fn nothing_wakes_a_wait_of_which_nothing_is_heard() {
    let (mut subscription, losses) = subscription(futures_util::stream::pending().boxed());
    // As in a process that is alone.
    drop(losses);
    let matcher = about("code");
    let woken = subscription.wake(&matcher, Uuid::nil());
    let woken = tokio::time::timeout(Duration::from_hours(1), woken).await;
    assert!(woken.is_err(), "{woken:?}");
}

#[tokio::test]
async fn what_is_announced_in_part_is_looked_at() {
    let signals = futures_util::stream::iter([heard("no", false), heard("cut", true)]);
    let (mut subscription, _losses) = subscription(signals.boxed());
    let wake = subscription.wake(&about("code"), Uuid::nil()).await;
    assert!(matches!(wake, WaitWake::Candidate(_)), "{wake:?}");
}
