//! Plaid as its SDKs use it.

use serde_json::{Value, json};
use trapline_model::Time;

use super::World;
use crate::{MockAction, jws};

/// A call, and the answer that has to be good.
fn done(world: &mut World, path: &str, body: &Value) -> Value {
    let (status, answer) = world.ask_json("POST", path, body);
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn exchanged(world: &mut World, options: &Value) -> Value {
    let new = json!({
        "institution_id": "ins_109508", "initial_products": ["transactions", "auth"], "options": options,
    });
    let public = done(world, "/sandbox/public_token/create", &new);
    let token = json!({"public_token": public["public_token"]});
    let item = done(world, "/item/public_token/exchange", &token);
    let (status, again) = world.ask_json("POST", "/item/public_token/exchange", &token);
    assert_eq!((status, &again["error_code"]), (400, &json!("INVALID_PUBLIC_TOKEN")));
    item
}

fn access(world: &mut World) -> Value {
    let item = exchanged(world, &json!({}));
    json!({"access_token": item["access_token"]})
}

fn with(token: &Value, more: &Value) -> Value {
    let mut body = token.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn an_item_is_made_shown_and_removed() {
    let mut world = World::of("plaid");
    let item = exchanged(&mut world, &json!({"webhook": "http://app.test/item"}));
    assert_eq!(item["item_id"].as_str().unwrap().len(), 37);
    let token = json!({"access_token": item["access_token"]});
    let shown = done(&mut world, "/item/get", &token);
    assert_eq!(shown["item"]["webhook"], "http://app.test/item");
    let accounts = done(&mut world, "/accounts/get", &token);
    assert_eq!(accounts["accounts"].as_array().unwrap().len(), 3);
    let numbers = done(&mut world, "/auth/get", &token);
    assert_eq!(numbers["numbers"]["ach"].as_array().unwrap().len(), 2);
    let one = json!({"account_ids": [accounts["accounts"][2]["account_id"]]});
    let owners = done(&mut world, "/identity/get", &with(&token, &json!({"options": one})));
    assert_eq!(owners["accounts"][0]["owners"][0]["names"].as_array().unwrap().len(), 1);
    done(&mut world, "/item/remove", &token);
    assert_eq!(world.ask_json("POST", "/item/get", &token).1["error_code"], "INVALID_ACCESS_TOKEN");
    assert!(world.objects("accounts").is_empty());
}

#[test]
fn credentials_may_be_in_the_body() {
    let mut world = World::of("plaid");
    let body = json!({
        "client_id": world.credentials["clientId"], "secret": world.credentials["secretKey"],
        "institution_id": "ins_109508", "country_codes": ["US"],
    });
    let mut call = world.request("POST", "/institutions/get_by_id", &body.to_string());
    call.headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    assert_eq!(world.call(&call).reply.status, 200);
    call.body = body.to_string().replace("secret\":\"", "secret\":\"x").into_bytes();
    let refused = world.call(&call).reply;
    assert!(refused.status == 400 && refused.body.contains("INVALID_API_KEYS"), "{}", refused.body);
}

#[test]
fn transactions_are_the_same_each_time_and_new_ones_come_after() {
    let mut world = World::of("plaid");
    let token = access(&mut world);
    let mut page = json!({"next_cursor": ""});
    let mut seen = Vec::new();
    loop {
        let asked = with(&token, &json!({"cursor": page["next_cursor"], "count": 10}));
        page = done(&mut world, "/transactions/sync", &asked);
        seen.extend(page["added"].as_array().unwrap().clone());
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(seen.len(), 24);
    let cursor = json!({"cursor": page["next_cursor"]});
    let again = done(&mut world, "/transactions/sync", &token);
    assert_eq!(again["added"], json!(seen));
    done(&mut world, "/transactions/refresh", &token);
    assert_eq!(world.events(), ["TRANSACTIONS.SYNC_UPDATES_AVAILABLE"]);
    let made = json!({"transactions": [{
        "date_transacted": "2026-02-01", "date_posted": "2026-02-02", "amount": 12.5, "description": "Lunch",
    }]});
    done(&mut world, "/sandbox/transactions/create", &with(&token, &made));
    let new = done(&mut world, "/transactions/sync", &with(&token, &cursor));
    let new = new["added"].as_array().unwrap();
    assert_eq!((new.len(), &new[2]["name"], &new[2]["amount"]), (3, &json!("Lunch"), &json!(12.5)));
    let february = json!({"start_date": "2026-02-01", "end_date": "2026-02-28"});
    let found = done(&mut world, "/transactions/get", &with(&token, &february));
    assert_eq!(found["total_transactions"], 3);
    let wrong = with(&token, &json!({"cursor": "none"}));
    assert_eq!(world.ask_json("POST", "/transactions/sync", &wrong).0, 400);
    let wrong = with(&token, &json!({"count": 501}));
    assert_eq!(world.ask_json("POST", "/transactions/sync", &wrong).0, 400);
}

#[test]
fn a_login_is_reset_and_repaired() {
    let mut world = World::of("plaid");
    let token = access(&mut world);
    done(&mut world, "/sandbox/item/reset_login", &token);
    assert_eq!(world.events(), ["ITEM.ERROR"]);
    let (status, error) = world.ask_json("POST", "/accounts/get", &token);
    let wanted = (400, &json!("ITEM_ERROR"), &json!("ITEM_LOGIN_REQUIRED"));
    assert_eq!((status, &error["error_type"], &error["error_code"]), wanted);
    let shown = done(&mut world, "/item/get", &token);
    assert_eq!(shown["item"]["error"]["error_code"], "ITEM_LOGIN_REQUIRED");
    let link = json!({"client_name": "App", "language": "en", "country_codes": ["US"]});
    let link = done(&mut world, "/link/token/create", &with(&token, &link));
    let public = link["link_token"].as_str().unwrap().replace("link-", "public-");
    let again = done(&mut world, "/item/public_token/exchange", &json!({"public_token": public}));
    assert_eq!(again["access_token"], token["access_token"]);
    assert_eq!(world.events(), ["ITEM.LOGIN_REPAIRED"]);
    done(&mut world, "/accounts/get", &token);
}

#[test]
fn every_webhook_can_be_fired() {
    let mut world = World::of("plaid");
    let token = access(&mut world);
    for event in world.provider.hooks.events.iter().filter(|event| !event.starts_with("TRANSFER")) {
        let code = event.split('.').next_back().unwrap();
        done(
            &mut world,
            "/sandbox/item/fire_webhook",
            &with(&token, &json!({"webhook_code": code})),
        );
        assert_eq!(world.events(), [*event]);
        let body: Value = serde_json::from_str(&world.sent()[0].body).unwrap();
        assert_eq!(
            (&body["webhook_code"], &body["environment"]),
            (&json!(code), &json!("sandbox"))
        );
    }
    let other = with(&token, &json!({"webhook": "http://app.test/other"}));
    done(&mut world, "/item/webhook/update", &other);
    let fired = with(&token, &json!({"webhook_code": "DEFAULT_UPDATE"}));
    done(&mut world, "/sandbox/item/fire_webhook", &fired);
    assert_eq!(world.sent()[0].url, "http://app.test/other");
    let unknown = with(&token, &json!({"webhook_code": "NONE"}));
    assert_eq!(world.ask_json("POST", "/sandbox/item/fire_webhook", &unknown).0, 400);
}

#[test]
fn every_decline_comes_by_its_values_and_by_the_setting() {
    for decline in World::of("plaid").provider.declines.iter().filter(|it| it.code != "NSF") {
        let mut world = World::of("plaid");
        let item = exchanged(&mut world, &json!({"override_password": decline.triggers[0]}));
        let token = json!({"access_token": item["access_token"]});
        let (status, error) = world.ask_json("POST", "/transactions/sync", &token);
        assert!(status >= 400 && error["error_code"] == decline.code, "{error}");
        let mut world = World::of("plaid");
        let token = access(&mut world);
        world.set = json!({"decline": decline.code});
        let (_, error) = world.ask_json("POST", "/accounts/balance/get", &token);
        assert_eq!(error["error_code"], decline.code);
    }
}

fn transfer(world: &mut World, token: &Value, amount: &str, key: &str) -> Value {
    let accounts = done(world, "/accounts/get", token);
    let asked = with(
        token,
        &json!({
            "account_id": accounts["accounts"][0]["account_id"], "type": "debit", "network": "ach",
            "amount": amount, "ach_class": "ppd", "user": {"legal_name": "Ada"}, "idempotency_key": key,
        }),
    );
    done(world, "/transfer/authorization/create", &asked)["authorization"].clone()
}

#[test]
fn a_transfer_is_decided_made_once_and_moved() {
    let mut world = World::of("plaid");
    let token = access(&mut world);
    let authorized = transfer(&mut world, &token, "99.99", "k");
    assert_eq!(transfer(&mut world, &token, "99.99", "k")["id"], authorized["id"]);
    let above = transfer(&mut world, &token, "100.01", "l");
    assert_eq!(above["decision_rationale"]["code"], "NSF");
    let create = |id: &Value| {
        with(&token, &json!({"authorization_id": id, "description": "rent", "account_id": "x"}))
    };
    assert_eq!(world.ask_json("POST", "/transfer/create", &create(&above["id"])).0, 400);
    let made = done(&mut world, "/transfer/create", &create(&authorized["id"]));
    assert_eq!(world.events(), ["TRANSFER.TRANSFER_EVENTS_UPDATE"]);
    let again = done(&mut world, "/transfer/create", &create(&authorized["id"]));
    assert_eq!(again["transfer"], made["transfer"]);
    let id = made["transfer"]["id"].clone();
    let step = |event: &str| json!({"transfer_id": id, "event_type": event});
    assert_eq!(world.ask_json("POST", "/sandbox/transfer/simulate", &step("settled")).0, 400);
    for event in ["posted", "settled", "funds_available", "returned"] {
        done(&mut world, "/sandbox/transfer/simulate", &step(event));
    }
    let shown = done(&mut world, "/transfer/get", &json!({"transfer_id": id}));
    assert_eq!(shown["transfer"]["status"], "returned");
    assert_eq!(world.ask_json("POST", "/transfer/cancel", &json!({"transfer_id": id})).0, 400);
    let events = done(&mut world, "/transfer/event/sync", &json!({"after_id": 1}));
    let kinds: Vec<_> = events["transfer_events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["event_type"].clone())
        .collect();
    assert_eq!(kinds, ["posted", "settled", "funds_available", "returned"]);
    for (amount, status) in
        [("1", 400), ("1.5", 400), ("0.00", 400), ("-1.00", 400), ("99999999999999999999.00", 400)]
    {
        let asked = with(
            &token,
            &json!({"amount": amount, "account_id": shown["transfer"]["account_id"], "type": "credit", "network": "ach", "user": {"legal_name": "Ada"}}),
        );
        assert_eq!(
            world.ask_json("POST", "/transfer/authorization/create", &asked).0,
            status,
            "{amount}"
        );
    }
}

#[test]
fn money_that_is_not_there_is_declined_by_value_and_setting() {
    let mut world = World::of("plaid");
    let item = exchanged(&mut world, &json!({"override_password": "error_NSF"}));
    let by_value =
        transfer(&mut world, &json!({"access_token": item["access_token"]}), "1.00", "k");
    let mut world = World::with("plaid", json!({"decline": "NSF"}));
    let token = access(&mut world);
    let by_setting = transfer(&mut world, &token, "1.00", "k");
    for declined in [by_value, by_setting] {
        assert_eq!(
            (&declined["decision"], &declined["decision_rationale"]["code"]),
            (&json!("declined"), &json!("NSF"))
        );
    }
}

#[test]
fn what_is_missing_or_unknown_is_told_by_its_code() {
    let mut world = World::of("plaid");
    let cases = [
        ("/accounts/get", json!({}), "MISSING_FIELDS"),
        ("/accounts/get", json!({"access_token": "x"}), "INVALID_ACCESS_TOKEN"),
        (
            "/institutions/get_by_id",
            json!({"institution_id": "x", "country_codes": []}),
            "INVALID_INSTITUTION",
        ),
        (
            "/webhook_verification_key/get",
            json!({"key_id": "x"}),
            "INVALID_WEBHOOK_VERIFICATION_KEY_ID",
        ),
        ("/transfer/get", json!({"transfer_id": "x"}), "INVALID_FIELD"),
        (
            "/sandbox/public_token/create",
            json!({"institution_id": "ins_109508", "initial_products": ["x"]}),
            "INVALID_FIELD",
        ),
    ];
    for (path, body, code) in cases {
        let (status, error) = world.ask_json("POST", path, &body);
        assert_eq!((status, &error["error_code"]), (400, &json!(code)), "{path}");
        assert!(error["request_id"].is_string());
    }
    let mut broken = world.request("POST", "/accounts/get", "{");
    broken.headers[0].1 = "application/json".to_owned();
    assert!(world.call(&broken).reply.body.contains("INVALID_BODY"));
    world.set = json!({"next": [{"fault": "rate_limit"}]});
    let (status, error) = world.ask_json("POST", "/auth/get", &json!({}));
    assert_eq!((status, &error["error_code"]), (429, &json!("AUTH_LIMIT")));
}

#[test]
fn the_key_of_webhooks_is_given_out() {
    let mut world = World::of("plaid");
    let key = jws::EcKey::of(&world.credentials["webhookKeyId"]).unwrap();
    let shown = done(&mut world, "/webhook_verification_key/get", &json!({"key_id": key.id()}));
    assert_eq!(shown["key"], key.public(None));
    let made = Time::from_millis(1_700_000_000_000);
    let after =
        world.provider.new_credentials("0123456789abcd", &crate::Chance::new([9; 32]), made);
    world.credentials = world.provider.replaced(&world.credentials, after, made);
    let (status, gone) =
        world.ask_json("POST", "/webhook_verification_key/get", &json!({"key_id": key.id()}));
    assert_eq!(status, 400, "it was replaced long ago: {gone}");
}

#[test]
fn what_happens_without_a_call_is_told() {
    let mut world = World::of("plaid");
    let item = exchanged(&mut world, &json!({}));
    let token = json!({"access_token": item["access_token"]});
    let id = item["item_id"].as_str().unwrap();
    let cursor = done(&mut world, "/transactions/sync", &token)["next_cursor"].clone();
    let data = json!({});
    let event = "TRANSACTIONS.SYNC_UPDATES_AVAILABLE";
    world.act(MockAction::Trigger { event, object: Some(id), data: &data }).unwrap();
    assert_eq!(world.events(), [event]);
    let new = done(&mut world, "/transactions/sync", &with(&token, &json!({"cursor": cursor})));
    assert_eq!(new["added"].as_array().unwrap().len(), 2);
    for (to, event) in [("login_required", "ITEM.ERROR"), ("good", "ITEM.LOGIN_REPAIRED")] {
        world.act(MockAction::Move { object: id, to: Some(to) }).unwrap();
        assert_eq!(world.events(), [event]);
    }
    world.set = json!({"pace": "timed"});
    let authorized = transfer(&mut world, &token, "1.00", "k");
    let asked = json!({"authorization_id": authorized["id"], "description": "rent"});
    let made = done(&mut world, "/transfer/create", &with(&token, &asked))["transfer"].clone();
    world.go_on();
    let shown = done(&mut world, "/transfer/get", &json!({"transfer_id": made["id"]}));
    assert_eq!(shown["transfer"]["status"], "funds_available");
}

#[test]
fn the_token_of_an_item_is_kept_as_a_secret() {
    let mut world = World::of("plaid");
    let token = access(&mut world);
    let text = token["access_token"].as_str().unwrap();
    assert!(!world.rows.keys().any(|(_, id)| id.contains("-sandbox-")));
    let call = world.request("POST", "/item/get", &token.to_string());
    let mut call = crate::MockCall { method: "POST".to_owned(), ..call };
    call.headers[0].1 = "application/json".to_owned();
    assert_eq!(world.call(&call).secrets, [text]);
}
