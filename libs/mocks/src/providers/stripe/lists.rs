//! Lists: newest first, by cursors.

use serde_json::{Value, json};

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

/// A page of the objects of a kind whose fields are as the call wants them.
fn page(
    context: &mut CallContext<'_>,
    kind: &'static str,
    fields: &[&str],
) -> Result<MockReply, Halt> {
    let limit = context.int("limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("This value must be from 1 to {MAX_LIMIT}.");
        return Err(CallFailure::invalid("limit", message).into());
    }
    let mut objects = context.list(kind)?;
    for field in fields {
        let of_path = Some(context.path(field)).filter(|value| !value.is_empty());
        if let Some(wanted) = of_path.or_else(|| context.text(field)) {
            objects.retain(|object| object.object[*field] == wanted.as_str());
        }
    }
    for (field, holds) in CREATED {
        if let Some(bound) = context.int(field)? {
            objects.retain(|it| holds(it.object["created"].as_i64().unwrap_or(0), bound));
        }
    }
    let limit = usize::try_from(limit).unwrap_or(0);
    let (data, has_more) = cut(context, objects, limit);
    for object in &data {
        context.touch(&object.id);
    }
    let data: Vec<Value> = data.into_iter().map(|object| object.object).collect();
    let url = &context.call.path;
    let list = json!({"object": "list", "url": url, "has_more": has_more, "data": data});
    Ok(MockReply::ok(&list))
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
