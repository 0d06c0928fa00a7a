use super::*;

fn now() -> Time {
    Time::from_millis(1_800_000_000_000)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

async fn slots(endpoint: &Endpoint, count: usize) -> Vec<OwnedSemaphorePermit> {
    let mut held = Vec::new();
    for _ in 0..count {
        match endpoint.turn(Lane::Webhook, false, now()).await {
            Turn::Now(slot) => held.push(slot),
            Turn::Later(..) => panic!("a slot is free"),
        }
    }
    held
}

async fn put_off(endpoint: &Endpoint) -> (Lane, Duration) {
    match endpoint.turn(Lane::Webhook, false, now()).await {
        Turn::Now(_) => panic!("no slot is free"),
        Turn::Later(lane, due) => (lane, due.since(now())),
    }
}

#[tokio::test]
async fn four_calls_run_and_the_rest_gets_a_turn_of_its_own() {
    let endpoint = Endpoint::default();
    let held = slots(&endpoint, 4).await;
    endpoint.answered(true, millis(400));
    let turns = [put_off(&endpoint).await, put_off(&endpoint).await, put_off(&endpoint).await];
    assert_eq!(turns, [100, 200, 300].map(|due| (Lane::Webhook, millis(due))));
    drop(held);
    // Who comes now goes behind those who were put off; these may use what is free.
    assert_eq!(put_off(&endpoint).await.1, millis(400));
    assert!(matches!(endpoint.turn(Lane::Webhook, true, now()).await, Turn::Now(_)));
}

#[tokio::test]
async fn a_quick_endpoint_has_several_turns_in_a_millisecond() {
    let cases = [(2_000, 500), (1_000, 250), (1, 100)];
    for (pace_micros, step_micros) in cases {
        let endpoint = Endpoint::default();
        endpoint.answered(true, Duration::from_micros(pace_micros));
        let mut state = endpoint.state();
        let last = (0..1000).map(|_| state.book(now())).last();
        let expected = now().after(Duration::from_micros(step_micros * 1000));
        assert_eq!(last, Some(expected), "{pace_micros} µs");
    }
}

#[tokio::test]
async fn a_long_line_is_spread_and_never_far_away() {
    let endpoint = Endpoint::default();
    let _held = slots(&endpoint, 4).await;
    endpoint.answered(false, Duration::from_secs(10));
    let mut by_minute = [0; 11];
    for _ in 0..50_000 {
        let (_, due) = put_off(&endpoint).await;
        assert!(due <= FARTHEST, "{due:?}");
        by_minute[usize::try_from(due.as_secs() / 60).unwrap_or(usize::MAX)] += 1;
    }
    assert!(by_minute.iter().all(|jobs| *jobs < 15_000), "{by_minute:?}");
}

#[tokio::test]
async fn a_fast_endpoint_keeps_a_few_waiting_and_no_more() {
    let endpoint = Arc::new(Endpoint::default());
    let mut held = slots(&endpoint, 4).await;
    endpoint.answered(true, millis(1));
    let waiting: Vec<_> = (0..WAITING)
        .map(|_| {
            let endpoint = endpoint.clone();
            tokio::spawn(async move { endpoint.turn(Lane::Webhook, false, now()).await })
        })
        .collect();
    while endpoint.state().waiting < WAITING {
        tokio::task::yield_now().await;
    }
    assert_eq!(put_off(&endpoint).await.1, SOONEST);
    held.clear();
    for turn in waiting {
        assert!(matches!(turn.await, Ok(Turn::Now(_))));
    }
    assert_eq!(endpoint.state().waiting, 0);
}

#[tokio::test]
async fn failures_lead_to_the_slow_lane_and_good_answers_back() {
    let endpoint = Endpoint::default();
    for ok in [false, false, true, false, false] {
        endpoint.answered(ok, millis(1));
    }
    drop(slots(&endpoint, 1).await);
    endpoint.answered(false, millis(1));
    assert_eq!(put_off(&endpoint).await, (Lane::WebhookSlow, Duration::ZERO));
    assert!(matches!(endpoint.turn(Lane::WebhookSlow, true, now()).await, Turn::Now(_)));
    for took in [1, 1, 2_000, 1, 1] {
        endpoint.answered(true, millis(took));
    }
    assert_eq!(put_off(&endpoint).await.0, Lane::WebhookSlow);
    endpoint.answered(true, millis(1));
    drop(slots(&endpoint, 4).await);
}

#[tokio::test]
async fn slow_answers_lead_to_the_slow_lane_too() {
    let endpoint = Endpoint::default();
    for number in 0..20 {
        let took = if number % 2 == 0 { 5_001 } else { 1 };
        endpoint.answered(true, millis(took));
    }
    assert!(!endpoint.state().slow);
    for _ in 0..2 {
        endpoint.answered(true, millis(5_001));
    }
    assert!(endpoint.state().slow);
}
