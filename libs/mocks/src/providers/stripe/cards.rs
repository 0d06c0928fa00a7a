//! Payment methods: cards by their test numbers, or by the names that stand for these.

use serde_json::{Value, json};

use super::{
    registered::web_address,
    wire::{emit, shown},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Names that stand for cards which nothing is wrong with, their numbers and brands.
const GOOD: [(&str, &str, &str); 5] = [
    ("pm_card_visa", "4242424242424242", "visa"),
    ("pm_card_visa_debit", "4000056655665556", "visa"),
    ("pm_card_mastercard", "5555555555554444", "mastercard"),
    ("pm_card_amex", "378282246310005", "amex"),
    ("tok_visa", "4242424242424242", "visa"),
];
/// Cards whose owner has to confirm each payment.
const AUTHENTICATED: [&str; 4] = [
    "pm_card_authenticationRequired",
    "pm_card_threeDSecure2Required",
    "4000002500003155",
    "4000002760003184",
];
/// Cards that can be kept, and fail when they are charged.
const FAILS_LATER: [&str; 2] = ["pm_card_chargeCustomerFail", "4000000000000341"];
/// Card numbers, shortest and longest.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 12..=19;

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    if context.need("type")? != "card" {
        return Err(CallFailure::invalid("type", "only cards are there").into());
    }
    let number = context.text("card.token").map_or_else(|| context.need("card.number"), Ok)?;
    let method = card(context, &number, "card.number")?;
    shown(context, method.object)
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let id = context.path("id");
    let method = named(context, &id)?;
    shown(context, method.object)
}

pub(super) fn attach(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let id = context.path("id");
    let customer = context.need("customer")?;
    context.get("customers", &customer, "customer")?;
    let method = named(context, &id)?;
    let trigger = trigger(&method);
    let is_later = FAILS_LATER.contains(&trigger.as_str());
    let values: &[&str] = if is_later { &[] } else { &[&trigger] };
    if let Some(decline) = context.declined(values) {
        return Err(CallFailure::Declined(decline, Value::Null).into());
    }
    let method = context.change(method, json!({"customer": customer}));
    emit(context, "payment_method.attached", &method);
    shown(context, method.object)
}

pub(super) fn detach(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let method = context.of_path("methods")?;
    let method = context.change(method, json!({"customer": null}));
    shown(context, method.object)
}

/// The method that an id means; a name that stands for a card makes one.
pub(super) fn named(context: &mut CallContext<'_>, id: &str) -> Result<StoredObject, Halt> {
    if id.starts_with("pm_card_") || id.starts_with("tok_") {
        return card(context, id, "payment_method");
    }
    context.get("methods", id, "payment_method")
}

/// The method that a call names or describes; none where it does neither.
pub(super) fn of_call(context: &mut CallContext<'_>) -> Result<Option<StoredObject>, Halt> {
    if let Some(id) = context.text("payment_method") {
        return named(context, &id).map(Some);
    }
    let token = context.text("payment_method_data.card.token");
    match token.or_else(|| context.text("payment_method_data.card.number")) {
        Some(number) => card(context, &number, "payment_method_data.card.number").map(Some),
        None => Ok(None),
    }
}

/// The method that a call names or describes, or else the one that an intent has.
pub(super) fn of_call_or(
    context: &mut CallContext<'_>,
    intent: &StoredObject,
) -> Result<Option<StoredObject>, Halt> {
    if let Some(method) = of_call(context)? {
        return Ok(Some(method));
    }
    intent.object["payment_method"].as_str().map(|id| named(context, id)).transpose()
}

/// The test number or name that a method was made of.
pub(super) fn trigger(method: &StoredObject) -> String {
    method.hidden["trigger"].as_str().unwrap_or_default().to_owned()
}

/// Whether the owner has to confirm what is paid with a method.
pub(super) fn needs_action(method: &StoredObject) -> bool {
    AUTHENTICATED.contains(&trigger(method).as_str())
}

