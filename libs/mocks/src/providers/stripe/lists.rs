//! Lists: newest first, by cursors.

use serde_json::{Map, Value, json};

use super::wire::{shown, texts};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 100;
/// Whether a time holds against a bound.
type Comparison = fn(i64, i64) -> bool;
/// Bounds on `created`, and how they compare.
const CREATED: [(&str, Comparison); 4] = [
    ("created.gte", |created, bound| created >= bound),
    ("created.gt", |created, bound| created > bound),
    ("created.lte", |created, bound| created <= bound),
    ("created.lt", |created, bound| created < bound),
];

pub(super) fn payments(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "payments", &["customer"])
}

pub(super) fn methods(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "methods", &["customer", "type"])
}

pub(super) fn customers(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "customers", &["email"])
}

pub(super) fn charges(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "charges", &["customer", "payment_intent"])
}

pub(super) fn refunds(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "refunds", &["charge", "payment_intent"])
}

pub(super) fn events(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "events", &["type"])
}

pub(super) fn endpoints(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "endpoints", &[])
}

pub(super) fn sessions(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    page(context, "sessions", &["customer", "payment_intent", "status"])
}

pub(super) fn products(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (mut products, ids) =
        (of_fields(context, "products", &["active", "url"])?, texts(context, "ids"));
    products.retain(|product| ids.is_empty() || ids.contains(&product.id));
    shown_page(context, products)
}

pub(super) fn prices(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let fields = ["active", "currency", "product", "type", "recurring.interval"];
    let (mut prices, keys) =
        (of_fields(context, "prices", &fields)?, texts(context, "lookup_keys"));
    let has = |key: &Value| key.as_str().is_some_and(|key| keys.iter().any(|it| it == key));
    prices.retain(|price| keys.is_empty() || has(&price.object["lookup_key"]));
    shown_page(context, prices)
}

/// Those that have ended are there only where they are asked for.
pub(super) fn subscriptions(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let all = context.list("subscriptions")?;
    let mut subscriptions = as_wanted(context, all, &["customer", "collection_method"])?;
    let status = context.text("status");
    subscriptions.retain(|it| match (status.as_deref(), it.state.as_deref()) {
        (Some("all"), _) => true,
        (Some("ended"), state) => matches!(state, Some("canceled" | "incomplete_expired")),
        (Some(wanted), state) => state == Some(wanted),
        (None, state) => state != Some("canceled"),
    });
    if let Some(price) = context.text("price") {
        let has = |item: &Value| item["price"]["id"] == price.as_str();
        subscriptions.retain(|it| {
            it.object["items"]["data"].as_array().is_some_and(|all| all.iter().any(has))
        });
    }
    shown_page(context, subscriptions)
}

pub(super) fn invoices(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut invoices =
        of_fields(context, "invoices", &["customer", "status", "collection_method"])?;
    if let Some(wanted) = context.text("subscription") {
        let of = "/parent/subscription_details/subscription";
        invoices.retain(|invoice| {
            invoice.object.pointer(of).and_then(Value::as_str) == Some(wanted.as_str())
        });
    }
    shown_page(context, invoices)
}

pub(super) fn items(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut items = of_fields(context, "items", &["customer", "invoice"])?;
    if let Some(pending) = context.text("pending") {
        items.retain(|item| item.object["invoice"].is_null() == (pending == "true"));
    }
    shown_page(context, items)
}

/// A page of the objects of a kind whose fields are as the call wants them.
fn page(
    context: &mut CallContext<'_>,
    kind: &'static str,
    fields: &[&str],
) -> Result<MockReply, Halt> {
    let objects = of_fields(context, kind, fields)?;
    shown_page(context, objects)
}

/// The objects of a kind whose fields are as the call wants them, newest first. Where it wants just any, no more are
/// read than it is shown.
fn of_fields(
    context: &mut CallContext<'_>,
    kind: &'static str,
    fields: &[&str],
) -> Result<Vec<StoredObject>, Halt> {
    let wants_any =
        wants_any(context) && fields.iter().all(|field| of_path(context, field).is_none());
    let objects = if wants_any {
        // One more, which says that there are more.
        let most = limit(context)?.saturating_add(1);
        context.newest(kind, most)?
    } else {
        context.list(kind)?
    };
    as_wanted(context, objects, fields)
}

/// Whether no parameter says which objects are meant.
fn wants_any(context: &CallContext<'_>) -> bool {
    let given = [&context.query, &context.body].into_iter().filter_map(Value::as_object);
    given.flat_map(Map::keys).all(|name| matches!(name.as_str(), "limit" | "expand"))
}

fn of_path(context: &CallContext<'_>, field: &str) -> Option<String> {
    Some(context.path(field)).filter(|value| !value.is_empty())
}

/// Those whose fields are as the call wants them.
fn as_wanted(
    context: &CallContext<'_>,
    mut objects: Vec<StoredObject>,
    fields: &[&str],
) -> Result<Vec<StoredObject>, Halt> {
    for field in fields {
        let of_path = of_path(context, field);
        let Some(wanted) = of_path.or_else(|| context.text(field)) else { continue };
        let pointer = format!("/{}", field.replace('.', "/"));
        objects.retain(|object| match object.object.pointer(&pointer) {
            Some(Value::Bool(is_so)) => wanted == if *is_so { "true" } else { "false" },
            found => found.and_then(Value::as_str) == Some(wanted.as_str()),
        });
    }
    for (field, holds) in CREATED {
        if let Some(bound) = context.int(field)? {
            objects.retain(|it| holds(it.object["created"].as_i64().unwrap_or(0), bound));
        }
    }
    Ok(objects)
}

/// The part of these objects that the call asks for.
pub(super) fn shown_page(
    context: &mut CallContext<'_>,
    objects: Vec<StoredObject>,
) -> Result<MockReply, Halt> {
    let limit = limit(context)?;
    let (data, has_more) = cut(context, objects, limit);
    for object in &data {
        context.touch(&object.id);
    }
    let data: Vec<Value> = data.into_iter().map(|object| object.object).collect();
    let url = &context.call.path;
    let list = json!({"object": "list", "url": url, "has_more": has_more, "data": data});
    shown(context, list)
}

/// How many are shown.
fn limit(context: &CallContext<'_>) -> Result<usize, Halt> {
    let limit = context.int("limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("This value must be from 1 to {MAX_LIMIT}.");
        return Err(CallFailure::invalid("limit", message).into());
    }
    Ok(usize::try_from(limit).unwrap_or(0))
}

/// The objects behind or before a cursor, and whether there are more.
fn cut(
    context: &CallContext<'_>,
    mut objects: Vec<StoredObject>,
    limit: usize,
) -> (Vec<StoredObject>, bool) {
    let place = |objects: &[StoredObject], id: &str| objects.iter().position(|it| it.id == id);
    if let Some(id) = context.text("ending_before") {
        objects.truncate(place(&objects, &id).unwrap_or(0));
        let more = objects.len() > limit;
        let first = objects.len().saturating_sub(limit);
        return (objects.split_off(first), more);
    }
    if let Some(id) = context.text("starting_after") {
        let first = place(&objects, &id).map_or(objects.len(), |place| place + 1);
        objects = objects.split_off(first);
    }
    let more = objects.len() > limit;
    objects.truncate(limit);
    (objects, more)
}
