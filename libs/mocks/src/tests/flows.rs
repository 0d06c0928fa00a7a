//! What happens without a call: steps, pages, and what comes from outside.

use serde_json::{Value, json};

use super::{PAGES, World};
use crate::{ActionRefusal, DueStep, MockAction, is_page_proof, page};

const SESSION: &str = "mode=payment&success_url=https://app.test/done?s={CHECKOUT_SESSION_ID}\
    &cancel_url=https://app.test/cart&line_items[0][price_data][currency]=usd\
    &line_items[0][price_data][unit_amount]=1250&line_items[0][quantity]=2\
    &line_items[0][price_data][product_data][name]=Tea";
const SECURE: &str = "amount=1000&currency=usd&confirm=true\
    &payment_method=pm_card_threeDSecure2Required&return_url=https://app.test/back?a=1%23top";

fn session(world: &mut World) -> Value {
    let (status, session) = world.ask("POST", "/v1/checkout/sessions", SESSION);
    assert_eq!(status, 200, "{session}");
    session
}

fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap()
}

#[test]
fn a_session_is_paid_on_its_page() {
    let mut world = World::of("stripe");
    let session = session(&mut world);
    assert_eq!((&session["amount_total"], &session["status"]), (&json!(2500), &json!("open")));
    assert!(world.out().steps.is_empty(), "a person decides");
    let url = session["url"].as_str().unwrap();
    let (path, proof) = url.split_once("?k=").unwrap();
    assert_eq!(path, format!("{}/_/sessions/{}", PAGES.base_url, id(&session)));
    assert!(is_page_proof(PAGES.key, "sessions", id(&session), proof));
    assert!(!is_page_proof("other", "sessions", id(&session), proof));
    assert!(!is_page_proof(PAGES.key, "sessions", "cs_test_other", proof));
    let shown = page(world.provider, &world.objects("sessions")[0]).unwrap();
    assert_eq!(
        (shown.title.as_str(), shown.buttons.as_slice()),
        ("Pay 25.00 USD", &[("complete", "Pay")][..])
    );
    assert_eq!(shown.cancel.as_deref(), Some("https://app.test/cart"));
    let pay = MockAction::Decide { kind: "sessions", id: id(&session), to: "complete" };
    let done = world.act(pay).unwrap().object.unwrap();
    assert_eq!(
        (&done.object["payment_status"], &done.object["url"]),
        (&json!("paid"), &Value::Null)
    );
    assert_eq!(
        world.events(),
        [
            "payment_intent.created",
            "charge.succeeded",
            "payment_intent.succeeded",
            "checkout.session.completed"
        ]
    );
    let shown = page(world.provider, &done).unwrap();
    assert_eq!(shown.back.unwrap(), format!("https://app.test/done?s={}", id(&session)));
    assert!(shown.buttons.is_empty() && shown.cancel.is_none());
    assert_eq!(world.act(pay).unwrap_err(), ActionRefusal::State(Vec::new()));
    assert_eq!(world.objects("charges").len(), 1);
}

#[test]
fn a_session_that_is_declined_stays_open() {
    let mut world = World::with("stripe", json!({"decline": "lost_card"}));
    let session = session(&mut world);
    let pay = MockAction::Decide { kind: "sessions", id: id(&session), to: "complete" };
    assert_eq!(world.act(pay).unwrap().object.unwrap().state.as_deref(), Some("open"));
    assert_eq!(
        world.events(),
        ["payment_intent.created", "charge.failed", "payment_intent.payment_failed"]
    );
    world.set = json!({});
    assert_eq!(world.act(pay).unwrap().object.unwrap().state.as_deref(), Some("complete"));
}

#[test]
fn a_session_ends_and_nobody_but_a_test_ends_it() {
    let mut world = World::of("stripe");
    let one = session(&mut world);
    let end = MockAction::Decide { kind: "sessions", id: id(&one), to: "expired" };
    assert_eq!(world.act(end).unwrap_err(), ActionRefusal::State(vec!["complete"]));
    let end = MockAction::Move { object: id(&one), to: Some("expired") };
    world.act(end).unwrap();
    assert_eq!(world.events(), ["checkout.session.expired"]);
    let other = session(&mut world);
    let path = format!("/v1/checkout/sessions/{}/expire", id(&other));
    assert_eq!(world.ask("POST", &path, "").1["status"], "expired");
    assert_eq!(world.ask("POST", &path, "").0, 400);
}

#[test]
fn what_a_session_lacks_or_must_not_have_is_told() {
    let without = |text: &str| SESSION.replace(text, "");
    let cases = [
        (SESSION.replace("https://app.test/done", "javascript:alert(1)//"), "success_url"),
        (SESSION.replace("https://app.test/cart", "data:text/html,x"), "cancel_url"),
        (SESSION.replace("mode=payment", "mode=rent"), "mode"),
        (without("&line_items[0][price_data][unit_amount]=1250"), "line_items"),
        (SESSION.replace("=1250", "=9223372036854775807"), "line_items"),
        (format!("{SESSION}&customer=cus_none"), "customer"),
    ];
    for (form, param) in cases {
        let (status, error) = World::of("stripe").ask("POST", "/v1/checkout/sessions", &form);
        assert!([400, 404].contains(&status), "{form}");
        assert!(error["error"]["param"].as_str().unwrap().starts_with(param), "{error}");
    }
}

