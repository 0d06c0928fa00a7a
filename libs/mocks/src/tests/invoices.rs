//! Stripe's invoices that an app makes, and the pages on which people pay them.

use serde_json::json;

use super::{
    World,
    billing::{customer, id, invoice, subscribed},
};
use crate::{ActionRefusal, MockAction};

#[test]
fn an_app_makes_an_invoice_by_itself() {
    let mut world = World::of("stripe");
    let ada = customer(&mut world, "pm_card_visa");
    let item = format!("customer={ada}&amount=1500&currency=usd&description=Work");
    assert_eq!(world.ask("POST", "/v1/invoiceitems", &item).0, 200);
    let form = format!("customer={ada}&pending_invoice_items_behavior=include&metadata[a]=1");
    let (_, draft) = world.ask("POST", "/v1/invoices", &form);
    assert_eq!((&draft["status"], &draft["total"]), (&json!("draft"), &json!(1_500)), "{draft}");
    let path = format!("/v1/invoices/{}", id(&draft));
    let more = format!("{item}&invoice={}", id(&draft));
    let other = id(&world.ask("POST", "/v1/invoiceitems", &more).1).to_owned();
    assert_eq!(world.ask("GET", &path, "").1["total"], 3_000);
    assert_eq!(world.ask("DELETE", &format!("/v1/invoiceitems/{other}"), "").0, 200);
    assert_eq!(world.ask("POST", &path, "description=For May").1["description"], "For May");
    let step = |world: &mut World, verb: &str| {
        let (status, body) = world.ask("POST", &format!("{path}/{verb}"), "");
        (status, body["status"].as_str().map(str::to_owned))
    };
    assert_eq!(step(&mut world, "void").0, 400, "a draft is deleted");
    assert_eq!(step(&mut world, "finalize"), (200, Some("open".to_owned())));
    assert_eq!(step(&mut world, "finalize").0, 400);
    assert_eq!(
        world.ask("POST", "/v1/invoiceitems", &more).1["error"]["code"],
        "invoice_not_editable"
    );
    assert_eq!(world.ask("DELETE", &path, "").0, 400);
    assert_eq!(step(&mut world, "pay"), (200, Some("paid".to_owned())));
    assert_eq!(step(&mut world, "void").0, 400);
    let (_, lines) = world.ask("GET", &format!("{path}/lines"), "");
    assert_eq!(lines["data"][0]["description"], "Work");
    let (_, paid) = world.ask("GET", &format!("/v1/invoices?customer={ada}&status=paid"), "");
    assert_eq!(paid["data"][0]["amount_paid"], 1_500);
}

#[test]
fn an_invoice_is_given_up_or_paid_elsewhere() {
    let cases = [
        ("void", "", "void", "invoice.voided"),
        ("mark_uncollectible", "", "uncollectible", "invoice.marked_uncollectible"),
        ("pay", "paid_out_of_band=true", "paid", "invoice.payment_succeeded"),
        ("send", "", "open", "invoice.sent"),
    ];
    for (verb, form, state, event) in cases {
        let mut world = World::of("stripe");
        let ada = customer(&mut world, "pm_card_visa");
        let draft = world.ask("POST", "/v1/invoices", &format!("customer={ada}")).1;
        let path = format!("/v1/invoices/{}", id(&draft));
        let item = format!("customer={ada}&amount=7&currency=usd&invoice={}", id(&draft));
        world.ask("POST", "/v1/invoiceitems", &item);
        world.ask("POST", &format!("{path}/finalize"), "");
        assert_eq!(world.ask("POST", &format!("{path}/{verb}"), form).1["status"], state);
        assert_eq!(world.events().last().unwrap(), event);
    }
    let mut world = World::of("stripe");
    let ada = customer(&mut world, "pm_card_visa");
    let draft = world.ask("POST", "/v1/invoices", &format!("customer={ada}")).1;
    let path = format!("/v1/invoices/{}", id(&draft));
    assert_eq!(world.ask("DELETE", &path, "").1["deleted"], true);
    assert_eq!(world.ask("GET", &path, "").0, 404);
}

#[test]
fn somebody_pays_an_invoice_on_its_page_and_leaves_by_the_portal() {
    let mut world = World::of("stripe");
    let more = "&collection_method=send_invoice&days_until_due=30";
    let (_, subscription) = subscribed(&mut world, "pm_card_visa", more);
    let open = invoice(&mut world, &subscription);
    assert!(open["hosted_invoice_url"].as_str().unwrap().contains("/_/invoices/in_"));
    let pay = MockAction::Decide { kind: "invoices", id: id(&open), to: "paid" };
    world.set = json!({"decline": "lost_card"});
    let declined = world.act(pay).unwrap().object.unwrap();
    assert_eq!(declined.state.as_deref(), Some("open"));
    world.set = json!({});
    let paid = world.act(pay).unwrap().object.unwrap();
    assert_eq!(paid.state.as_deref(), Some("paid"));
    let none = MockAction::Decide { kind: "invoices", id: id(&open), to: "void" };
    assert_eq!(world.act(none).unwrap_err(), ActionRefusal::State(Vec::new()));
    let customer = subscription["customer"].as_str().unwrap();
    let form = format!("customer={customer}&return_url=https://app.test/account");
    let (_, portal) = world.ask("POST", "/v1/billing_portal/sessions", &form);
    assert!(portal["url"].as_str().unwrap().contains("/_/portals/bps_"), "{portal}");
    let leave = MockAction::Decide { kind: "portals", id: id(&portal), to: "cancelled" };
    let left = world.act(leave).unwrap().object.unwrap();
    assert_eq!(world.events(), ["customer.subscription.updated"]);
    let back = crate::page(world.provider, &left).unwrap().back.unwrap();
    assert_eq!(back, "https://app.test/account");
    let hostile = format!("customer={customer}&return_url=javascript:alert(1)");
    assert_eq!(world.ask("POST", "/v1/billing_portal/sessions", &hostile).0, 400);
}
