//! Live events: who hears what.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt as _;
use trapline_model::{InboxId, TeamId, Time};

use super::{Harness, fixtures::fresh};
use crate::{
    ChangedInbox, LiveEvent, MarkedTogether, Signal, SignalStream,
    records::{Inbox, InboxState},
};

fn inbox(h: &impl Harness) -> InboxId {
    InboxId(fresh(h))
}

fn event(h: &impl Harness, subject: &str) -> LiveEvent {
    LiveEvent::MessageCreated {
        id: fresh(h),
        from: vec!["ä@example.com".to_owned()],
        to: vec!["b@example.com".to_owned()],
        subject: subject.to_owned(),
        cut: false,
        record: None,
    }
}

/// An inbox that was changed, and all of whose messages were marked read, then some unread.
fn changed(h: &impl Harness, id: InboxId) -> LiveEvent {
    let record = Inbox {
        id,
        team: TeamId(fresh(h)),
        name: "Grüße".to_owned(),
        project: None,
        max_messages: 10,
        expires_at: None,
        created_at: Time::from_millis(1_800_000_000_000),
        username: "k3v9".to_owned(),
        password: "sealed".to_owned(),
    };
    let state = InboxState { inbox: id, read_up_to: fresh(h), at: fresh(h) };
    let (counted_at, state) = (fresh(h), Some(state));
    let marks = Some(MarkedTogether { ids: vec![fresh(h)], is_read: false, at: fresh(h) });
    let (version, messages, unread) = (2, 7, 1);
    let changed = ChangedInbox { record, version, messages, unread, counted_at, state, marks };
    LiveEvent::InboxUpdated { changed: Some(Box::new(changed)) }
}

async fn publish(h: &impl Harness, inbox: InboxId, event: &LiveEvent) {
    h.ports().bus.publish(inbox, event.clone()).await.unwrap();
}

async fn subscribe(h: &impl Harness, inbox: InboxId) -> SignalStream {
    h.ports().bus.subscribe(inbox).await.unwrap()
}

async fn next(signals: &mut SignalStream) -> Signal {
    let signal = tokio::time::timeout(Duration::from_secs(20), signals.next()).await;
    signal.expect("a signal in time").expect("a stream that goes on")
}

async fn hears(signals: &mut SignalStream, event: &LiveEvent) {
    assert_eq!(next(signals).await, Signal::Event(Arc::new(event.clone())));
}

/// Every kind of event that is sent after the subscription is heard, in order.
pub async fn an_event_is_heard(h: &impl Harness) {
    let inbox = inbox(h);
    let mut signals = subscribe(h, inbox).await;
    let events = [
        event(h, "Grüße"),
        LiveEvent::MessageUpdated { id: fresh(h), marked: None },
        LiveEvent::MessagesDeleted { ids: vec![fresh(h), fresh(h)] },
        LiveEvent::InboxEmptied,
        LiveEvent::InboxUpdated { changed: None },
        changed(h, inbox),
        LiveEvent::InboxDeleted,
        LiveEvent::LoginChanged { username: "k3v9".to_owned() },
        LiveEvent::HooksChanged { team: TeamId(fresh(h)) },
    ];
    for event in &events {
        publish(h, inbox, event).await;
    }
    for event in &events {
        hears(&mut signals, event).await;
    }
}

/// Events of another inbox are not heard.
pub async fn other_inboxes_are_not(h: &impl Harness) {
    let (mine, other) = (inbox(h), inbox(h));
    let mut signals = subscribe(h, mine).await;
    let _theirs = subscribe(h, other).await;
    publish(h, other, &event(h, "theirs")).await;
    let event = event(h, "mine");
    publish(h, mine, &event).await;
    hears(&mut signals, &event).await;
}

/// Each of several subscribers hears an event.
pub async fn every_subscriber_hears(h: &impl Harness) {
    let inbox = inbox(h);
    let mut all = vec![subscribe(h, inbox).await, subscribe(h, inbox).await];
    all.push(subscribe(h, inbox).await);
    let event = event(h, "to all");
    publish(h, inbox, &event).await;
    for signals in &mut all {
        hears(signals, &event).await;
    }
}

/// The bus keeps nothing for those who come later.
pub async fn nothing_from_before(h: &impl Harness) {
    let inbox = inbox(h);
    publish(h, inbox, &event(h, "before")).await;
    let mut signals = subscribe(h, inbox).await;
    let event = event(h, "behind");
    publish(h, inbox, &event).await;
    hears(&mut signals, &event).await;
}

/// A dropped stream disturbs neither publishers nor other subscribers.
pub async fn a_dropped_stream_ends(h: &impl Harness) {
    let inbox = inbox(h);
    let (first, mut second) = (subscribe(h, inbox).await, subscribe(h, inbox).await);
    drop(first);
    let one = event(h, "one");
    publish(h, inbox, &one).await;
    hears(&mut second, &one).await;
    drop(second);
    let nobody = event(h, "to nobody");
    publish(h, inbox, &nobody).await;
    let mut third = subscribe(h, inbox).await;
    let two = event(h, "two");
    publish(h, inbox, &two).await;
    // A bus between processes may have had the former still under way.
    let heard = next(&mut third).await;
    if heard == Signal::Event(Arc::new(nobody)) {
        hears(&mut third, &two).await;
    } else {
        assert_eq!(heard, Signal::Event(Arc::new(two)));
    }
}

/// Who does not read for long hears every event or a gap, and then goes on.
pub async fn a_slow_subscriber_is_told(h: &impl Harness) {
    let inbox = inbox(h);
    let mut signals = subscribe(h, inbox).await;
    let events: Vec<_> = (0..2000).map(|number| event(h, &number.to_string())).collect();
    for event in &events {
        publish(h, inbox, event).await;
    }
    let mut heard = Vec::new();
    while heard.last() != events.last() {
        match next(&mut signals).await {
            Signal::Event(event) => heard.push((*event).clone()),
            Signal::Gap | Signal::Lagged => break,
        }
    }
    assert!(heard.iter().eq(&events[..heard.len()]), "{}: loss without a gap", h.name());
}
