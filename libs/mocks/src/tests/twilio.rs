//! Twilio as its SDKs use it.

use serde_json::{Value, json};

use super::World;
use crate::{ActionRefusal, MockAction};

const TO: &str = "To=%2B15005550010&From=%2B15005550006";

fn messages(world: &World) -> String {
    format!("/2010-04-01/Accounts/{}/Messages.json", world.credentials["accountSid"])
}

#[test]
fn a_message_is_sent_delivered_and_told_of() {
    let mut world = World::of("twilio");
    let path = messages(&world);
    let (status, message) = world.ask("POST", &path, &format!("{TO}&Body=Hello"));
    assert_eq!(
        (status, &message["status"], &message["num_segments"]),
        (201, &json!("queued"), &json!("1"))
    );
    assert!(world.events().is_empty());
    let step = &world.out().steps[0];
    assert_eq!((step.from.as_str(), step.after_ms), ("queued", 200));
    world.go_on();
    assert_eq!(world.events(), ["message.delivered"]);
    let sent = &world.sent()[0];
    assert_eq!(sent.content_type, "application/x-www-form-urlencoded");
    assert!(
        sent.body.contains("MessageStatus=delivered") && sent.body.contains("From=%2B15005550006")
    );
    let one = path.replace(".json", &format!("/{}.json", message["sid"].as_str().unwrap()));
    assert_eq!(world.ask("GET", &one, "").1["status"], "delivered");
    assert_eq!(world.ask("POST", &one, "Body=").1["body"], "");
    assert_eq!(world.ask("DELETE", &one, "").0, 204);
    assert_eq!(world.ask("GET", &one, "").1["code"], 20404);
    let callback = format!("{TO}&Body=Hello&StatusCallback=http://app.test/status");
    world.set = json!({"pace": "instant"});
    world.ask("POST", &path, &callback);
    assert_eq!(world.events(), ["message.sent", "message.delivered"]);
    assert!(world.sent().iter().all(|event| event.url == "http://app.test/status"));
}

#[test]
fn a_message_goes_where_a_test_wants_it() {
    let mut world = World::with("twilio", json!({"pace": "manual"}));
    let path = messages(&world);
    let sid = world.ask("POST", &path, &format!("{TO}&Body=Hello")).1["sid"].clone();
    let sid = sid.as_str().unwrap();
    assert!(world.out().steps.is_empty());
    let to = |state| MockAction::Move { object: sid, to: state };
    assert_eq!(world.act(to(None)).unwrap().object.unwrap().state.as_deref(), Some("sent"));
    let wrong = world.act(to(Some("queued"))).unwrap_err();
    assert_eq!(wrong, ActionRefusal::State(vec!["delivered", "undelivered"]));
    let lost = world.act(to(Some("undelivered"))).unwrap();
    assert_eq!((lost.sent, world.events()), (1, vec!["message.undelivered".to_owned()]));
    assert!(world.sent()[0].body.contains("ErrorCode=30003"));
    let over = world.act(to(None)).unwrap_err();
    assert_eq!(over, ActionRefusal::State(Vec::new()));
    let none = MockAction::Move { object: "SM0", to: None };
    assert_eq!(world.act(none).unwrap_err(), ActionRefusal::NoObject);
    let sid = world.ask("POST", &path, &format!("{TO}&Body=Hello")).1["sid"].clone();
    let one = path.replace(".json", &format!("/{}.json", sid.as_str().unwrap()));
    assert_eq!(world.ask("POST", &one, "Status=canceled").1["status"], "canceled");
    assert_eq!(world.ask("POST", &one, "Status=canceled").0, 400);
}

#[test]
fn somebody_writes_to_the_app() {
    let mut world = World::of("twilio");
    let data = json!({"From": "+491", "To": "+492", "Body": "Hi"});
    let inbound = |data| MockAction::Trigger { event: "message.inbound", object: None, data };
    let done = world.act(inbound(&data)).unwrap();
    assert_eq!(done.object.unwrap().object["direction"], "inbound");
    let body = &world.sent()[0].body;
    assert!(body.contains("From=%2B491") && body.contains("NumSegments=1"), "{body}");
    let lacks = world.act(inbound(&json!({"From": "+491"}))).unwrap_err();
    assert!(matches!(lacks, ActionRefusal::Data { field, .. } if field == "To"));
    let unknown = MockAction::Trigger { event: "call", object: None, data: &data };
    assert_eq!(
        world.act(unknown).unwrap_err(),
        ActionRefusal::Event(vec!["message.inbound", "call.inbound"])
    );
}

