//! `expand[]`: objects in place of their ids, also in objects and lists below.

use serde_json::Value;

use super::{invoices, sessions};
use crate::{
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Paths of one call.
const MAX_PATHS: usize = 20;
/// Names of one path, `data` of lists left out.
const MAX_DEPTH: usize = 4;

/// The object, with those that `expand[]` names in place of their ids. A name that leads nowhere changes nothing.
pub(super) fn expanded(context: &mut CallContext<'_>, mut object: Value) -> Result<Value, Halt> {
    let paths = context.field("expand").and_then(Value::as_array).cloned().unwrap_or_default();
    if paths.len() > MAX_PATHS {
        return Err(too_much("paths", MAX_PATHS));
    }
    let mut all = Ok(());
    for path in paths.iter().filter_map(Value::as_str) {
        let names: Vec<_> = path.split('.').collect();
        if names.iter().filter(|name| **name != "data").count() > MAX_DEPTH {
            return Err(too_much("levels", MAX_DEPTH));
        }
        // All that is missing is asked for in one round.
        all = expand(context, &mut object, &names).and(all);
    }
    all.map(|()| object)
}

fn too_much(what: &str, most: usize) -> Halt {
    CallFailure::invalid("expand", format!("You cannot expand more than {most} {what}.")).into()
}

fn expand(context: &mut CallContext<'_>, value: &mut Value, path: &[&str]) -> Result<(), Halt> {
    let Some((name, rest)) = path.split_first() else { return Ok(()) };
    if let Some(items) = value.get_mut(*name).and_then(Value::as_array_mut) {
        let mut all = Ok(());
        for item in items {
            all = expand(context, item, rest).and(all);
        }
        return all;
    }
    if let Some(found) = behind(context, value, name)? {
        value[*name] = found;
    }
    value.get_mut(*name).map_or(Ok(()), |child| expand(context, child, rest))
}

/// What a name stands for, where it is not in the object yet.
fn behind(context: &mut CallContext<'_>, value: &Value, name: &str) -> Result<Option<Value>, Halt> {
    match (value["object"].as_str(), name) {
        (Some("invoice"), "payments") => return Ok(Some(invoices::payments_of(value))),
        (Some("checkout.session"), "line_items") => return sessions::items_of(context, value),
        _ => {}
    }
    let Some(id) = value.get(name).and_then(Value::as_str) else { return Ok(None) };
    let Some(kind) = kind_of(name, id) else { return Ok(None) };
    Ok(context.find(kind, id)?.map(|found| found.object))
}

/// The kind of the object that a field names. Ids of products may be the app's own.
fn kind_of(field: &str, id: &str) -> Option<&'static str> {
    if field == "product" {
        return Some("products");
    }
    let kinds = super::STRIPE.kinds.iter();
    kinds.filter(|kind| id.starts_with(kind.prefix)).map(|kind| kind.name).next()
}
