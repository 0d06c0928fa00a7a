//! Pages of lists, as API 2010-04-01 has them.

use serde_json::{Value, json};

use super::wire::{VERSION, account};
use crate::{MockReply, StoredObject, context::CallContext, failure::Halt};

const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 1_000;
/// Parameters that say which page is meant.
const PAGING: [&str; 3] = ["Page", "PageSize", "PageToken"];

/// The objects of a kind whose fields are as the call wants them: each with the parameter that says so.
pub(super) fn of_fields(
    context: &mut CallContext<'_>,
    kind: &'static str,
    fields: &[(&str, &str)],
) -> Result<Vec<StoredObject>, Halt> {
    let wants_any = fields.iter().all(|(_, name)| context.text(name).is_none());
    let (first, count) = place(size_and_page(context, MAX_PAGE)?);
    let most = first.saturating_add(count).saturating_add(1);
    // One more than is shown says that there are more.
    let mut objects = if wants_any { context.newest(kind, most)? } else { context.list(kind)? };
    for (field, name) in fields {
        if let Some(wanted) = context.text(name) {
            objects.retain(|object| object.object[*field] == wanted.as_str());
        }
    }
    Ok(objects)
}

/// How many a page has, up to `most`, and which one is meant, from 0.
pub(super) fn size_and_page(context: &CallContext<'_>, most: i64) -> Result<(i64, i64), Halt> {
    let size = context.int("PageSize")?.unwrap_or(DEFAULT_PAGE).clamp(1, most);
    Ok((size, context.int("Page")?.unwrap_or(0).max(0)))
}

/// How many objects come before the page, and how many it may show.
pub(super) fn place((size, page): (i64, i64)) -> (usize, usize) {
    let first = usize::try_from(page.saturating_mul(size)).unwrap_or(usize::MAX);
    (first, usize::try_from(size).unwrap_or(0))
}

/// The parameters of the call that are of every page, as the beginning of a query.
fn filters(context: &CallContext<'_>) -> String {
    let given = form_urlencoded::parse(context.call.query.as_bytes());
    let given = given.filter(|(name, _)| !PAGING.contains(&name.as_ref()));
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(given);
    let query = query.finish();
    if query.is_empty() { query } else { format!("{query}&") }
}

/// The page of these objects that the call asks for. `name` is the resource's, and `key` that of the array.
pub(super) fn page(
    context: &CallContext<'_>,
    objects: Vec<StoredObject>,
    (name, key): (&str, &str),
) -> Result<MockReply, Halt> {
    let (size, page) = size_and_page(context, MAX_PAGE)?;
    let (first, count) = place((size, page));
    let more = objects.len() > first.saturating_add(count);
    let shown: Vec<_> = objects.into_iter().skip(first).take(count).collect();
    let path = format!("/{VERSION}/Accounts/{}/{name}.json", account(context));
    let wanted = filters(context);
    let at = |page: i64| format!("{path}?{wanted}PageSize={size}&Page={page}");
    let mut list = json!({
        "end": first.saturating_add(shown.len().saturating_sub(1)),
        "first_page_uri": at(0),
        "next_page_uri": if more { json!(at(page + 1)) } else { Value::Null },
        "page": page,
        "page_size": size,
        "previous_page_uri": if page > 0 { json!(at(page - 1)) } else { Value::Null },
        "start": first,
        "uri": at(page),
    });
    list[key] = shown.into_iter().map(|object| object.object).collect();
    Ok(MockReply::ok(&list))
}
