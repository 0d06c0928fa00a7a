//! Twilio's calls and numbers as its SDKs use them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::World;
use crate::{ActionRefusal, MockAction};

const CALL: &str = "To=%2B15005550010&From=%2B15005550006&Url=http://app.test/voice";
const ALL: &str = "&StatusCallbackEvent=initiated&StatusCallbackEvent=ringing\
                   &StatusCallbackEvent=answered&StatusCallbackEvent=completed";

fn path(world: &World, resource: &str) -> String {
    format!("/2010-04-01/Accounts/{}/{resource}.json", world.credentials["accountSid"])
}

fn called(world: &mut World, form: &str) -> Value {
    let calls = path(world, "Calls");
    let (status, call) = world.ask("POST", &calls, form);
    assert_eq!(status, 201, "{call}");
    call
}

fn fields(body: &str) -> HashMap<String, String> {
    form_urlencoded::parse(body.as_bytes()).into_owned().collect()
}

#[test]
fn a_call_is_dialled_answered_and_ended() {
    let mut world = World::of("twilio");
    let call = called(&mut world, CALL);
    let sid = call["sid"].as_str().unwrap();
    assert!(sid.starts_with("CA") && sid.len() == 34, "{call}");
    assert_eq!(call["status"], "queued");
    let mut told = Vec::new();
    let mut steps = world.out().steps;
    while let Some(step) = steps.pop() {
        assert_eq!(step.after_ms, 200);
        world.act(MockAction::Step(&step)).unwrap();
        steps = world.out().steps;
        told.extend(world.sent().iter().map(|event| fields(&event.body)));
    }
    let statuses: Vec<_> = told.iter().map(|form| form["CallStatus"].as_str()).collect();
    assert_eq!(statuses, ["initiated", "ringing", "in-progress", "completed"]);
    let numbers: Vec<_> = told.iter().map(|form| form["SequenceNumber"].as_str()).collect();
    assert_eq!(numbers, ["0", "1", "2", "3"]);
    assert!(told.iter().all(|form| form["CallSid"] == sid && form["Direction"] == "outbound-api"));
    assert!(told[3].contains_key("CallDuration") && !told[2].contains_key("CallDuration"));
    let one = path(&world, &format!("Calls/{sid}"));
    let (_, ended) = world.ask("GET", &one, "");
    assert_eq!((&ended["status"], &ended["duration"]), (&json!("completed"), &json!("0")));
    assert_eq!(world.ask("DELETE", &one, "").0, 204);
    assert_eq!(world.ask("GET", &one, "").1["code"], 20404);
}

#[test]
fn an_app_is_told_of_what_it_asked_for_at_the_calls_own_address() {
    let own = "&StatusCallback=http://app.test/status";
    let cases = [
        (String::new(), vec!["call.initiated", "call.ringing", "call.answered", "call.completed"]),
        (own.to_owned(), vec!["call.completed"]),
        (format!("{own}&StatusCallbackEvent=ringing"), vec!["call.ringing"]),
        (
            format!("{own}{ALL}"),
            vec!["call.initiated", "call.ringing", "call.answered", "call.completed"],
        ),
    ];
    for (more, wanted) in cases {
        let mut world = World::with("twilio", json!({"pace": "instant"}));
        called(&mut world, &format!("{CALL}{more}"));
        assert_eq!(world.events(), wanted, "{more}");
        let url = if more.is_empty() { "http://app.test/hooks" } else { "http://app.test/status" };
        assert!(world.sent().iter().all(|event| event.url == url), "{more}");
    }
    let mut world = World::of("twilio");
    let calls = path(&world, "Calls");
    assert_eq!(world.ask("POST", &calls, &format!("{CALL}&StatusCallbackEvent=x")).0, 400);
}

#[test]
fn a_call_ends_as_its_number_says() {
    let ends = [("12", "busy"), ("13", "no-answer"), ("14", "failed"), ("15", "completed")];
    for (number, status) in ends {
        let mut world = World::with("twilio", json!({"pace": "instant"}));
        let call = called(&mut world, &CALL.replace("5550010", &format!("55500{number}")));
        assert_eq!(fields(&world.sent().last().unwrap().body)["CallStatus"], status);
        let one = path(&world, &format!("Calls/{}", call["sid"].as_str().unwrap()));
        assert_eq!(world.ask("GET", &one, "").1["status"], status);
    }
}

