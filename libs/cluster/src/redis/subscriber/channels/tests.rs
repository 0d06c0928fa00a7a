#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::oneshot::{Receiver, error::TryRecvError};
use trapline_store::{LiveEvent, SignalStream};
use uuid::Uuid;

use super::*;

const INBOX: InboxId = InboxId(Uuid::from_u128(1));
const SUBSCRIBE: Option<(Verb, InboxId)> = Some((Verb::Subscribe, INBOX));
const UNSUBSCRIBE: Option<(Verb, InboxId)> = Some((Verb::Unsubscribe, INBOX));

fn channels() -> (Channels, Fanout) {
    let fanout = Fanout::default();
    (Channels::new(fanout.clone()), fanout)
}

fn join(channels: &mut Channels) -> (SignalStream, Receiver<()>) {
    let signals = channels.fanout.listen(INBOX);
    let (sender, active) = oneshot::channel();
    channels.joined(INBOX, sender);
    (signals, active)
}

fn leave(channels: &mut Channels, signals: SignalStream) {
    drop(signals);
    channels.left(INBOX);
}

/// One who listens on an active channel.
fn joined(channels: &mut Channels) -> SignalStream {
    let (signals, mut active) = join(channels);
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
    assert_eq!(channels.next(), None);
    signals
}

fn hears(signals: &mut SignalStream) -> Option<Signal> {
    signals.next().now_or_never().flatten()
}

#[test]
fn a_listener_waits_for_the_confirmation() {
    let (mut channels, _) = channels();
    let (mut signals, mut active) = join(&mut channels);
    assert_eq!((channels.next(), channels.next()), (SUBSCRIBE, None));
    assert_eq!(active.try_recv(), Err(TryRecvError::Empty));
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
    assert_eq!(hears(&mut signals), None);
}

#[test]
fn a_second_listener_shares_the_channel() {
    let (mut channels, _) = channels();
    let first = joined(&mut channels);
    let (second, mut active) = join(&mut channels);
    active.try_recv().unwrap();
    drop(first);
    assert_eq!(channels.next(), None);
    leave(&mut channels, second);
    assert_eq!((channels.next(), channels.next()), (UNSUBSCRIBE, None));
    channels.unsubscribed(INBOX);
    assert_eq!(channels.next(), None);
    assert!(channels.known.is_empty());
}

#[test]
fn who_comes_while_the_last_goes_waits_for_a_new_confirmation() {
    let (mut channels, _) = channels();
    let first = joined(&mut channels);
    leave(&mut channels, first);
    assert_eq!(channels.next(), UNSUBSCRIBE);
    let (mut second, mut active) = join(&mut channels);
    assert_eq!(channels.next(), None);
    channels.unsubscribed(INBOX);
    assert_eq!(active.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
    assert_eq!(hears(&mut second), None);
}

#[test]
fn who_goes_before_the_confirmation_is_unsubscribed_after_it() {
    let (mut channels, _) = channels();
    let (signals, _active) = join(&mut channels);
    assert_eq!(channels.next(), SUBSCRIBE);
    leave(&mut channels, signals);
    assert_eq!(channels.next(), None);
    channels.subscribed(INBOX);
    assert_eq!(channels.next(), UNSUBSCRIBE);
}

#[test]
fn who_gave_up_waiting_hears_of_a_gap() {
    let (mut channels, _) = channels();
    let (mut signals, active) = join(&mut channels);
    drop(active);
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    assert_eq!(hears(&mut signals), Some(Signal::Gap));
}

#[test]
fn a_lost_connection_is_a_gap_once_all_is_subscribed_again() {
    let (mut channels, fanout) = channels();
    let mut signals = joined(&mut channels);
    channels.disconnected();
    let (mut late, mut active) = join(&mut channels);
    assert_eq!((hears(&mut signals), channels.next(), channels.next()), (None, SUBSCRIBE, None));
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
    let event = Signal::Event(Arc::new(LiveEvent::InboxUpdated { changed: None }));
    fanout.send(INBOX, event.clone());
    for signals in [&mut signals, &mut late] {
        assert_eq!(hears(signals), Some(Signal::Gap));
        assert_eq!(hears(signals), Some(event.clone()));
    }
}

#[test]
fn a_command_lost_with_the_connection_is_sent_again() {
    let (mut channels, _) = channels();
    let (mut signals, mut active) = join(&mut channels);
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.disconnected();
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
    assert_eq!(hears(&mut signals), None);
}

#[test]
fn a_subscription_that_the_server_ends_is_made_anew() {
    let (mut channels, _) = channels();
    let mut signals = joined(&mut channels);
    channels.unsubscribed(INBOX);
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    assert_eq!(hears(&mut signals), Some(Signal::Gap));
}

#[test]
fn what_failed_is_tried_again_later() {
    let (mut channels, _) = channels();
    let (_signals, mut active) = join(&mut channels);
    assert_eq!(channels.next(), SUBSCRIBE);
    assert!(channels.failed(INBOX));
    assert_eq!(channels.next(), None);
    channels.retry();
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.subscribed(INBOX);
    active.try_recv().unwrap();
}

#[test]
fn a_confirmation_that_nobody_waits_for_any_more_is_undone() {
    let (mut channels, _) = channels();
    let (signals, _active) = join(&mut channels);
    assert_eq!(channels.next(), SUBSCRIBE);
    channels.failed(INBOX);
    leave(&mut channels, signals);
    assert_eq!(channels.next(), None);
    assert!(channels.known.is_empty());
    channels.subscribed(INBOX);
    assert_eq!(channels.next(), UNSUBSCRIBE);
}
