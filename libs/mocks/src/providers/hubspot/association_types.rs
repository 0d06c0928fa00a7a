//! The types of associations that the provider has by itself.

use serde_json::Value;

use crate::failure::{CallFailure, Halt};

/// What all types of the table are.
pub(super) const CATEGORY: &str = "HUBSPOT_DEFINED";

/// A type of associations: from, to, its number, that of the way back, and its label.
type AssociationType = (&'static str, &'static str, u64, u64, Option<&'static str>);

/// The types that the provider has by itself, each in one direction; the first of two types is the usual one.
const TYPES: [AssociationType; 15] = [
    ("contacts", "companies", 279, 280, None),
    ("contacts", "companies", 1, 2, Some("Primary")),
    ("contacts", "deals", 4, 3, None),
    ("contacts", "tickets", 15, 16, None),
    ("contacts", "contacts", 449, 449, None),
    ("companies", "deals", 342, 341, None),
    ("companies", "deals", 6, 5, Some("Primary")),
    ("companies", "tickets", 340, 339, None),
    ("companies", "tickets", 25, 26, Some("Primary")),
    ("companies", "companies", 450, 450, None),
    ("companies", "companies", 13, 14, Some("Child Company")),
    ("deals", "tickets", 27, 28, None),
    ("deals", "line_items", 19, 20, None),
    ("deals", "deals", 451, 451, None),
    ("tickets", "tickets", 452, 452, None),
];

/// The types between two types of objects: number, number of the way back, and label.
pub(super) fn types_between(
    from: &str,
    to: &str,
) -> impl Iterator<Item = (u64, u64, Option<&'static str>)> + use<> {
    let (from, to) = (from.to_owned(), to.to_owned());
    TYPES.into_iter().flat_map(move |(one, other, there, back, label)| {
        let forth = (one == from && other == to).then_some((there, back, label));
        let is_back = there != back && other == from && one == to;
        let label = if label == Some("Child Company") { Some("Parent Company") } else { label };
        forth.into_iter().chain(is_back.then_some((back, there, label)))
    })
}

/// The numbers that a call gives, of the types between two types of objects; the usual one where it gives none.
pub(super) fn numbers(
    given: Option<&Value>,
    from: &str,
    to: &str,
) -> Result<Vec<(u64, u64)>, Halt> {
    let known: Vec<_> = types_between(from, to).map(|(there, back, _)| (there, back)).collect();
    let wrong = |message: String| Halt::from(CallFailure::invalid("associationTypeId", message));
    let Some(given) = given.and_then(Value::as_array).filter(|given| !given.is_empty()) else {
        let usual = known.first().copied();
        let message = format!("no association is there between {from} and {to}");
        return usual.map(|usual| vec![usual]).ok_or_else(|| wrong(message));
    };
    let number = |it: &Value| {
        let number = it["associationTypeId"].as_u64();
        let found = known.iter().find(|(there, _)| Some(*there) == number).copied();
        let message = format!("{} is no type between {from} and {to}", it["associationTypeId"]);
        found.ok_or_else(|| wrong(message))
    };
    given.iter().map(number).collect()
}

/// The number that the provider has for a type of objects.
pub(super) fn object_type_id(of_type: &str) -> &'static str {
    match of_type {
        "contacts" => "0-1",
        "companies" => "0-2",
        "deals" => "0-3",
        "tickets" => "0-5",
        "products" => "0-7",
        _ => "0-8",
    }
}
