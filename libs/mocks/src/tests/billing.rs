//! Stripe's products, prices and subscriptions as its SDKs use them.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::World;
use crate::MockAction;

const SUBSCRIPTIONS: &str = "/v1/subscriptions";

pub(super) fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap()
}

/// A plan that is paid each month, in cents.
fn plan(world: &mut World, amount: u32) -> String {
    let form = format!(
        "currency=usd&unit_amount={amount}&recurring[interval]=month&product_data[name]=Pro"
    );
    let (status, price) = world.ask("POST", "/v1/prices", &form);
    assert_eq!(status, 200, "{price}");
    id(&price).to_owned()
}

/// A customer who pays with a card.
pub(super) fn customer(world: &mut World, card: &str) -> String {
    let form = format!(
        "email=ada@example.com&payment_method={card}&invoice_settings[default_payment_method]={card}"
    );
    let (status, customer) = world.ask("POST", "/v1/customers", &form);
    assert_eq!(status, 200, "{customer}");
    id(&customer).to_owned()
}

pub(super) fn subscribed(world: &mut World, card: &str, more: &str) -> (u16, Value) {
    let (price, customer) = (plan(world, 2_000), customer(world, card));
    let form = format!("customer={customer}&items[0][price]={price}&items[0][quantity]=2{more}");
    world.ask("POST", SUBSCRIPTIONS, &form)
}

pub(super) fn invoice(world: &mut World, subscription: &Value) -> Value {
    let path = format!("/v1/invoices/{}", subscription["latest_invoice"].as_str().unwrap());
    world.ask("GET", &path, "").1
}

/// A period ends.
fn renew(world: &mut World, subscription: &str) -> Value {
    let (event, data) = ("invoice.created", json!({}));
    let action = MockAction::Trigger { event, object: Some(subscription), data: &data };
    world.act(action).unwrap().object.unwrap().object
}

#[test]
fn a_subscription_is_paid_renewed_and_ended() {
    let mut world = World::of("stripe");
    let (status, subscription) = subscribed(&mut world, "pm_card_visa", "&metadata[a]=1");
    assert_eq!((status, &subscription["status"]), (200, &json!("active")), "{subscription}");
    let wanted = [
        "invoice.created",
        "payment_intent.created",
        "invoice.finalized",
        "customer.subscription.created",
        "charge.succeeded",
        "payment_intent.succeeded",
        "invoice.paid",
        "invoice.payment_succeeded",
    ];
    assert_eq!(world.events(), wanted);
    let first = invoice(&mut world, &subscription);
    assert_eq!((&first["status"], &first["amount_paid"]), (&json!("paid"), &json!(4_000)));
    assert!(first["number"].as_str().unwrap().ends_with("-0001"), "{first}");
    let path = format!("{SUBSCRIPTIONS}/{}", id(&subscription));
    let period =
        |subscription: &Value, name: &str| subscription["items"]["data"][0][name].as_i64().unwrap();
    let renewed = renew(&mut world, id(&subscription));
    assert_eq!(world.events().last().unwrap(), "invoice.payment_succeeded");
    assert_eq!(
        period(&renewed, "current_period_start"),
        period(&subscription, "current_period_end")
    );
    let second = invoice(&mut world, &renewed);
    assert_eq!(
        (&second["billing_reason"], &second["status"]),
        (&json!("subscription_cycle"), &json!("paid"))
    );
    let (_, ending) = world.ask("POST", &path, "cancel_at_period_end=true");
    assert_eq!(ending["cancel_at_period_end"], true);
    let event: Value = serde_json::from_str(&world.sent()[0].body).unwrap();
    assert_eq!(event["data"]["previous_attributes"]["cancel_at_period_end"], false);
    assert_eq!(renew(&mut world, id(&subscription))["status"], "canceled");
    assert_eq!(world.events(), ["customer.subscription.deleted"]);
    assert_eq!(world.ask("DELETE", &path, "").0, 404, "it has ended");
    assert_eq!(world.ask("GET", SUBSCRIPTIONS, "").1["data"], json!([]));
    let (_, all) = world.ask("GET", &format!("{SUBSCRIPTIONS}?status=all"), "");
    assert_eq!(all["data"][0]["id"], subscription["id"]);
}

