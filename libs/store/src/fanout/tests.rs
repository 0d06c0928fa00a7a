#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use uuid::Uuid;

use super::*;
use crate::LiveEvent;

fn inbox(number: u128) -> InboxId {
    InboxId(Uuid::from_u128(number))
}

fn event(number: u128) -> Signal {
    Signal::Event(Arc::new(LiveEvent::MessageUpdated { id: Uuid::from_u128(number), marked: None }))
}

/// A fan-out, and the inboxes whose last listener left.
fn watched() -> (Fanout, Arc<Mutex<Vec<InboxId>>>) {
    let left = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&left);
    (Fanout::new(move |inbox| noted.lock().unwrap().push(inbox)), left)
}

#[test]
fn the_last_listener_takes_the_channel_along() {
    let (fanout, left) = watched();
    let (first, second) = (fanout.listen(inbox(1)), fanout.listen(inbox(1)));
    let other = fanout.listen(inbox(2));
    drop(first);
    assert!(fanout.has(inbox(1)) && left.lock().unwrap().is_empty());
    drop(second);
    assert!(!fanout.has(inbox(1)) && fanout.has(inbox(2)));
    drop(other);
    assert_eq!(*left.lock().unwrap(), [inbox(1), inbox(2)]);
}

#[tokio::test]
async fn a_stream_that_waits_leaves_no_channel_either() {
    let (fanout, left) = watched();
    let mut signals = fanout.listen(inbox(1));
    let waiting = tokio::time::timeout(Duration::from_millis(1), signals.next()).await;
    assert!(waiting.is_err());
    drop(signals);
    assert!(!fanout.has(inbox(1)));
    assert_eq!(*left.lock().unwrap(), [inbox(1)]);
}

#[tokio::test]
async fn after_a_gap_come_the_newest_events() {
    let fanout = Fanout::default();
    let mut signals = fanout.listen(inbox(1));
    for number in 0..=BEHIND {
        fanout.send(inbox(1), event(number as u128));
    }
    assert_eq!(signals.next().await, Some(Signal::Lagged));
    assert_eq!(signals.next().await, Some(event(1)));
}

#[tokio::test]
async fn closing_ends_the_streams() {
    let (fanout, left) = watched();
    let mut signals = fanout.listen(inbox(1));
    fanout.send(inbox(1), event(1));
    fanout.close();
    assert_eq!(signals.next().await, Some(event(1)));
    assert_eq!(signals.next().await, None);
    drop(signals);
    assert!(left.lock().unwrap().is_empty());
}
