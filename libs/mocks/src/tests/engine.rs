//! What the engine does for every provider, shown with one.

use proptest::prelude::*;
use serde_json::json;

use super::World;
use crate::{InjectedFault, MockCall};

const CREATE: &str = "amount=1000&currency=usd";
const INTENTS: &str = "/v1/payment_intents";

#[test]
fn next_is_consumed_in_order_by_calls_that_fit() {
    let next = json!([
        {"fault": "server", "method": "POST"},
        {"fault": "rate_limit", "path": "/v1/*/pi_*"},
        {"decline": "lost_card", "times": 2},
    ]);
    let mut world = World::with("stripe", json!({"next": next}));
    let (status, error) = world.ask("POST", INTENTS, CREATE);
    assert_eq!((status, &error["error"]["type"]), (500, &json!("api_error")));
    assert!(world.objects("payments").is_empty());
    assert_eq!(world.ask("GET", "/v1/payment_intents/pi_x", "").0, 429);
    let confirm = format!("{CREATE}&confirm=true&payment_method=pm_card_visa");
    for _ in 0..2 {
        let (status, error) = world.ask("POST", INTENTS, &confirm);
        assert_eq!((status, &error["error"]["decline_code"]), (402, &json!("lost_card")));
    }
    assert_eq!(world.ask("POST", INTENTS, &confirm).0, 200);
}

#[test]
fn a_stranger_consumes_nothing() {
    let mut world = World::with("stripe", json!({"next": [{"fault": "server"}]}));
    let stranger = MockCall { headers: Vec::new(), ..world.request("POST", INTENTS, CREATE) };
    assert_eq!(world.call(&stranger).reply.status, 401);
    assert_eq!(world.ask("POST", INTENTS, CREATE).0, 500);
    assert_eq!(world.ask("POST", INTENTS, CREATE).0, 200);
}

#[test]
fn a_key_repeats_the_answer_and_no_other_call() {
    let mut world = World::of("stripe");
    let with_key = |world: &World, form: &str, key: &str| {
        let mut call = world.request("POST", INTENTS, form);
        call.headers.push(("idempotency-key".to_owned(), key.to_owned()));
        call
    };
    let call = with_key(&world, CREATE, "k1");
    let (first, again) = (world.call(&call), world.call(&call));
    assert_eq!(first.reply.body, again.reply.body);
    assert!(!first.replayed && again.replayed && !again.sends && again.writes.is_empty());
    assert_eq!(world.objects("payments").len(), 1);
    let other = with_key(&world, "amount=2000&currency=usd", "k1");
    let refused = world.call(&other).reply;
    assert!(refused.status == 400 && refused.body.contains("idempotency_error"));
    let long = with_key(&world, CREATE, &"k".repeat(256));
    assert_eq!(world.call(&long).reply.status, 400);
}

#[test]
fn an_injected_failure_is_not_remembered_by_a_key() {
    let mut world = World::with("stripe", json!({"next": [{"fault": "unavailable"}]}));
    let mut call = world.request("POST", INTENTS, CREATE);
    call.headers.push(("idempotency-key".to_owned(), "k".to_owned()));
    assert_eq!(world.call(&call).reply.status, 503);
    assert_eq!(world.call(&call).reply.status, 200);
}

#[test]
fn a_decline_is_remembered_by_a_key() {
    let mut world = World::with("stripe", json!({"next": [{"decline": "lost_card"}]}));
    let form = format!("{CREATE}&confirm=true&payment_method=pm_card_visa");
    let mut call = world.request("POST", INTENTS, &form);
    call.headers.push(("idempotency-key".to_owned(), "k".to_owned()));
    let (first, again) = (world.call(&call), world.call(&call));
    assert_eq!((first.reply.status, again.reply.status), (402, 402));
    assert_eq!(world.objects("charges").len(), 1);
}

