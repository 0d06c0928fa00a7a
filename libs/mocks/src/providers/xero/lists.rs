//! Lists: filtered, sorted, in pages.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{
    filters::{WhereFilter, compare},
    resources::of_path,
    wire::{answer, time_of},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const PAGE: i64 = 100;
const MAX_PAGE: i64 = 1_000;
/// Letters of filters.
const MAX_LETTERS: usize = 4_000;

/// Values of a parameter that are joined by commas.
fn listed(context: &CallContext<'_>, name: &str) -> Option<Vec<String>> {
    let text = context.text(name)?;
    Some(text.split(',').map(|one| one.trim().to_lowercase()).collect())
}

/// The object's field that each list of values is about.
fn narrow(context: &CallContext<'_>, id: &str, number: &str, objects: &mut Vec<StoredObject>) {
    let lists = [
        ("IDs", format!("/{id}")),
        ("Statuses", "/Status".to_owned()),
        ("InvoiceNumbers", format!("/{number}")),
        ("ContactIDs", "/Contact/ContactID".to_owned()),
    ];
    for (name, pointer) in lists {
        let Some(wanted) = listed(context, name) else { continue };
        objects.retain(|object| {
            let value = object.object.pointer(&pointer).and_then(Value::as_str);
            value.is_some_and(|value| wanted.contains(&value.to_lowercase()))
        });
    }
    if context.text("includeArchived").is_none_or(|it| !it.eq_ignore_ascii_case("true")) {
        objects.retain(|object| object.object["ContactStatus"] != "ARCHIVED");
    }
    let since = context.call.header("if-modified-since").and_then(time_of);
    if let Some(since) = since {
        objects.retain(|object| object.updated_at > since);
    }
    if let Some(term) = context.text("searchTerm").map(|term| term.to_lowercase()) {
        let fields =
            ["Name", "FirstName", "LastName", "EmailAddress", "InvoiceNumber", "Reference"];
        objects.retain(|object| {
            let mut texts = fields.iter().filter_map(|field| object.object[*field].as_str());
            texts.any(|text| text.to_lowercase().contains(&term))
        });
    }
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let resource = of_path(context)?;
    let size = context.int("pageSize")?.unwrap_or(PAGE);
    let page = context.int("page")?;
    if !(1..=MAX_PAGE).contains(&size) || page.is_some_and(|page| page < 1) {
        let message = format!("pageSize is from 1 to {MAX_PAGE}, and page from 1");
        return Err(CallFailure::invalid("page", message).into());
    }
    let unclear = |message: String| CallFailure::Invalid {
        field: "where".to_owned(),
        code: "query",
        message,
    };
    let text = context.text("where").unwrap_or_default();
    if text.len() > MAX_LETTERS {
        return Err(unclear(format!("at most {MAX_LETTERS} characters")).into());
    }
    let filter = WhereFilter::parse(&text).map_err(unclear)?;
    let mut objects = context.list("records")?;
    objects.retain(|object| object.hidden["type"] == resource.name);
    objects.sort_by_key(|object| (object.created_at, object.hidden["place"].as_u64()));
    narrow(context, resource.id, resource.number, &mut objects);
    objects.retain(|object| filter.holds(&object.object));
    sort(context, &mut objects);
    let total = objects.len();
    let mut body = Value::Null;
    if let Some(page) = page {
        let (size, page) = (usize::try_from(size).unwrap_or(1), usize::try_from(page).unwrap_or(1));
        let first = (page - 1).saturating_mul(size);
        objects = objects.into_iter().skip(first).take(size).collect();
        body = json!({
            "page": page, "pageSize": size, "pageCount": total.div_ceil(size), "itemCount": total,
        });
    }
    for object in &objects {
        context.touch(&object.id);
    }
    let shown: Vec<_> = objects.into_iter().map(|object| object.object).collect();
    let mut reply = answer(context, resource.name, &shown);
    if !body.is_null() {
        reply["pagination"] = body;
    }
    Ok(MockReply::ok(&reply))
}

fn sort(context: &CallContext<'_>, objects: &mut [StoredObject]) {
    let Some(order) = context.text("order") else { return };
    let first = order.split(',').next().unwrap_or_default().trim();
    let (field, direction) = first.split_once(' ').unwrap_or((first, "ASC"));
    let pointer = format!("/{}", field.replace('.', "/"));
    let descends = direction.trim().eq_ignore_ascii_case("DESC");
    objects.sort_by(|one, other| {
        let value =
            |object: &StoredObject| object.object.pointer(&pointer).cloned().unwrap_or_default();
        let order = compare(&value(one), &value(other)).unwrap_or(Ordering::Equal);
        if descends { order.reverse() } else { order }
    });
}