#[test]
fn what_a_first_invoice_comes_to_is_in_the_status() {
    let later = "pm_card_chargeCustomerFail";
    let secure = "pm_card_threeDSecure2Required";
    let cases = [
        ("pm_card_visa", "", 200, "active", "paid"),
        (later, "", 200, "incomplete", "open"),
        (secure, "", 200, "incomplete", "open"),
        ("pm_card_visa", "&payment_behavior=default_incomplete", 200, "incomplete", "open"),
        (later, "&payment_behavior=error_if_incomplete", 402, "", ""),
        (secure, "&payment_behavior=error_if_incomplete", 402, "", ""),
        (later, "&trial_period_days=7", 200, "trialing", "paid"),
        (later, "&collection_method=send_invoice&days_until_due=30", 200, "active", "open"),
    ];
    for (card, more, wanted, state, paid) in cases {
        let mut world = World::of("stripe");
        let (status, subscription) = subscribed(&mut world, card, more);
        assert_eq!(status, wanted, "{card} {more}: {subscription}");
        if status == 402 {
            assert_eq!(subscription["error"]["type"], "card_error");
            assert!(world.objects("subscriptions").is_empty(), "{card} {more}");
            continue;
        }
        assert_eq!(subscription["status"], state, "{card} {more}");
        assert_eq!(invoice(&mut world, &subscription)["status"], paid, "{card} {more}");
    }
    let mut world = World::with("stripe", json!({"decline": "lost_card"}));
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", "");
    assert_eq!(subscription["status"], "incomplete");
    assert!(world.events().contains(&"invoice.payment_failed".to_owned()));
}

#[test]
fn an_app_pays_what_is_incomplete() {
    let mut world = World::of("stripe");
    let more = "&payment_behavior=default_incomplete\
                &payment_settings[save_default_payment_method]=on_subscription\
                &expand[]=latest_invoice.payments.data.payment.payment_intent";
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", more);
    let shown = &subscription["latest_invoice"];
    let intent = &shown["payments"]["data"][0]["payment"]["payment_intent"];
    assert_eq!(intent["amount"], 4_000, "{subscription}");
    let secret = &shown["confirmation_secret"]["client_secret"];
    assert_eq!(secret, &intent["client_secret"]);
    let path = format!("/v1/payment_intents/{}", id(intent));
    assert_eq!(world.ask("POST", &format!("{path}/cancel"), "").0, 400, "it is of an invoice");
    let confirm = format!("{path}/confirm");
    assert_eq!(world.ask("POST", &confirm, "payment_method=pm_card_visa").0, 200);
    assert!(world.events().ends_with(&["customer.subscription.updated".to_owned()]));
    let (_, now) = world.ask("GET", &format!("{SUBSCRIPTIONS}/{}", id(&subscription)), "");
    assert_eq!(now["status"], "active");
    assert!(now["default_payment_method"].is_string());
    let list = format!("/v1/invoice_payments?payment[payment_intent]={}", id(intent));
    assert_eq!(world.ask("GET", &list, "").1["data"][0]["invoice"], shown["id"]);
}

