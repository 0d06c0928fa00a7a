//! Lists of records: filtered, sorted, in pages.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{
    formula::{Formula, RecordRow},
    formula_values::{CellValue, order},
    tables::{id_of, of_path},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const MAX_PAGE: i64 = 100;
/// Fields by which a list is sorted.
const MAX_SORTS: usize = 10;

/// One more page begins behind this record.
fn after(offset: &str) -> Option<&str> {
    offset.split_once('/').map(|(_, record)| record)
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    let size = context.int("pageSize")?.unwrap_or(MAX_PAGE);
    if !(1..=MAX_PAGE).contains(&size) {
        return Err(
            CallFailure::invalid("pageSize", format!("must be from 1 to {MAX_PAGE}")).into()
        );
    }
    let most = context.int("maxRecords")?;
    if most.is_some_and(|most| most < 1) {
        return Err(CallFailure::invalid("maxRecords", "must be at least 1").into());
    }
    let formula = context.text("filterByFormula").map(|text| Formula::parse(&text)).transpose();
    let formula = formula.map_err(|message| {
        let field = "filterByFormula".to_owned();
        let message = format!("The formula for filtering records is invalid: {message}");
        CallFailure::Invalid { field, code: "INVALID_FILTER_BY_FORMULA", message }
    })?;
    let sorts = sorts(context)?;
    let mut records = table.records(context)?;
    if let Some(formula) = &formula {
        records.retain(|record| formula.holds(&RecordRow(record)));
    }
    records.sort_by(|one, other| by(&sorts, one, other));
    records.truncate(most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX));
    let first = match context.text("offset") {
        Some(offset) => behind(&records, &offset)?,
        None => 0,
    };
    let size = usize::try_from(size).unwrap_or(1);
    let names = names(context);
    let page: Vec<_> = records.iter().skip(first).take(size).collect();
    let shown: Vec<_> = page.iter().map(|record| shown(record, names.as_deref())).collect();
    for record in &page {
        context.touch(&record.id);
    }
    let mut answer = json!({"records": shown});
    if let Some(last) = page.last().filter(|_| records.len() > first + size) {
        answer["offset"] = json!(format!("{}/{}", id_of(context, "itr", &[&table.id]), last.id));
    }
    Ok(MockReply::ok(&answer))
}

fn behind(records: &[StoredObject], offset: &str) -> Result<usize, Halt> {
    let place = after(offset).and_then(|id| records.iter().position(|record| record.id == id));
    place.map(|place| place + 1).ok_or_else(|| {
        let code = "LIST_RECORDS_ITERATOR_NOT_AVAILABLE";
        let message = "The iterator is not available any more".to_owned();
        CallFailure::Invalid { field: "offset".to_owned(), code, message }.into()
    })
}

/// The only fields that are shown; none for all.
fn names(context: &CallContext<'_>) -> Option<Vec<String>> {
    match context.field("fields")? {
        Value::Array(names) => {
            Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        Value::String(name) => Some(vec![name.clone()]),
        _ => None,
    }
}

fn shown(record: &StoredObject, names: Option<&[String]>) -> Value {
    let mut object = record.object.clone();
    if let (Some(names), Some(fields)) = (names, object["fields"].as_object_mut()) {
        fields.retain(|name, _| names.contains(name));
    }
    object
}

fn sorts(context: &CallContext<'_>) -> Result<Vec<(String, bool)>, Halt> {
    let given = context.field("sort").and_then(Value::as_array).cloned().unwrap_or_default();
    if given.len() > MAX_SORTS {
        return Err(
            CallFailure::invalid("sort", format!("has more than {MAX_SORTS} fields")).into()
        );
    }
    let sort = |sort: &Value| {
        let field = sort["field"].as_str().map(str::to_owned);
        let field = field.ok_or_else(|| CallFailure::invalid("sort", "needs a field"))?;
        match sort["direction"].as_str() {
            None | Some("asc") => Ok((field, false)),
            Some("desc") => Ok((field, true)),
            Some(_) => Err(CallFailure::invalid("sort", "the direction is asc or desc").into()),
        }
    };
    given.iter().map(sort).collect()
}

fn by(sorts: &[(String, bool)], one: &StoredObject, other: &StoredObject) -> Ordering {
    let cell = |record: &StoredObject, name: &str| CellValue::of(record.object["fields"].get(name));
    for (name, descends) in sorts {
        let order = order(&cell(one, name), &cell(other, name));
        if order != Ordering::Equal {
            return if *descends { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}
