//! Associations of API v4: which objects belong together, and as what.

use serde_json::{Value, json};

use super::{
    association_types::{CATEGORY, numbers, object_type_id, types_between},
    batches::{complete, inputs},
    records::{named, type_named},
    wire::tell_association,
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Objects that one object is associated with, of all types.
const MAX_LINKS: usize = 500;

/// The numbers of the types by which an object belongs to another.
fn links(stored: &StoredObject, to: &str, id: &str) -> Vec<u64> {
    let numbers = stored.hidden["links"][to][id].as_array().into_iter().flatten();
    numbers.filter_map(Value::as_u64).collect()
}

fn with_links(
    context: &mut CallContext<'_>,
    mut stored: StoredObject,
    (to, id): (&str, &str),
    numbers: &[u64],
) -> Result<StoredObject, Halt> {
    let all = &mut stored.hidden["links"];
    if numbers.is_empty() {
        if let Some(of_type) = all.get_mut(to).and_then(Value::as_object_mut) {
            of_type.remove(id);
        }
    } else {
        all[to][id] = json!(numbers);
    }
    let count = all.as_object().into_iter().flatten();
    let count: usize = count.filter_map(|(_, of_type)| Some(of_type.as_object()?.len())).sum();
    if count > MAX_LINKS {
        let message = format!("an object has at most {MAX_LINKS} associations");
        return Err(CallFailure::invalid("associations", message).into());
    }
    Ok(context.put(stored))
}

/// Two objects, of which the first is associated with the second.
pub(super) struct AssociatedPair {
    from: (&'static str, String),
    to: (&'static str, String),
}

impl AssociatedPair {
    fn of_path(context: &CallContext<'_>) -> Result<Self, Halt> {
        let from = (type_named(&context.path("type"))?, context.path("id"));
        Ok(Self { from, to: (type_named(&context.path("to"))?, context.path("other")) })
    }

    /// Both as they are kept.
    fn found(&self, context: &mut CallContext<'_>) -> Result<(StoredObject, StoredObject), Halt> {
        context.need_rows("records", [self.from.1.clone(), self.to.1.clone()])?;
        let from = named(context, self.from.0, &self.from.1, None)?;
        if self.from == self.to {
            let message = "an object is not associated with itself";
            return Err(CallFailure::invalid("toObjectId", message).into());
        }
        Ok((from, named(context, self.to.0, &self.to.1, None)?))
    }

    /// Associates both, in both directions.
    fn join(&self, context: &mut CallContext<'_>, types: &[(u64, u64)]) -> Result<(), Halt> {
        let (from, to) = self.found(context)?;
        let mut there = links(&from, self.to.0, &to.id);
        let mut back = links(&to, self.from.0, &from.id);
        let before = there.clone();
        for (one, other) in types {
            for (numbers, number) in [(&mut there, one), (&mut back, other)] {
                if !numbers.contains(number) {
                    numbers.push(*number);
                }
            }
        }
        let from = with_links(context, from, (self.to.0, &to.id), &there)?;
        let to = with_links(context, to, (self.from.0, &from.id), &back)?;
        if there != before {
            tell_association(context, (&from, self.from.0), (&to, self.to.0), false)?;
        }
        Ok(())
    }

    /// Parts both; that they were not associated is no mistake.
    fn part(&self, context: &mut CallContext<'_>) -> Result<(), Halt> {
        let (from, to) = self.found(context)?;
        if links(&from, self.to.0, &to.id).is_empty() {
            return Ok(());
        }
        let from = with_links(context, from, (self.to.0, &to.id), &[])?;
        let to = with_links(context, to, (self.from.0, &from.id), &[])?;
        tell_association(context, (&from, self.from.0), (&to, self.to.0), true)
    }

    /// How the pair is shown, with the labels of its types.
    fn shown(&self, types: &[(u64, u64)]) -> Value {
        let all = types_between(self.from.0, self.to.0);
        let labels = all.filter(|(there, _, _)| types.iter().any(|(number, _)| number == there));
        let labels: Vec<_> = labels.filter_map(|(_, _, label)| label).collect();
        json!({
            "fromObjectTypeId": object_type_id(self.from.0), "fromObjectId": self.from.1,
            "toObjectTypeId": object_type_id(self.to.0), "toObjectId": self.to.1, "labels": labels,
        })
    }

    fn shown_as_usual(&self, number: u64) -> Value {
        json!({
            "from": {"id": self.from.1}, "to": {"id": self.to.1},
            "associationSpec": {"associationCategory": CATEGORY, "associationTypeId": number},
        })
    }
}

/// Associates by the usual type.
pub(super) fn put_usual(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let pair = AssociatedPair::of_path(context)?;
    let types = numbers(None, pair.from.0, pair.to.0)?;
    pair.join(context, &types)?;
    let results: Vec<_> = types.iter().map(|(number, _)| pair.shown_as_usual(*number)).collect();
    Ok(complete(context, 200, &results))
}

/// Associates by the types of the body, a list.
pub(super) fn put(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let pair = AssociatedPair::of_path(context)?;
    let types = numbers(Some(&context.body.clone()), pair.from.0, pair.to.0)?;
    pair.join(context, &types)?;
    Ok(MockReply::json(201, &pair.shown(&types)))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let pair = AssociatedPair::of_path(context)?;
    pair.part(context)?;
    Ok(MockReply::empty(204))
}

/// What an object is associated with, of a type; without what was archived since.
fn associated(
    context: &mut CallContext<'_>,
    stored: &StoredObject,
    to: &'static str,
) -> Result<Vec<Value>, Halt> {
    let from = stored.hidden["type"].as_str().unwrap_or_default().to_owned();
    let ids = stored.hidden["links"][to].as_object().map(|all| all.keys().cloned().collect());
    let mut ids: Vec<String> = ids.unwrap_or_default();
    ids.sort_by_key(|id| id.parse::<u64>().unwrap_or(0));
    context.need_rows("records", ids.clone())?;
    let mut found = Vec::new();
    for id in ids {
        if context.find("records", &id)?.is_none() {
            continue;
        }
        let numbers = links(stored, to, &id);
        let types = types_between(&from, to).filter(|(there, _, _)| numbers.contains(there));
        let types = types.map(
            |(number, _, label)| json!({"category": CATEGORY, "typeId": number, "label": label}),
        );
        let types: Vec<_> = types.collect();
        found.push(json!({"toObjectId": id, "associationTypes": types}));
    }
    Ok(found)
}

/// A page of what an object is associated with.
pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, to) = (type_named(&context.path("type"))?, type_named(&context.path("to"))?);
    let most = i64::try_from(MAX_LINKS).unwrap_or(i64::MAX);
    let limit = context.int("limit")?.unwrap_or(most);
    if !(1..=most).contains(&limit) {
        return Err(CallFailure::invalid("limit", format!("must be from 1 to {most}")).into());
    }
    let after = context.int("after")?.unwrap_or(0);
    let id = context.path("id");
    let stored = named(context, of_type, &id, None)?;
    let all = associated(context, &stored, to)?;
    let number = |it: &Value| it["toObjectId"].as_str().and_then(|id| id.parse::<i64>().ok());
    let rest: Vec<_> =
        all.into_iter().filter(|it| number(it).is_some_and(|id| id > after)).collect();
    let limit = usize::try_from(limit).unwrap_or(0);
    let results = &rest[..rest.len().min(limit)];
    let mut page = json!({"results": results});
    if let Some(last) = results.last().filter(|_| rest.len() > limit) {
        let after = last["toObjectId"].clone();
        let link = format!(
            "/crm/v4/objects/{of_type}/{id}/associations/{to}?limit={limit}&after={}",
            after.as_str().unwrap_or_default()
        );
        page["paging"] = json!({"next": {"after": after, "link": context.url(&link)}});
    }
    Ok(MockReply::ok(&page))
}

/// The types between two types of objects.
pub(super) fn labels(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (from, to) = (type_named(&context.path("type"))?, type_named(&context.path("to"))?);
    let types = types_between(from, to)
        .map(|(number, _, label)| json!({"category": CATEGORY, "typeId": number, "label": label}));
    Ok(MockReply::ok(&json!({"results": types.collect::<Vec<_>>()})))
}

/// The pairs of a batch, each with what the call says of it; all their rows are asked for at once.
fn pairs(context: &mut CallContext<'_>) -> Result<Vec<(AssociatedPair, Value)>, Halt> {
    let (from, to) = (type_named(&context.path("type"))?, type_named(&context.path("to"))?);
    let id = |value: &Value| match &value["id"] {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    };
    let mut pairs = Vec::new();
    for input in inputs(context)? {
        let others = match &input["to"] {
            Value::Array(others) => others.clone(),
            other => vec![other.clone()],
        };
        for other in others {
            let (from, to) = ((from, id(&input["from"])), (to, id(&other)));
            pairs.push((AssociatedPair { from, to }, input.clone()));
        }
    }
    if pairs.len() > MAX_LINKS {
        let message = format!("a batch has at most {MAX_LINKS} pairs");
        return Err(CallFailure::invalid("inputs", message).into());
    }
    let ids = pairs.iter().flat_map(|(pair, _)| [pair.from.1.clone(), pair.to.1.clone()]);
    context.need_rows("records", ids.collect::<Vec<_>>())?;
    Ok(pairs)
}

pub(super) fn create_batch(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut results = Vec::new();
    for (pair, input) in pairs(context)? {
        let types = numbers(input.get("types"), pair.from.0, pair.to.0)?;
        pair.join(context, &types)?;
        results.push(pair.shown(&types));
    }
    Ok(complete(context, 201, &results))
}

pub(super) fn create_usual_batch(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut results = Vec::new();
    for (pair, _) in pairs(context)? {
        let types = numbers(None, pair.from.0, pair.to.0)?;
        pair.join(context, &types)?;
        results.extend(types.iter().map(|(number, _)| pair.shown_as_usual(*number)));
    }
    Ok(complete(context, 200, &results))
}

pub(super) fn archive_batch(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    for (pair, _) in pairs(context)? {
        pair.part(context)?;
    }
    Ok(MockReply::empty(204))
}

/// What objects are associated with; those that are not there are left out.
pub(super) fn read_batch(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (from, to) = (type_named(&context.path("type"))?, type_named(&context.path("to"))?);
    let id = |input: &Value| input["id"].as_str().map(str::to_owned);
    let ids: Vec<_> = inputs(context)?.iter().filter_map(id).collect();
    context.need_rows("records", ids.clone())?;
    let mut results = Vec::new();
    for id in ids {
        match named(context, from, &id, None) {
            Ok(stored) => {
                let found = associated(context, &stored, to)?;
                if !found.is_empty() {
                    results.push(json!({"from": {"id": id}, "to": found}));
                }
            }
            Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
            Err(halt) => return Err(halt),
        }
    }
    Ok(complete(context, 200, &results))
}

/// The associations that a call wants to see with an object; none where it wants none.
pub(super) fn wanted(
    context: &mut CallContext<'_>,
    stored: &StoredObject,
) -> Result<Option<Value>, Halt> {
    let words: Vec<String> = match context.field("associations") {
        Some(Value::String(text)) => text.split(',').map(|word| word.trim().to_owned()).collect(),
        Some(Value::Array(all)) => {
            all.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
        }
        _ => return Ok(None),
    };
    let word_for = |of_type: &str| {
        super::wire::TYPES.into_iter().find(|(name, _)| *name == of_type).map(|(_, one)| one)
    };
    let from = stored.hidden["type"].as_str().and_then(word_for).unwrap_or_default();
    let mut shown = json!({});
    for word in words {
        let to = type_named(&word)?;
        let kind = format!("{from}_to_{}", word_for(to).unwrap_or_default());
        let found = associated(context, stored, to)?;
        let results = found.iter().map(|it| json!({"id": it["toObjectId"], "type": kind}));
        let results: Vec<_> = results.collect();
        if !results.is_empty() {
            shown[to] = json!({"results": results});
        }
    }
    Ok(Some(shown))
}

/// Associates a new object with what its input names.
pub(super) fn of_input(
    context: &mut CallContext<'_>,
    stored: &StoredObject,
    of_type: &'static str,
    input: &Value,
) -> Result<(), Halt> {
    let given = input["associations"].as_array().cloned().unwrap_or_default();
    if given.len() > MAX_LINKS {
        let message = format!("an object has at most {MAX_LINKS} associations");
        return Err(CallFailure::invalid("associations", message).into());
    }
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    context.need_rows("records", given.iter().map(|one| text(&one["to"]["id"])))?;
    for one in given {
        let number = one["types"][0]["associationTypeId"].as_u64();
        let to = super::wire::TYPES
            .into_iter()
            .map(|(name, _)| name)
            .find(|to| types_between(of_type, to).any(|(there, _, _)| Some(there) == number));
        let wrong = || CallFailure::invalid("associations", "a type of associations is not known");
        let to = to.ok_or_else(wrong)?;
        let to = (to, text(&one["to"]["id"]));
        let pair = AssociatedPair { from: (of_type, stored.id.clone()), to };
        let types = numbers(one.get("types"), of_type, pair.to.0)?;
        pair.join(context, &types)?;
    }
    Ok(())
}