#[test]
fn a_strict_mock_sends_from_one_number() {
    let mut world = World::with("twilio", json!({"strict": true}));
    let path = messages(&world);
    assert_eq!(world.ask("POST", &path, &format!("{TO}&Body=x")).0, 201);
    let other = "To=%2B15005550010&From=%2B15005550099&Body=x";
    assert_eq!(world.ask("POST", &path, other).1["code"], 21606);
    world.set = json!({});
    assert_eq!(world.ask("POST", &path, other).0, 201);
}

#[test]
fn every_decline_comes_by_its_values_and_by_the_setting() {
    for decline in World::of("twilio").provider.declines {
        let code: u32 = decline.code.parse().unwrap();
        for trigger in decline.triggers {
            let (field, number) = trigger.split_once(':').unwrap();
            if !["to", "from"].contains(&field) {
                continue;
            }
            let number = number.replace('+', "%2B");
            let form = match field {
                "to" => format!("To={number}&From=%2B15005550006&Body=x"),
                _ => format!("To=%2B15005550010&From={number}&Body=x"),
            };
            let mut world = World::of("twilio");
            let path = messages(&world);
            let (status, error) = world.ask("POST", &path, &form);
            assert_eq!((status, &error["code"]), (400, &json!(code)), "{trigger}");
        }
        let mut world = World::with("twilio", json!({"decline": decline.code}));
        let path = messages(&world);
        assert_eq!(world.ask("POST", &path, &format!("{TO}&Body=x")).1["code"], code);
    }
}

#[test]
fn what_a_message_lacks_is_told_by_its_code() {
    let long = format!("{TO}&Body={}", "x".repeat(1_601));
    let cases = [("From=1&Body=x", 21604), ("To=1&Body=x", 21603), (TO, 21602), (&long, 21617)];
    for (form, code) in cases {
        let mut world = World::of("twilio");
        let path = messages(&world);
        assert_eq!(world.ask("POST", &path, form).1["code"], code);
    }
}

#[test]
fn text_that_is_not_plain_takes_more_segments() {
    for (letter, count, segments) in
        [("x", 160, "1"), ("x", 161, "2"), ("%E2%98%83", 70, "1"), ("%E2%98%83", 71, "2")]
    {
        let mut world = World::of("twilio");
        let path = messages(&world);
        let form = format!("{TO}&Body={}", letter.repeat(count));
        assert_eq!(world.ask("POST", &path, &form).1["num_segments"], segments, "{letter} {count}");
    }
}

#[test]
fn a_page_reads_no_more_than_comes_before_it_and_one_behind() {
    let mut world = World::of("twilio");
    let path = messages(&world);
    for _ in 0..30 {
        world.ask("POST", &path, &format!("{TO}&Body=x"));
    }
    for (query, read) in [("PageSize=10", 11), ("PageSize=10&Page=1", 21), ("PageSize=10&To=x", 30)]
    {
        assert_eq!(world.ask("GET", &format!("{path}?{query}"), "").0, 200);
        assert_eq!(world.listed.get(), read, "{query}");
    }
}

#[test]
fn lists_are_paged_to_the_end() {
    let mut world = World::of("twilio");
    let path = messages(&world);
    for _ in 0..5 {
        world.ask("POST", &path, &format!("{TO}&Body=x"));
    }
    let (mut next, mut seen) = (format!("{path}?PageSize=2"), Vec::new());
    loop {
        let (_, page) = world.ask("GET", &next, "");
        let ids = page["messages"].as_array().unwrap().iter().map(|it| it["sid"].clone());
        seen.extend(ids);
        match &page["next_page_uri"] {
            Value::String(uri) => next.clone_from(uri),
            _ => break,
        }
    }
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[test]
fn a_code_is_checked() {
    let mut world = World::with("twilio", json!({"code": "4711"}));
    let (_, service) = world.ask("POST", "/verify/v2/Services", "FriendlyName=Shop");
    let path = format!("/verify/v2/Services/{}", service["sid"].as_str().unwrap());
    let check = |world: &mut World, code: &str| {
        let form = format!("To=%2B15005550010&Code={code}");
        world.ask("POST", &format!("{path}/VerificationCheck"), &form)
    };
    assert_eq!(check(&mut world, "4711").0, 404, "nothing was sent");
    let start = "To=%2B15005550010&Channel=sms";
    assert_eq!(world.ask("POST", &format!("{path}/Verifications"), start).1["status"], "pending");
    let (_, wrong) = check(&mut world, "1");
    assert_eq!((&wrong["status"], &wrong["valid"]), (&json!("pending"), &json!(false)));
    let (_, right) = check(&mut world, "4711");
    assert_eq!((&right["status"], &right["valid"]), (&json!("approved"), &json!(true)));
    assert_eq!(check(&mut world, "4711").0, 404, "it is used up");
    world.ask("POST", &format!("{path}/Verifications"), start);
    for _ in 0..5 {
        assert_eq!(check(&mut world, "1").0, 200);
    }
    assert_eq!(check(&mut world, "4711").1["code"], 60202);
}
