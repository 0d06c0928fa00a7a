//! Institutions of the sandbox.

use serde_json::{Value, json};

use super::wire::ok;
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Ids, names and routing numbers.
const INSTITUTIONS: [(&str, &str, &str); 6] = [
    ("ins_109508", "First Platypus Bank", "110000000"),
    ("ins_109509", "First Gingham Credit Union", "011401533"),
    ("ins_109510", "Tattersall Federal Credit Union", "021000021"),
    ("ins_109511", "Tartan Bank", "121122676"),
    ("ins_109512", "Houndstooth Bank", "021214891"),
    ("ins_127287", "Platypus OAuth Bank", "110000000"),
];
/// What an item can be made with.
pub(super) const PRODUCTS: [&str; 5] = ["auth", "balance", "identity", "transactions", "transfer"];
const MAX_COUNT: i64 = 500;

/// Id, name and routing number of an institution.
pub(super) fn named(id: &str) -> Result<(&'static str, &'static str, &'static str), Halt> {
    let missing = || CallFailure::NotFound {
        kind: "institutions",
        id: id.to_owned(),
        field: "institution_id",
    };
    INSTITUTIONS.into_iter().find(|(known, _, _)| *known == id).ok_or_else(|| missing().into())
}

fn shown((id, name, routing): (&str, &str, &str)) -> Value {
    json!({
        "institution_id": id, "name": name, "products": PRODUCTS, "country_codes": ["US"],
        "routing_numbers": [routing], "connection_availability": "SUPPORTED", "dtc_numbers": [], "oauth": name.contains("OAuth"),
        "url": null, "primary_color": null, "logo": null, "status": null,
    })
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let count = context.int("count")?.ok_or_else(|| CallFailure::missing("count"))?;
    let offset = context.int("offset")?.ok_or_else(|| CallFailure::missing("offset"))?;
    countries(context)?;
    if !(1..=MAX_COUNT).contains(&count) || offset < 0 {
        let message = format!("count must be from 1 to {MAX_COUNT}, and offset not negative");
        return Err(CallFailure::invalid("count", message).into());
    }
    let (count, offset) =
        (usize::try_from(count).unwrap_or(0), usize::try_from(offset).unwrap_or(usize::MAX));
    let found: Vec<_> = INSTITUTIONS.into_iter().skip(offset).take(count).map(shown).collect();
    ok(context, json!({"institutions": found, "total": INSTITUTIONS.len()}))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let id = context.need("institution_id")?;
    countries(context)?;
    let found = named(&id)?;
    ok(context, json!({"institution": shown(found)}))
}

fn countries(context: &CallContext<'_>) -> Result<(), Halt> {
    let given = context.field("country_codes").and_then(Value::as_array);
    given.map(drop).ok_or_else(|| CallFailure::missing("country_codes").into())
}
