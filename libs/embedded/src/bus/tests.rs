#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use futures_util::StreamExt as _;
use uuid::Uuid;

use super::*;

fn inbox(number: u128) -> InboxId {
    InboxId(Uuid::from_u128(number))
}

#[tokio::test]
async fn the_last_subscriber_takes_the_channel_along() {
    let bus = MemoryBus::default();
    let first = bus.subscribe(inbox(1)).await.unwrap();
    let second = bus.subscribe(inbox(1)).await.unwrap();
    let other = bus.subscribe(inbox(2)).await.unwrap();
    drop(first);
    assert_eq!(bus.channels().len(), 2);
    drop(second);
    assert_eq!(bus.channels().len(), 1);
    drop(other);
    assert!(bus.channels().is_empty());
}

#[tokio::test]
async fn a_stream_that_waits_leaves_no_channel_either() {
    let bus = MemoryBus::default();
    let mut signals = bus.subscribe(inbox(1)).await.unwrap();
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(1), signals.next()).await;
    assert!(waiting.is_err());
    drop(signals);
    assert!(bus.channels().is_empty());
}

#[tokio::test]
async fn after_a_gap_come_the_newest_events() {
    let bus = MemoryBus::default();
    let mut signals = bus.subscribe(inbox(1)).await.unwrap();
    for number in 0..=BEHIND {
        let id = Uuid::from_u128(number as u128);
        bus.publish(inbox(1), LiveEvent::MessageUpdated { id }).await.unwrap();
    }
    assert_eq!(signals.next().await, Some(Signal::Gap));
    let first = LiveEvent::MessageUpdated { id: Uuid::from_u128(1) };
    assert_eq!(signals.next().await, Some(Signal::Event(Arc::new(first))));
}
