//! Segment as its SDKs use it.

use serde_json::{Value, json};

use super::World;

fn track(id: &str) -> Value {
    json!({
        "type": "track", "userId": "ada", "event": "Signed Up", "messageId": id,
        "timestamp": "2026-01-02T03:04:05.000Z",
    })
}

fn send(world: &mut World, events: &Value) -> (u16, Value) {
    let batch =
        json!({"batch": events, "sentAt": "2026-01-02T03:04:06.000Z", "context": {"app": "x"}});
    world.ask_json("POST", "/v1/batch", &batch)
}

#[test]
fn a_batch_is_kept_event_by_event_and_a_repeat_is_one() {
    let mut world = World::of("segment");
    let events = json!([track("m1"), track("m2")]);
    assert_eq!(send(&mut world, &events), (200, json!({"success": true})));
    assert_eq!(send(&mut world, &events).0, 200);
    let kept = world.objects("events");
    assert_eq!(kept.len(), 2);
    let event = &kept[0].object;
    assert_eq!(event["originalTimestamp"], "2026-01-02T03:04:05.000Z");
    // It happened a second before it was sent, and is received now.
    assert_eq!(event["timestamp"], "2027-01-15T07:59:59.002Z");
    assert_eq!((&event["context"]["app"], &event["type"]), (&json!("x"), &json!("track")));
}

#[test]
fn each_type_has_its_own_path_and_the_key_may_be_in_the_body() {
    let mut world = World::of("segment");
    let key = world.credentials["writeKey"].clone();
    for of_type in ["track", "identify", "page", "screen", "group", "alias"] {
        let event = json!({"userId": 7, "groupId": "g", "previousId": "p", "writeKey": key});
        let mut call = world.request("POST", &format!("/v1/{of_type}"), &event.to_string());
        call.headers.pop();
        call.headers[0].1 = "text/plain".to_owned();
        let answer = world.call(&call);
        assert_eq!(answer.reply.status, 200, "{of_type}");
        assert!(answer.touched.contains(&"7".to_owned()), "{of_type}");
    }
    let kept = world.objects("events");
    assert_eq!(kept.len(), 6);
    assert!(kept.iter().all(|event| event.object.get("writeKey").is_none()));
}

#[test]
fn profiles_are_what_was_said_of_them() {
    let mut world = World::of("segment");
    let events = json!([
        {"type": "identify", "anonymousId": "a", "traits": {"plan": "free", "from": "ad"}},
        {"type": "identify", "userId": "ada", "traits": {"name": "Ada"}},
        {"type": "alias", "userId": "ada", "previousId": "a"},
        {"type": "identify", "userId": "ada", "traits": {"plan": "pro"}},
        {"type": "group", "userId": "ada", "groupId": "acme", "traits": {"seats": 3}},
    ]);
    assert_eq!(send(&mut world, &events).0, 200);
    let profiles = world.objects("profiles");
    let traits = |id: &str| &profiles.iter().find(|it| it.id == id).unwrap().object["traits"];
    assert_eq!(*traits("user:ada"), json!({"plan": "pro", "from": "ad", "name": "Ada"}));
    assert_eq!(*traits("group:acme"), json!({"seats": 3}));
}

#[test]
fn a_batch_of_many_people_asks_for_them_at_once() {
    let mut world = World::of("segment");
    let person = |number: usize| json!({"type": "identify", "userId": number, "traits": {"bio": "x".repeat(600)}});
    let people: Vec<_> = (0..100).map(person).collect();
    assert_eq!(send(&mut world, &json!(people)).0, 200);
    assert_eq!(world.objects("profiles").len(), 100);
}

#[test]
fn what_is_too_large_or_broken_is_refused() {
    let mut world = World::of("segment");
    let long = "x".repeat(33 << 10);
    let cases = [
        json!([{"type": "track", "event": long}]),
        json!([{"type": "dance"}]),
        json!(["track"]),
        json!({}),
        json!([{"type": "track", "messageId": "m".repeat(256)}]),
        json!(vec![json!({"type": "track", "event": "x".repeat(30 << 10)}); 17]),
    ];
    for events in cases {
        let (status, error) = send(&mut world, &events);
        assert_eq!((status, &error["code"]), (400, &json!("invalid_request")));
    }
    let call = world.request("POST", "/v1/track", "{");
    let mut broken = call.clone();
    broken.headers[0].1 = "application/json".to_owned();
    assert_eq!(world.call(&broken).reply.status, 400);
    let mut gzip = call;
    gzip.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
    assert_eq!(world.call(&gzip).reply.status, 400);
    let huge = "x".repeat(2 << 20);
    assert_eq!(world.ask("POST", "/v1/track", &huge).0, 413);
    assert!(world.objects("events").is_empty());
}