/// What the owner of a card has to do: the page for it, and where that returns to, which the object keeps.
pub(super) fn next_action(
    context: &mut CallContext<'_>,
    object: &mut StoredObject,
) -> Result<Value, Halt> {
    let page = context.page_url(&object.kind, &object.id);
    if context.text("return_url").is_none() {
        let sdk = json!({"type": "three_d_secure_redirect", "stripe_js": page});
        return Ok(json!({"type": "use_stripe_sdk", "use_stripe_sdk": sdk}));
    }
    let back = web_address(context, "return_url")?;
    object.hidden["return_url"] = json!(back);
    let redirect = json!({"return_url": back, "url": page});
    Ok(json!({"type": "redirect_to_url", "redirect_to_url": redirect}))
}

/// The error of an object whose owner did not confirm it.
pub(super) fn not_authenticated(code: &str) -> Value {
    let message = "The provided PaymentMethod has failed authentication. You can provide \
                   payment_method_data or a new PaymentMethod to attempt again.";
    json!({"type": "invalid_request_error", "code": code, "message": message})
}

fn card(
    context: &mut CallContext<'_>,
    given: &str,
    field: &'static str,
) -> Result<StoredObject, Halt> {
    let (number, brand) = number_of(context, given, field)?;
    let id = context.id("methods");
    let last4 = &number[number.len() - 4..];
    let checks = json!({
        "address_line1_check": null, "address_postal_code_check": null, "cvc_check": "pass",
    });
    let month = context.text("card.exp_month").and_then(|text| text.parse().ok()).unwrap_or(12_u32);
    let year = context.text("card.exp_year").and_then(|text| text.parse().ok()).unwrap_or(2034_u32);
    let object = json!({
        "id": id,
        "object": "payment_method",
        "allow_redisplay": "unspecified",
        "billing_details": {"address": null, "email": null, "name": null, "phone": null, "tax_id": null},
        "card": {
            "brand": brand, "checks": checks, "country": "US", "display_brand": brand,
            "exp_month": month, "exp_year": year, "fingerprint": "Xt5EWLLDS7FJjR1c",
            "funding": "credit", "generated_from": null, "last4": last4,
            "networks": {"available": [brand], "preferred": null},
            "regulated_status": "unregulated",
            "three_d_secure_usage": {"supported": true}, "wallet": null,
        },
        "created": context.seconds(),
        "customer": null,
        "livemode": false,
        "metadata": context.map("metadata"),
        "type": "card",
    });
    let mut method = context.create("methods", &id, object);
    method.hidden = json!({"trigger": given});
    Ok(context.put(method))
}

/// The number of the card that a number or a name means, and its brand.
fn number_of(
    context: &CallContext<'_>,
    given: &str,
    field: &'static str,
) -> Result<(String, &'static str), Halt> {
    let is_number = given.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && CARD_DIGITS.contains(&given.len()) {
        return Ok((given.to_owned(), brand_of(given)));
    }
    if let Some((_, number, brand)) = GOOD.iter().find(|(name, _, _)| *name == given) {
        return Ok(((*number).to_owned(), brand));
    }
    if AUTHENTICATED.contains(&given) {
        return Ok(("4000002500003155".to_owned(), "visa"));
    }
    let decline = context.provider.declines.iter().find(|it| it.triggers.contains(&given));
    let number = decline.and_then(|it| it.triggers.iter().find(|text| text.starts_with("4000")));
    if let Some(number) = number {
        return Ok(((*number).to_owned(), "visa"));
    }
    if is_number {
        let message = "Your card number is incorrect.".to_owned();
        let (field, code) = (field.to_owned(), "incorrect_number");
        return Err(CallFailure::Invalid { field, code, message }.into());
    }
    Err(CallFailure::NotFound { kind: "methods", id: given.to_owned(), field }.into())
}

fn brand_of(number: &str) -> &'static str {
    match number.as_bytes().first() {
        Some(b'5' | b'2') => "mastercard",
        Some(b'3') => "amex",
        Some(b'6') => "discover",
        _ => "visa",
    }
}