#[test]
fn a_late_subscription_goes_on_once_it_is_paid() {
    let mut world = World::of("stripe");
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", "");
    let late = MockAction::Move { object: id(&subscription), to: Some("past_due") };
    let late = world.act(late).unwrap().object.unwrap().object;
    assert_eq!(late["status"], "past_due");
    let sent = world.events();
    for event in ["invoice.payment_failed", "customer.subscription.updated", "charge.failed"] {
        assert!(sent.contains(&event.to_owned()), "{event}: {sent:?}");
    }
    let open = invoice(&mut world, &late);
    assert_eq!((&open["status"], &open["attempt_count"]), (&json!("open"), &json!(1)));
    let pay = format!("/v1/invoices/{}/pay", id(&open));
    let declined = "payment_method=pm_card_chargeDeclinedInsufficientFunds";
    let (status, error) = world.ask("POST", &pay, declined);
    assert_eq!((status, &error["error"]["decline_code"]), (402, &json!("insufficient_funds")));
    let (status, error) = world.ask("POST", &pay, "payment_method=pm_card_threeDSecure2Required");
    let code = "invoice_payment_intent_requires_action";
    assert_eq!((status, &error["error"]["code"]), (402, &json!(code)));
    assert_eq!(world.ask("POST", &pay, "").1["status"], "paid");
    assert_eq!(world.events().last().unwrap(), "customer.subscription.updated");
    assert_eq!(world.objects("subscriptions")[0].state.as_deref(), Some("active"));
    assert_eq!(world.ask("POST", &pay, "").0, 400, "it is paid already");
}

#[test]
fn a_trial_ends() {
    for by_call in [true, false] {
        let mut world = World::of("stripe");
        let (_, trial) = subscribed(&mut world, "pm_card_visa", "&trial_period_days=7");
        assert_eq!(invoice(&mut world, &trial)["total"], 0);
        let path = format!("{SUBSCRIPTIONS}/{}", id(&trial));
        if by_call {
            assert_eq!(world.ask("POST", &path, "trial_end=now").0, 200);
        } else {
            world.act(MockAction::Move { object: id(&trial), to: None }).unwrap();
        }
        let (_, now) = world.ask("GET", &path, "");
        assert_eq!(now["status"], "active");
        assert_eq!(invoice(&mut world, &now)["amount_paid"], 4_000);
    }
}

#[test]
fn items_of_a_subscription_change() {
    let mut world = World::of("stripe");
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", "");
    let path = format!("{SUBSCRIPTIONS}/{}", id(&subscription));
    let (item, other) = (id(&subscription["items"]["data"][0]).to_owned(), plan(&mut world, 500));
    let form = format!("items[0][id]={item}&items[0][quantity]=5&items[1][price]={other}");
    let (status, changed) = world.ask("POST", &path, &form);
    assert_eq!(status, 200, "{changed}");
    let items = changed["items"]["data"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["id"], &items[0]["quantity"]), (2, &json!(item), &json!(5)));
    let renewed = renew(&mut world, id(&subscription));
    assert_eq!(invoice(&mut world, &renewed)["total"], 10_500);
    let gone = format!("items[0][id]={item}&items[0][deleted]=true");
    let (_, changed) = world.ask("POST", &path, &gone);
    assert_eq!(changed["items"]["data"].as_array().unwrap().len(), 1);
    for wrong in ["items[0][id]=si_none&items[0][quantity]=1", "items[0][price]=price_none"] {
        let (status, error) = world.ask("POST", &path, wrong);
        assert_eq!((status, &error["error"]["code"]), (404, &json!("resource_missing")));
    }
}

#[test]
fn what_a_subscription_lacks_or_must_not_have_is_told() {
    let mut world = World::of("stripe");
    let once = "currency=usd&unit_amount=5&product_data[name]=Cup";
    let once = id(&world.ask("POST", "/v1/prices", once).1).to_owned();
    let yearly = "currency=usd&unit_amount=5&recurring[interval]=year&product_data[name]=Cup";
    let yearly = id(&world.ask("POST", "/v1/prices", yearly).1).to_owned();
    let (monthly, ada) = (plan(&mut world, 100), customer(&mut world, "pm_card_visa"));
    let poor = id(&world.ask("POST", "/v1/customers", "").1).to_owned();
    let of = |customer: &str, price: &str| format!("customer={customer}&items[0][price]={price}");
    let good = of(&ada, &monthly);
    let cases = [
        (format!("items[0][price]={monthly}"), 400, "customer"),
        (format!("customer={ada}"), 400, "items"),
        (of("cus_none", &monthly), 404, "customer"),
        (of(&ada, "price_none"), 404, "price"),
        (of(&ada, &once), 400, "items"),
        (format!("{good}&items[1][price]={yearly}"), 400, "items"),
        (format!("{good}&payment_behavior=x"), 400, "payment_behavior"),
        (format!("{good}&trial_period_days=731"), 400, "trial_period_days"),
        (format!("{good}&trial_end=1"), 400, "trial_end"),
        (format!("{good}&collection_method=x"), 400, "collection_method"),
        (format!("{good}&items[0][quantity]=9999999999999"), 400, "items[0]"),
        (format!("{good}&default_payment_method=pm_none"), 404, "payment_method"),
    ];
    for (form, wanted, param) in cases {
        let (status, error) = world.ask("POST", SUBSCRIPTIONS, &form);
        assert_eq!((status, &error["error"]["param"]), (wanted, &json!(param)), "{form}: {error}");
    }
    let (status, error) = world.ask("POST", SUBSCRIPTIONS, &of(&poor, &monthly));
    assert_eq!((status, &error["error"]["code"]), (400, &json!("resource_missing")));
    assert!(world.objects("subscriptions").is_empty() && world.objects("invoices").is_empty());
}

