//! Stripe as its SDKs use it.

use serde_json::{Value, json};

use super::World;

const INTENTS: &str = "/v1/payment_intents";

fn paid(world: &mut World, method: &str) -> (u16, Value) {
    let form = format!("amount=1000&currency=usd&confirm=true&payment_method={method}");
    world.ask("POST", INTENTS, &form)
}

#[test]
fn a_payment_succeeds_and_is_refunded() {
    let mut world = World::of("stripe");
    let (status, intent) = paid(&mut world, "pm_card_visa");
    assert_eq!((status, &intent["status"]), (200, &json!("succeeded")), "{intent}");
    let wanted = ["payment_intent.created", "charge.succeeded", "payment_intent.succeeded"];
    assert_eq!(world.events(), wanted);
    let event: Value = serde_json::from_str(&world.sent()[2].body).unwrap();
    assert_eq!(event["data"]["object"]["id"], intent["id"]);
    let id = intent["id"].as_str().unwrap();
    let half = format!("payment_intent={id}&amount=500");
    for _ in 0..2 {
        let (status, refund) = world.ask("POST", "/v1/refunds", &half);
        assert_eq!((status, &refund["status"]), (200, &json!("succeeded")));
        assert_eq!(world.events(), ["refund.created", "charge.refunded"]);
    }
    let (status, error) = world.ask("POST", "/v1/refunds", &half);
    assert_eq!((status, &error["error"]["code"]), (400, &json!("charge_already_refunded")));
    let (_, shown) = world.ask("GET", &format!("{INTENTS}/{id}?expand[]=latest_charge"), "");
    assert_eq!(shown["latest_charge"]["amount_refunded"], 1000);
    let (_, events) = world.ask("GET", "/v1/events?type=charge.refunded", "");
    assert_eq!(events["data"].as_array().unwrap().len(), 2);
}

#[test]
fn every_decline_comes_by_its_values_and_by_the_setting() {
    for decline in World::of("stripe").provider.declines {
        for trigger in decline.triggers {
            let mut world = World::of("stripe");
            let method = if trigger.starts_with("pm_") {
                (*trigger).to_owned()
            } else {
                let form = format!("type=card&card[number]={trigger}");
                let (_, method) = world.ask("POST", "/v1/payment_methods", &form);
                method["id"].as_str().unwrap().to_owned()
            };
            let (status, error) = paid(&mut world, &method);
            assert_eq!((status, &error["error"]["decline_code"]), (402, &json!(decline.code)));
            assert!(world.events().contains(&"payment_intent.payment_failed".to_owned()));
            assert_eq!(
                world.objects("payments")[0].state.as_deref(),
                Some("requires_payment_method")
            );
        }
        let mut world = World::with("stripe", json!({"decline": decline.code}));
        let (status, error) = paid(&mut world, "pm_card_visa");
        assert_eq!((status, &error["error"]["decline_code"]), (402, &json!(decline.code)));
    }
}

#[test]
fn a_payment_moves_only_where_it_may() {
    let mut world = World::of("stripe");
    let (_, intent) = world.ask("POST", INTENTS, "amount=1000&currency=usd&capture_method=manual");
    let path = format!("{INTENTS}/{}", intent["id"].as_str().unwrap());
    let mut step = |verb: &str, form: &str| {
        let (status, body) = world.ask("POST", &format!("{path}/{verb}"), form);
        (status, body["status"].as_str().map(str::to_owned))
    };
    assert_eq!(step("capture", ""), (400, None));
    assert_eq!(step("confirm", ""), (400, None));
    let held = (200, Some("requires_capture".to_owned()));
    assert_eq!(step("confirm", "payment_method=pm_card_visa"), held);
    assert_eq!(step("capture", "amount_to_capture=1001"), (400, None));
    assert_eq!(step("capture", "amount_to_capture=900"), (200, Some("succeeded".to_owned())));
    assert_eq!(step("cancel", ""), (400, None));
}

#[test]
fn a_card_that_needs_its_owner_waits() {
    let mut world = World::of("stripe");
    let (status, intent) = paid(&mut world, "pm_card_threeDSecure2Required");
    assert_eq!((status, &intent["status"]), (200, &json!("requires_action")));
    let cancel = format!("{INTENTS}/{}/cancel", intent["id"].as_str().unwrap());
    assert_eq!(world.ask("POST", &cancel, "").1["status"], "canceled");
}