#[test]
fn rates_and_error_rates_hold() {
    let mut world = World::with("stripe", json!({"rateLimit": {"perMinute": 5}}));
    assert_eq!(world.ask("POST", INTENTS, CREATE).0, 200);
    world.allowance = Err(17);
    let call = world.request("POST", INTENTS, CREATE);
    let limited = world.call(&call);
    assert_eq!((limited.reply.status, limited.fault.as_deref()), (429, Some("rate_limit")));
    assert!(limited.reply.headers.contains(&("retry-after".to_owned(), "17".to_owned())));
    let mut world = World::with("stripe", json!({"errorRate": 1, "errorKind": "unavailable"}));
    assert_eq!(world.ask("POST", INTENTS, CREATE).0, 503);
}

#[test]
fn faults_of_the_connection_are_handed_on() {
    let cases = [
        ("timeout", InjectedFault::Timeout),
        ("reset", InjectedFault::Reset),
        ("malformed", InjectedFault::Malformed),
    ];
    for (fault, wanted) in cases {
        let mut world = World::with("stripe", json!({"next": [{"fault": fault}]}));
        let call = world.request("POST", INTENTS, CREATE);
        let answer = world.call(&call);
        assert_eq!((answer.injected, answer.fault.as_deref()), (Some(wanted), Some(fault)));
    }
}

#[test]
fn webhooks_are_as_the_settings_say() {
    let twice = json!({"webhooks": {
        "duplicate": 1, "delayMs": 50, "badSignature": true, "staleBySeconds": 600,
        "events": ["payment_intent.succeeded"],
    }});
    let mut world = World::with("stripe", twice);
    let form = format!("{CREATE}&confirm=true&payment_method=pm_card_visa");
    world.ask("POST", INTENTS, &form);
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|event| event.bad_signature && event.delay_ms == 50));
    assert_eq!((sent[0].stale_by_seconds, &sent[0].body), (600, &sent[1].body));
    for silent in [json!({"webhooks": {"enabled": false}}), json!({"webhooks": {"dropRate": 1}})] {
        let mut world = World::with("stripe", silent);
        world.ask("POST", INTENTS, &form);
        assert!(world.sent().iter().all(|event| event.dropped));
    }
}

#[test]
fn what_a_mock_sent_makes_no_other_mock_send() {
    let mut world = World::of("stripe");
    let mut call = world.request("POST", INTENTS, CREATE);
    call.headers.push(("x-trapline-delivery".to_owned(), "d".to_owned()));
    let answer = world.call(&call);
    assert!(answer.reply.status == 200 && !answer.sends);
}

#[test]
fn a_seed_makes_calls_repeatable() {
    let create = || {
        let mut world = World::with(
            "stripe",
            json!({"seed": 7, "clock": {"at": "2026-01-02T03:04:05.000Z", "frozen": true}}),
        );
        (
            world.ask("POST", INTENTS, CREATE).1["id"].clone(),
            world.ask("POST", INTENTS, CREATE).1["id"].clone(),
        )
    };
    let (one, other) = create();
    assert_ne!(one, other);
    assert_eq!((one, other), create());
}

#[test]
fn what_is_too_large_is_refused_and_keeps_nothing() {
    let mut world = World::of("stripe");
    let noise = crate::Chance::new([1; 32]).base62(30_000);
    let form = format!("{CREATE}&description={noise}");
    assert_eq!(world.ask("POST", INTENTS, &form).0, 413);
    assert!(world.objects("payments").is_empty() && world.sent().is_empty());
    let form = format!("{CREATE}&description={}", "x".repeat(world.provider.max_body));
    assert_eq!(world.ask("POST", INTENTS, &form).0, 413);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_call_is_a_panic_or_a_failure_of_the_server(
        route in 0_usize..64,
        id in "[a-z_%/0-9]{0,12}",
        form in "[a-z_]{0,10}(\\[[a-z0-9]{0,4}\\]){0,3}=[a-z0-9_]{0,8}(&(amount|currency|customer|expand\\[\\]|metadata|url|limit)=[a-z0-9-]{0,9}){0,5}",
    ) {
        for provider in crate::ALL {
            let mut world = World::of(provider.id);
            let operations: Vec<_> = provider.operations().collect();
            let (method, path) = operations[route % operations.len()];
            let path = path.replace("{id}", &id);
            let call = world.request(method, &path, &form);
            let answer = world.call(&call);
            prop_assert!(answer.reply.status < 500, "{method} {path} {form}: {}", answer.reply.body);
        }
    }
}