#[test]
fn prices_and_products_are_found_and_changed() {
    let mut world = World::of("stripe");
    let form =
        "id=tea&name=Tea&default_price_data[currency]=eur&default_price_data[unit_amount]=350";
    let (_, tea) = world.ask("POST", "/v1/products", form);
    assert_eq!(world.events(), ["price.created", "product.created"]);
    let price = tea["default_price"].as_str().unwrap().to_owned();
    let path = format!("/v1/prices/{price}");
    let (_, shown) = world.ask("GET", &format!("{path}?expand[]=product"), "");
    assert_eq!((&shown["product"]["name"], &shown["type"]), (&json!("Tea"), &json!("one_time")));
    assert_eq!(world.ask("POST", "/v1/products", form).0, 400, "the id is taken");
    let keyed = "product=tea&currency=eur&unit_amount=1&lookup_key=small";
    assert_eq!(world.ask("POST", "/v1/prices", keyed).0, 200);
    assert_eq!(
        world.ask("POST", "/v1/prices", keyed).1["error"]["code"],
        "resource_already_exists"
    );
    let (_, moved) = world.ask("POST", "/v1/prices", &format!("{keyed}&transfer_lookup_key=true"));
    let (_, found) = world.ask("GET", "/v1/prices?lookup_keys[]=small", "");
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    assert_eq!(found["data"][0]["id"], moved["id"]);
    assert_eq!(world.ask("POST", &path, "active=false").1["active"], false);
    let (_, active) =
        world.ask("GET", "/v1/prices?active=true&product=tea&expand[]=data.product", "");
    assert_eq!(active["data"][0]["product"]["id"], "tea");
    assert_eq!(active["data"].as_array().unwrap().len(), 2);
    assert_eq!(world.ask("DELETE", "/v1/products/tea", "").0, 400, "it has prices");
    assert_eq!(world.ask("POST", "/v1/products/tea", "name=Green tea").1["name"], "Green tea");
    let other = id(&world.ask("POST", "/v1/products", "name=Cup").1).to_owned();
    assert_eq!(world.ask("DELETE", &format!("/v1/products/{other}"), "").1["deleted"], true);
}

#[test]
fn what_a_price_must_not_have_is_told() {
    let good = "product_data[name]=Tea&currency=eur&unit_amount=350";
    let cases = [
        ("product=none&currency=eur&unit_amount=1".to_owned(), "product"),
        ("product_data[name]=Tea&unit_amount=350".to_owned(), "currency"),
        ("product_data[name]=Tea&currency=eur".to_owned(), "unit_amount"),
        (good.replace("350", "-1"), "unit_amount"),
        (good.replace("350", "1000000000000"), "unit_amount"),
        (format!("{good}&recurring[interval]=hour"), "recurring[interval]"),
        (
            format!("{good}&recurring[interval]=year&recurring[interval_count]=4"),
            "recurring[interval_count]",
        ),
        (
            format!("{good}&recurring[interval]=day&recurring[usage_type]=metered"),
            "recurring[usage_type]",
        ),
        (format!("{good}&billing_scheme=tiered"), "billing_scheme"),
    ];
    for (form, param) in cases {
        let (_, error) = World::of("stripe").ask("POST", "/v1/prices", &form);
        assert_eq!(error["error"]["param"], param, "{form}: {error}");
    }
}