#[test]
fn customers_keep_cards_and_metadata() {
    let mut world = World::of("stripe");
    let form = "email=ada@example.com&metadata[a]=1&metadata[b]=2";
    let (_, customer) = world.ask("POST", "/v1/customers", form);
    let id = customer["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("cus_") && id.len() == 18);
    let (_, changed) = world.ask("POST", &format!("/v1/customers/{id}"), "metadata[a]=&name=Ada");
    assert_eq!((&changed["metadata"], &changed["name"]), (&json!({"b": "2"}), &json!("Ada")));
    let (_, setup) = world.ask(
        "POST",
        "/v1/setup_intents",
        &format!("customer={id}&confirm=true&payment_method=pm_card_visa"),
    );
    assert_eq!(setup["status"], "succeeded");
    let (_, methods) =
        world.ask("GET", &format!("/v1/customers/{id}/payment_methods?type=card"), "");
    assert_eq!(methods["data"][0]["id"], setup["payment_method"]);
    assert_eq!(world.ask("DELETE", &format!("/v1/customers/{id}"), "").1["deleted"], true);
    let (status, error) = world.ask("GET", &format!("/v1/customers/{id}"), "");
    assert_eq!((status, &error["error"]["code"]), (404, &json!("resource_missing")));
}

#[test]
fn a_list_reads_no_more_than_it_shows_and_one() {
    let mut world = World::of("stripe");
    for _ in 0..30 {
        world.ask("POST", "/v1/customers", "email=ada@example.com");
    }
    for (query, read) in [
        ("", 11),
        ("?limit=3", 4),
        ("?limit=3&expand[]=data.sources", 4),
        ("?limit=3&email=ada@example.com", 30),
        ("?limit=3&created[gt]=1", 30),
    ] {
        let (status, list) = world.ask("GET", &format!("/v1/customers{query}"), "");
        assert_eq!((status, &list["has_more"]), (200, &json!(true)), "{query}");
        assert_eq!(world.listed.get(), read, "{query}");
    }
}

#[test]
fn lists_are_paged_to_the_end_and_back() {
    let mut world = World::of("stripe");
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.ask("POST", "/v1/customers", "").1["id"].as_str().unwrap().to_owned());
    }
    ids.reverse();
    let page = |world: &mut World, query: &str| {
        let (_, list) = world.ask("GET", &format!("/v1/customers?{query}"), "");
        let data = list["data"].as_array().unwrap().iter();
        let ids: Vec<_> = data.map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        (ids, list["has_more"].as_bool().unwrap())
    };
    assert_eq!(page(&mut world, "limit=2"), (ids[..2].to_vec(), true));
    assert_eq!(
        page(&mut world, &format!("limit=3&starting_after={}", ids[1])),
        (ids[2..].to_vec(), false)
    );
    assert_eq!(
        page(&mut world, &format!("limit=2&ending_before={}", ids[4])),
        (ids[2..4].to_vec(), true)
    );
    assert_eq!(world.ask("GET", "/v1/customers?limit=101", "").0, 400);
}

#[test]
fn registered_addresses_are_told_with_secrets_of_their_own() {
    let mut world = World::of("stripe");
    let form = "url=https://other.test/h&enabled_events[]=customer.created";
    let (_, endpoint) = world.ask("POST", "/v1/webhook_endpoints", form);
    assert!(endpoint["secret"].as_str().unwrap().starts_with("whsec_"));
    world.ask("POST", "/v1/customers", "");
    let sent = world.sent();
    let urls: Vec<_> = sent.iter().map(|event| event.url.as_str()).collect();
    assert_eq!(urls, ["http://app.test/hooks", "https://other.test/h"]);
    assert_eq!(sent[1].endpoint.as_deref(), endpoint["id"].as_str());
    paid(&mut world, "pm_card_visa");
    assert!(world.sent().iter().all(|event| event.endpoint.is_none()));
    let url = "url=ftp://other.test&enabled_events[]=*";
    assert_eq!(world.ask("POST", "/v1/webhook_endpoints", url).0, 400);
}

#[test]
fn what_holds_a_secret_is_marked_and_told() {
    let mut world = World::of("stripe");
    let form = "url=https://other.test/h&enabled_events[]=customer.created";
    let mut call = world.request("POST", "/v1/webhook_endpoints", form);
    call.headers.push(("idempotency-key".to_owned(), "k".to_owned()));
    let (made, again) = (world.call(&call), world.call(&call));
    let secret_rows = made.writes.iter().filter(|write| write.is_secret);
    let kinds: Vec<_> = secret_rows.map(|write| write.kind.as_str()).collect();
    assert_eq!(kinds, ["endpoints", "~key"]);
    for answer in [&made, &again] {
        assert!(answer.secrets.iter().any(|secret| answer.reply.body.contains(secret)));
    }
    let paid = world.request("POST", "/v1/customers", "");
    let paid = world.call(&paid);
    assert!(paid.secrets.is_empty() && paid.writes.iter().all(|write| !write.is_secret));
}