#[test]
fn an_app_hangs_up() {
    let cases = [
        ("queued", "completed", 200, "completed"),
        ("queued", "canceled", 200, "canceled"),
        ("ringing", "canceled", 200, "canceled"),
        ("in-progress", "completed", 200, "completed"),
        ("in-progress", "canceled", 400, "in-progress"),
        ("completed", "completed", 400, "completed"),
        ("queued", "busy", 400, "queued"),
    ];
    for (state, to, wanted, then) in cases {
        let mut world = World::with("twilio", json!({"pace": "manual"}));
        let call = called(&mut world, CALL);
        let sid = call["sid"].as_str().unwrap();
        while world.objects("calls")[0].state.as_deref() != Some(state) {
            world.act(MockAction::Move { object: sid, to: None }).unwrap();
        }
        let one = path(&world, &format!("Calls/{sid}"));
        let (status, answer) = world.ask("POST", &one, &format!("Status={to}"));
        assert_eq!(status, wanted, "{state} {to}: {answer}");
        assert!(status == 200 || answer["code"] == 21220, "{answer}");
        assert_eq!(world.objects("calls")[0].state.as_deref(), Some(then), "{state} {to}");
    }
}

#[test]
fn a_test_ends_a_call_as_it_likes() {
    let mut world = World::with("twilio", json!({"pace": "manual"}));
    let call = called(&mut world, CALL);
    let sid = call["sid"].as_str().unwrap();
    let to = |to| MockAction::Move { object: sid, to };
    let wrong = world.act(to(Some("busy"))).unwrap_err();
    assert_eq!(wrong, ActionRefusal::State(vec!["ringing", "failed", "canceled"]));
    world.act(to(None)).unwrap();
    world.act(to(Some("busy"))).unwrap();
    assert_eq!(world.events(), ["call.completed"]);
    assert_eq!(world.act(to(None)).unwrap_err(), ActionRefusal::State(Vec::new()));
}

#[test]
fn every_decline_of_calls_and_numbers_comes_by_its_values_and_by_the_setting() {
    for decline in World::of("twilio").provider.declines {
        let code: u32 = decline.code.parse().unwrap();
        for trigger in decline.triggers {
            let (field, value) = trigger.split_once(':').unwrap();
            let value = value.replace('+', "%2B");
            let (resource, form) = match field {
                "call-to" => ("Calls", format!("To={value}&From=%2B15005550006&Twiml=<Response/>")),
                "call-from" => {
                    ("Calls", format!("To=%2B15005550010&From={value}&Url=http://a.test"))
                }
                "buy" => ("IncomingPhoneNumbers", format!("PhoneNumber={value}")),
                "area" => ("IncomingPhoneNumbers", format!("AreaCode={value}")),
                _ => continue,
            };
            let mut world = World::of("twilio");
            let path = path(&world, resource);
            let (status, error) = world.ask("POST", &path, &form);
            assert_eq!((status, &error["code"]), (400, &json!(code)), "{trigger}");
        }
        let mut world = World::with("twilio", json!({"decline": decline.code}));
        let path = path(&world, "Calls");
        assert_eq!(world.ask("POST", &path, CALL).1["code"], code);
    }
}

#[test]
fn what_a_call_lacks_is_told_by_its_code() {
    let strict = json!({"strict": true});
    let cases = [
        (json!({}), CALL.replace("To=", "X="), 21201),
        (json!({}), CALL.replace("From=", "X="), 21213),
        (json!({}), CALL.replace("Url=", "X="), 21205),
        (strict, CALL.replace("5550006", "5550099"), 21210),
    ];
    for (set, form, code) in cases {
        let mut world = World::with("twilio", set);
        let calls = path(&world, "Calls");
        assert_eq!(world.ask("POST", &calls, &form).1["code"], code, "{form}");
    }
}

