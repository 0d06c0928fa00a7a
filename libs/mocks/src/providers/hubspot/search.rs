//! The search: groups of filters of which one has to hold, each of all its filters.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::records::{all, type_of};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 200;
const MAX_GROUPS: usize = 5;
const MAX_FILTERS: usize = 18;
/// Properties that `query` looks into.
const SEARCHED: [&str; 7] =
    ["email", "firstname", "lastname", "phone", "company", "name", "dealname"];

struct PropertyFilter {
    property: String,
    operator: String,
    value: String,
    high: String,
    values: Vec<String>,
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn filter(given: &Value) -> PropertyFilter {
    let values = given["values"].as_array().into_iter().flatten().map(text).collect();
    PropertyFilter {
        property: text(&given["propertyName"]),
        operator: text(&given["operator"]),
        value: text(&given["value"]),
        high: text(&given["highValue"]),
        values,
    }
}

/// Numbers are compared as numbers.
fn order(one: &str, other: &str) -> Ordering {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.total_cmp(&other),
        _ => one.cmp(other),
    }
}

impl PropertyFilter {
    /// Whether it holds; none for an operator that there is not.
    fn holds(&self, object: &StoredObject) -> Option<bool> {
        let value = object.object["properties"].get(&self.property).filter(|it| !it.is_null());
        let has = value.is_some();
        let value = value.map(text).unwrap_or_default().to_lowercase();
        let wanted = self.value.to_lowercase();
        let token = || {
            let wanted = wanted.trim_matches('*');
            value.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == wanted)
                || value.contains(wanted) && self.value.contains('*')
        };
        let is_in = || self.values.iter().any(|one| one.to_lowercase() == value);
        Some(match self.operator.as_str() {
            "EQ" => has && value == wanted,
            "NEQ" => value != wanted,
            "LT" => has && order(&value, &wanted).is_lt(),
            "LTE" => has && order(&value, &wanted).is_le(),
            "GT" => has && order(&value, &wanted).is_gt(),
            "GTE" => has && order(&value, &wanted).is_ge(),
            "BETWEEN" => {
                let high = self.high.to_lowercase();
                has && order(&value, &wanted).is_ge() && order(&value, &high).is_le()
            }
            "IN" => has && is_in(),
            "NOT_IN" => !is_in(),
            "HAS_PROPERTY" => has,
            "NOT_HAS_PROPERTY" => !has,
            "CONTAINS_TOKEN" => has && token(),
            "NOT_CONTAINS_TOKEN" => !token(),
            _ => return None,
        })
    }
}

fn groups(context: &CallContext<'_>) -> Result<Vec<Vec<PropertyFilter>>, Halt> {
    let given =
        context.field("filterGroups").and_then(Value::as_array).cloned().unwrap_or_default();
    let group = |group: &Value| -> Vec<PropertyFilter> {
        group["filters"].as_array().into_iter().flatten().map(filter).collect()
    };
    let groups: Vec<_> = given.iter().map(group).collect();
    if groups.len() > MAX_GROUPS || groups.iter().map(Vec::len).sum::<usize>() > MAX_FILTERS {
        let message = format!("at most {MAX_GROUPS} groups and {MAX_FILTERS} filters");
        return Err(CallFailure::invalid("filterGroups", message).into());
    }
    Ok(groups)
}

fn holds(groups: &[Vec<PropertyFilter>], object: &StoredObject) -> Result<bool, Halt> {
    for group in groups {
        let mut all = true;
        for filter in group {
            let holds = filter.holds(object);
            let unknown =
                || CallFailure::invalid("operator", format!("unknown: {}", filter.operator));
            all &= holds.ok_or_else(unknown)?;
        }
        if all {
            return Ok(true);
        }
    }
    Ok(groups.is_empty())
}

fn sorted(context: &CallContext<'_>, objects: &mut [StoredObject]) {
    let Some(sort) = context.field("sorts").and_then(|sorts| sorts.get(0)) else { return };
    let (name, descends) = match sort {
        Value::String(name) => (name.trim_start_matches('-').to_owned(), name.starts_with('-')),
        other => (text(&other["propertyName"]), other["direction"] == "DESCENDING"),
    };
    let value = |object: &StoredObject| text(&object.object["properties"][&name]);
    objects.sort_by(|one, other| {
        let order = order(&value(one), &value(other));
        if descends { order.reverse() } else { order }
    });
}

pub(super) fn search(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let of_type = type_of(context)?;
    let limit = context.int("limit")?.unwrap_or(DEFAULT_LIMIT);
    let after = context.int("after")?.unwrap_or(0);
    if !(0..=MAX_LIMIT).contains(&limit) || after < 0 {
        let message = format!("limit must be from 0 to {MAX_LIMIT}, and after a number");
        return Err(CallFailure::invalid("limit", message).into());
    }
    let (groups, query) = (groups(context)?, context.text("query").map(|it| it.to_lowercase()));
    let mut found = Vec::new();
    for object in all(context, of_type)? {
        let properties = &object.object["properties"];
        let has = |query: &String| {
            SEARCHED.iter().any(|name| text(&properties[*name]).to_lowercase().contains(query))
        };
        if query.as_ref().is_none_or(has) && holds(&groups, &object)? {
            found.push(object);
        }
    }
    sorted(context, &mut found);
    let first = usize::try_from(after).unwrap_or(usize::MAX);
    let limit = usize::try_from(limit).unwrap_or(0);
    let next = first.saturating_add(limit);
    let results: Vec<_> =
        found.iter().skip(first).take(limit).map(|object| object.object.clone()).collect();
    let mut page = json!({"total": found.len(), "results": results});
    if found.len() > next {
        page["paging"] = json!({"next": {"after": next.to_string()}});
    }
    Ok(MockReply::ok(&page))
}