#[test]
fn a_card_is_left_without_a_payment() {
    let mut world = World::of("stripe");
    let form = "mode=setup&success_url=https://app.test/done";
    let session = world.ask("POST", "/v1/checkout/sessions", form).1;
    let done = world.act(MockAction::Move { object: id(&session), to: None }).unwrap();
    assert!(done.object.unwrap().object["setup_intent"].as_str().unwrap().starts_with("seti_"));
    assert_eq!(world.events(), ["setup_intent.succeeded", "checkout.session.completed"]);
}

#[test]
fn the_owner_of_a_card_confirms_or_does_not() {
    for (to, status, event, redirect) in [
        ("succeeded", "succeeded", "payment_intent.succeeded", "succeeded"),
        (
            "requires_payment_method",
            "requires_payment_method",
            "payment_intent.payment_failed",
            "failed",
        ),
    ] {
        let mut world = World::of("stripe");
        let intent = world.ask("POST", "/v1/payment_intents", SECURE).1;
        assert_eq!(intent["status"], "requires_action");
        let url = intent["next_action"]["redirect_to_url"]["url"].as_str().unwrap();
        assert!(url.contains("/_/payments/pi_"), "{url}");
        let done = world.act(MockAction::Decide { kind: "payments", id: id(&intent), to }).unwrap();
        let done = done.object.unwrap();
        assert_eq!(
            (done.object["status"].as_str().unwrap(), &done.object["next_action"]),
            (status, &Value::Null)
        );
        assert_eq!(world.events().last().unwrap(), event);
        let back = page(world.provider, &done).unwrap().back.unwrap();
        let (query, fragment) = back.split_once('#').unwrap();
        assert!(query.starts_with("https://app.test/back?a=1&payment_intent=pi_"), "{back}");
        assert!(query.ends_with(&format!("redirect_status={redirect}")) && fragment == "top");
    }
}

#[test]
fn the_pace_is_a_kinds_own_or_the_settings() {
    let secure = |pace: Value| {
        let mut set = json!({"paceMs": 70});
        crate::merge(&mut set, &json!({"pace": pace}));
        let mut world = World::with("stripe", set);
        let intent = world.ask("POST", "/v1/payment_intents", SECURE).1;
        let steps = world.out().steps;
        world.go_on();
        let path = format!("/v1/payment_intents/{}", id(&intent));
        (steps, world.ask("GET", &path, "").1["status"].clone())
    };
    let (steps, status) = secure(json!("timed"));
    assert_eq!((steps[0].after_ms, status), (70, json!("succeeded")));
    let (steps, status) = secure(json!("instant"));
    assert_eq!((steps, status), (Vec::new(), json!("succeeded")));
    for pace in [json!("manual"), Value::Null] {
        assert_eq!(secure(pace), (Vec::new(), json!("requires_action")));
    }
}

#[test]
fn a_step_looks_first() {
    let mut world = World::with("stripe", json!({"pace": "timed"}));
    let intent = world.ask("POST", "/v1/payment_intents", SECURE).1;
    let [step]: [DueStep; 1] = world.out().steps.try_into().unwrap();
    let path = format!("/v1/payment_intents/{}/cancel", id(&intent));
    assert_eq!(world.ask("POST", &path, "").0, 200);
    for step in [step.clone(), DueStep { id: "pi_none".to_owned(), ..step }] {
        let done = world.act(MockAction::Step(&step)).unwrap();
        assert!(done.object.is_none() && done.writes.is_empty() && !done.goes_on);
    }
}

#[test]
fn a_charge_is_disputed_and_a_refund_fails() {
    let mut world = World::of("stripe");
    let form = "amount=1000&currency=usd&confirm=true&payment_method=pm_card_visa";
    let intent = world.ask("POST", "/v1/payment_intents", form).1;
    let charge = intent["latest_charge"].as_str().unwrap().to_owned();
    let form = format!("charge={charge}&amount=400");
    let refund = world.ask("POST", "/v1/refunds", &form).1;
    let failed = MockAction::Move { object: id(&refund), to: Some("failed") };
    assert_eq!(world.act(failed).unwrap().object.unwrap().state.as_deref(), Some("failed"));
    assert_eq!(world.objects("charges")[0].object["amount_refunded"], 0);
    let event = "charge.dispute.created";
    let data = json!({"reason": "duplicate"});
    let of = |object| MockAction::Trigger { event, object, data: &data };
    let dispute = world.act(of(Some(charge.as_str()))).unwrap().object.unwrap();
    assert_eq!(
        (dispute.kind.as_str(), &dispute.object["reason"]),
        ("disputes", &json!("duplicate"))
    );
    assert_eq!(
        (world.events(), &world.objects("charges")[0].object["disputed"]),
        (vec![event.to_owned()], &json!(true))
    );
    for wrong in [None, Some(id(&intent))] {
        assert!(matches!(world.act(of(wrong)).unwrap_err(), ActionRefusal::Data { .. }));
    }
    assert_eq!(world.act(of(Some("ch_none"))).unwrap_err(), ActionRefusal::NoObject);
}

#[test]
fn a_person_makes_and_changes_a_contact() {
    let mut world = World::of("hubspot");
    let data = json!({"properties": {"email": "ada@example.com"}});
    let made = MockAction::Trigger { event: "contact.creation", object: None, data: &data };
    let contact = world.act(made).unwrap().object.unwrap();
    assert_eq!(world.events(), ["contact.creation"]);
    let data = json!({"properties": {"city": "Ulm"}});
    let event = "contact.propertyChange";
    world.act(MockAction::Trigger { event, object: Some(&contact.id), data: &data }).unwrap();
    assert_eq!(world.events(), [event]);
    let path = format!("/crm/v3/objects/contacts/{}", contact.id);
    assert_eq!(world.ask("GET", &path, "").1["properties"]["city"], "Ulm");
}