#[test]
fn lists_of_calls_are_filtered_and_paged_to_the_end() {
    let mut world = World::of("twilio");
    for _ in 0..5 {
        called(&mut world, CALL);
    }
    called(&mut world, &CALL.replace("5550010", "5550011"));
    let calls = path(&world, "Calls");
    let (mut next, mut seen) = (format!("{calls}?PageSize=2&To=%2B15005550010"), Vec::new());
    loop {
        let (_, page) = world.ask("GET", &next, "");
        seen.extend(page["calls"].as_array().unwrap().iter().map(|it| it["sid"].clone()));
        let Some(uri) = page["next_page_uri"].as_str() else { break };
        uri.clone_into(&mut next);
    }
    seen.dedup();
    assert_eq!(seen.len(), 5);
    let (_, none) = world.ask("GET", &format!("{calls}?Status=busy"), "");
    assert_eq!(none["calls"], json!([]));
}

#[test]
fn what_comes_in_is_told_to_its_number() {
    let mut world = World::with("twilio", json!({"pace": "instant"}));
    let numbers = path(&world, "IncomingPhoneNumbers");
    let form =
        "PhoneNumber=%2B15005550006&VoiceUrl=http://app.test/voice&SmsUrl=http://app.test/sms";
    let (status, number) = world.ask("POST", &numbers, form);
    assert_eq!((status, &number["friendly_name"]), (201, &json!("+15005550006")), "{number}");
    assert_eq!(world.ask("POST", &numbers, form).1["code"], 21422, "the mock has it");
    let data = json!({"From": "+491", "To": "+15005550006", "Body": "Hi"});
    let inbound = |event| MockAction::Trigger { event, object: None, data: &data };
    let call = world.act(inbound("call.inbound")).unwrap().object.unwrap();
    assert_eq!(call.object["direction"], "inbound");
    assert_eq!(world.events(), ["call.inbound", "call.answered", "call.completed"]);
    assert_eq!(world.sent()[0].url, "http://app.test/voice");
    assert_eq!(world.sent()[1].url, "http://app.test/hooks");
    world.act(inbound("message.inbound")).unwrap();
    assert_eq!(world.sent()[0].url, "http://app.test/sms");
    let one = path(&world, &format!("IncomingPhoneNumbers/{}", number["sid"].as_str().unwrap()));
    assert_eq!(world.ask("POST", &one, "SmsUrl=&FriendlyName=Shop").1["friendly_name"], "Shop");
    world.act(inbound("message.inbound")).unwrap();
    assert_eq!(world.sent()[0].url, "http://app.test/hooks");
    let (_, listed) = world.ask("GET", &numbers, "");
    assert_eq!(listed["incoming_phone_numbers"][0]["sid"], number["sid"]);
    assert_eq!(world.ask("DELETE", &one, "").0, 204);
    assert_eq!(world.ask("POST", &numbers, "AreaCode=500").0, 201);
    assert_eq!(world.ask("POST", &numbers, "PhoneNumber=abc").1["code"], 21421);
    assert_eq!(world.ask("POST", &numbers, "").1["code"], 21402);
}

#[test]
fn services_and_verifications_are_changed() {
    let mut world = World::of("twilio");
    let (_, service) = world.ask("POST", "/verify/v2/Services", "FriendlyName=Shop");
    let path = format!("/verify/v2/Services/{}", service["sid"].as_str().unwrap());
    assert_eq!(world.ask("POST", &path, "FriendlyName=Bar").1["friendly_name"], "Bar");
    let (_, list) = world.ask("GET", "/verify/v2/Services?PageSize=1", "");
    assert_eq!(
        (&list["services"][0]["friendly_name"], &list["meta"]["key"]),
        (&json!("Bar"), &json!("services"))
    );
    let start = "To=%2B15005550010&Channel=sms";
    let (_, verification) = world.ask("POST", &format!("{path}/Verifications"), start);
    let one = format!("{path}/Verifications/{}", verification["sid"].as_str().unwrap());
    assert_eq!(world.ask("POST", &one, "Status=x").1["code"], 60200);
    assert_eq!(world.ask("POST", &one, "Status=canceled").1["status"], "canceled");
    assert_eq!(world.ask("POST", &one, "Status=approved").0, 400, "it is over");
    assert_eq!(world.ask("DELETE", &path, "").0, 204);
    assert_eq!(world.ask("GET", &path, "").0, 404);
}