#[test]
fn checkout_sells_a_subscription() {
    let mut world = World::of("stripe");
    let price = plan(&mut world, 2_000);
    let form = format!(
        "mode=subscription&success_url=https://app.test/done&customer_email=ada@example.com\
         &line_items[0][price]={price}&line_items[0][quantity]=3&subscription_data[metadata][a]=1"
    );
    let (status, session) = world.ask("POST", "/v1/checkout/sessions", &form);
    assert_eq!((status, &session["amount_total"]), (200, &json!(6_000)), "{session}");
    let path = format!("/v1/checkout/sessions/{}", id(&session));
    let (_, items) = world.ask("GET", &format!("{path}/line_items"), "");
    assert_eq!(
        (&items["data"][0]["quantity"], &items["data"][0]["price"]["id"]),
        (&json!(3), &json!(price))
    );
    let pay = MockAction::Decide { kind: "sessions", id: id(&session), to: "complete" };
    world.set = json!({"decline": "lost_card"});
    assert_eq!(world.act(pay).unwrap().object.unwrap().state.as_deref(), Some("open"));
    assert!(world.objects("subscriptions").is_empty());
    world.set = json!({});
    let done = world.act(pay).unwrap().object.unwrap().object;
    let sent = world.events();
    for event in ["customer.subscription.created", "invoice.paid", "checkout.session.completed"] {
        assert!(sent.contains(&event.to_owned()), "{event}: {sent:?}");
    }
    let (_, shown) =
        world.ask("GET", &format!("{path}?expand[]=subscription&expand[]=line_items"), "");
    assert_eq!(
        (&shown["subscription"]["status"], &done["payment_status"]),
        (&json!("active"), &json!("paid"))
    );
    assert_eq!(shown["subscription"]["metadata"], json!({"a": "1"}));
    assert_eq!(shown["line_items"]["data"][0]["amount_total"], 6_000);
    let (_, customer) =
        world.ask("GET", &format!("/v1/customers/{}", done["customer"].as_str().unwrap()), "");
    assert_eq!(customer["email"], "ada@example.com");
    for (wrong, param) in [
        (form.replace("mode=subscription", "mode=payment"), "line_items"),
        (form.replace(&price, "price_none"), "price"),
        (form.replace("mode=subscription", "mode=x"), "mode"),
    ] {
        let (_, error) = world.ask("POST", "/v1/checkout/sessions", &wrong);
        assert_eq!(error["error"]["param"], param, "{wrong}: {error}");
    }
}

#[test]
fn a_customer_who_goes_ends_the_subscriptions() {
    let mut world = World::of("stripe");
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", "");
    let customer = format!("/v1/customers/{}", subscription["customer"].as_str().unwrap());
    assert_eq!(world.ask("DELETE", &customer, "").0, 200);
    assert_eq!(world.events(), ["customer.subscription.deleted", "customer.deleted"]);
}

#[test]
fn many_items_and_addresses_fit_into_one_call() {
    let mut world = World::with("stripe", json!({"webhooks": {"duplicate": 1}}));
    for at in 0..2 {
        let form = format!("url=https://other.test/{at}&enabled_events[]=*");
        world.ask("POST", "/v1/webhook_endpoints", &form);
    }
    let customer = customer(&mut world, "pm_card_visa");
    let mut form = format!("customer={customer}");
    for at in 0..5 {
        let price = plan(&mut world, 100 + at);
        write!(form, "&items[{at}][price]={price}").unwrap();
    }
    let (status, subscription) = world.ask("POST", SUBSCRIPTIONS, &form);
    assert_eq!(status, 200, "{subscription}");
    assert_eq!(world.sent().len(), 8 * 3 * 2, "each event to each address twice");
}
