use super::*;
use crate::webhooks::schedule::{RunStart, Schedule};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn endpoint() -> Arc<Endpoint> {
    Arc::new(Endpoint::new(Pacing::SHARED))
}

#[test]
fn as_many_wait_outside_the_backlog_as_are_called_soon() {
    for (latency, most) in [(None, 40), (Some(1), 1_000), (Some(100), 20), (Some(10_000), 4)] {
        let endpoint = endpoint();
        if let Some(latency) = latency {
            endpoint.note_answer(true, millis(latency));
        }
        let first = endpoint.admit(3);
        assert!(first.is_some() && endpoint.admit(most - 2).is_none(), "{latency:?} ms");
        let second = endpoint.admit(most - 3);
        assert!(second.is_some() && endpoint.admit(1).is_none(), "{latency:?} ms");
        drop((first, second));
        // A job that is too large for any endpoint is let in alone.
        let large = endpoint.admit(5_000);
        assert!(large.is_some() && endpoint.admit(1).is_none());
    }
}

#[test]
fn an_endpoint_holds_few_places_of_its_lane() {
    for (latency, most) in [(None, 4), (Some(1), 32), (Some(101), 4)] {
        let endpoint = endpoint();
        if let Some(latency) = latency {
            endpoint.note_answer(true, millis(latency));
        }
        let held: Vec<_> = (0..100).filter_map(|_| endpoint.admit(1)).collect();
        assert_eq!(held.len(), most, "{latency:?} ms");
    }
}

#[test]
fn nobody_overtakes_the_backlog() {
    let (endpoint, now) = (endpoint(), Time::from_millis(1_800_000_000_000));
    let RunStart::Started(run) = Schedule::begin(&endpoint, now, now) else {
        panic!("nobody is at it")
    };
    assert!(endpoint.admit(1).is_none());
    drop(run);
    assert!(endpoint.admit(1).is_some());
}

#[test]
fn failures_lead_to_the_slow_lane_and_good_answers_back() {
    let endpoint = endpoint();
    for ok in [false, false, true, false, false] {
        endpoint.note_answer(ok, millis(1));
    }
    assert_eq!(endpoint.lane(), Lane::Webhook);
    endpoint.note_answer(false, millis(1));
    assert_eq!(endpoint.lane(), Lane::WebhookSlow);
    assert!(endpoint.is_too_slow_for(Lane::Webhook));
    assert!(!endpoint.is_too_slow_for(Lane::WebhookSlow));
    for took in [1, 1, 2_000, 1, 1] {
        endpoint.note_answer(true, millis(took));
    }
    assert_eq!(endpoint.lane(), Lane::WebhookSlow);
    endpoint.note_answer(true, millis(1));
    assert_eq!(endpoint.lane(), Lane::Webhook);
}

#[test]
fn slow_answers_lead_to_the_slow_lane_too() {
    let endpoint = endpoint();
    for number in 0..20 {
        let took = if number % 2 == 0 { 5_001 } else { 1 };
        endpoint.note_answer(true, millis(took));
    }
    assert_eq!(endpoint.lane(), Lane::Webhook);
    for _ in 0..2 {
        endpoint.note_answer(true, millis(5_001));
    }
    assert_eq!(endpoint.lane(), Lane::WebhookSlow);
}
