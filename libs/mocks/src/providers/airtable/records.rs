//! Records, one by one and in batches.

use serde_json::{Map, Value, json};

use super::{
    payloads::{Changes, tell},
    tables::{TableOfPath, is_id, of_path},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Records of one batch.
const MAX_RECORDS: usize = 10;
/// Fields by which an upsert finds records.
const MAX_MERGED: usize = 3;

/// What a record has, by the name of the field.
pub(super) type RecordFields = Map<String, Value>;

fn refuse_declined(context: &CallContext<'_>) -> Result<(), Halt> {
    match context.declined(&[]) {
        Some(decline) => Err(CallFailure::Declined(decline, Value::Null).into()),
        None => Ok(()),
    }
}

fn fields_of(input: &Value) -> Result<RecordFields, Halt> {
    let fields = input.get("fields").and_then(Value::as_object).cloned();
    fields.ok_or_else(|| CallFailure::missing("fields").into())
}

/// What is shown of a cell: empty ones are left out.
fn is_shown(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

fn inputs(context: &CallContext<'_>) -> Result<Vec<Value>, Halt> {
    let given = context.body.get("records").and_then(Value::as_array).cloned();
    let given = given.ok_or_else(|| CallFailure::missing("records"))?;
    if given.is_empty() || given.len() > MAX_RECORDS {
        let message =
            format!("You can only create or update up to {MAX_RECORDS} records per request.");
        return Err(CallFailure::invalid("records", message).into());
    }
    Ok(given)
}

fn added(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    mut fields: RecordFields,
    changes: &mut Changes,
) -> StoredObject {
    fields.retain(|_, value| is_shown(value));
    let id = context.id("records");
    let object = json!({"id": id, "createdTime": context.now, "fields": fields});
    let mut record = context.create("records", &id, object);
    record.hidden = json!({"table": table.id, "place": changes.created.len()});
    let record = context.put(record);
    changes.created.push(record.clone());
    record
}

/// Sets cells; a PUT takes away those that it does not name.
fn changed(
    context: &mut CallContext<'_>,
    record: StoredObject,
    fields: RecordFields,
    changes: &mut Changes,
) -> StoredObject {
    let before = record.object["fields"].as_object().cloned().unwrap_or_default();
    let mut after = if context.call.method == "PUT" { RecordFields::new() } else { before.clone() };
    after.extend(fields);
    after.retain(|_, value| is_shown(value));
    let record = context.change(record, json!({"fields": after}));
    changes.changed.push((before, record.clone()));
    record
}

/// The record with an id, of this table.
fn named(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    id: &str,
) -> Result<Option<StoredObject>, Halt> {
    if !is_id(id, "rec") {
        return Ok(None);
    }
    Ok(context.find("records", id)?.filter(|record| record.hidden["table"] == *table.id))
}

fn named_in_batch(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    id: &str,
) -> Result<StoredObject, Halt> {
    named(context, table, id)?.ok_or_else(|| {
        let message = format!("Record ID {id} does not exist in this table");
        CallFailure::Invalid { field: "records".to_owned(), code: "ROW_DOES_NOT_EXIST", message }
            .into()
    })
}

fn named_in_path(context: &mut CallContext<'_>, table: &TableOfPath) -> Result<StoredObject, Halt> {
    let id = context.path("id");
    let found = named(context, table, &id)?;
    found.ok_or_else(|| CallFailure::NotFound { kind: "records", id, field: "id" }.into())
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    refuse_declined(context)?;
    let mut changes = Changes::default();
    let is_one = context.body.get("records").is_none();
    let inputs = if is_one { vec![context.body.clone()] } else { inputs(context)? };
    table.make(context)?;
    for input in inputs {
        let fields = fields_of(&input)?;
        added(context, &table, fields, &mut changes);
    }
    tell(context, &table, &changes)?;
    let made: Vec<_> = changes.created.into_iter().map(|record| record.object).collect();
    Ok(MockReply::ok(&if is_one { made[0].clone() } else { json!({"records": made}) }))
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    let record = named_in_path(context, &table)?;
    Ok(MockReply::ok(&record.object))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    refuse_declined(context)?;
    let (record, mut changes) = (named_in_path(context, &table)?, Changes::default());
    let fields = fields_of(&context.body)?;
    let record = changed(context, record, fields, &mut changes);
    tell(context, &table, &changes)?;
    Ok(MockReply::ok(&record.object))
}

pub(super) fn update_many(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    refuse_declined(context)?;
    let (inputs, merged, mut changes) = (inputs(context)?, merged(context)?, Changes::default());
    let ids = inputs.iter().filter_map(|input| input["id"].as_str().map(str::to_owned));
    context.need_rows("records", ids.collect::<Vec<_>>())?;
    let mut records = Vec::new();
    for input in inputs {
        let fields = fields_of(&input)?;
        let known = match (input["id"].as_str(), &merged) {
            (Some(id), _) => Some(named_in_batch(context, &table, id)?),
            (None, Some(merged)) => alike(context, &table, merged, &fields)?,
            (None, None) => return Err(CallFailure::missing("id").into()),
        };
        records.push(if let Some(known) = known {
            changed(context, known, fields, &mut changes).object
        } else {
            table.make(context)?;
            added(context, &table, fields, &mut changes).object
        });
    }
    tell(context, &table, &changes)?;
    let mut answer = json!({"records": records});
    if merged.is_some() {
        let updated = changes.changed.iter().map(|(_, record)| record.id.as_str());
        answer["updatedRecords"] = updated.collect();
        let created = changes.created.iter().map(|record| record.id.as_str());
        answer["createdRecords"] = created.collect();
    }
    Ok(MockReply::ok(&answer))
}

/// The fields by which an upsert finds records; none for an update.
fn merged(context: &CallContext<'_>) -> Result<Option<Vec<String>>, Halt> {
    let Some(upsert) = context.body.get("performUpsert") else { return Ok(None) };
    let names = upsert["fieldsToMergeOn"].as_array();
    let names: Vec<_> =
        names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    if names.is_empty() || names.len() > MAX_MERGED {
        let message = format!("must have from 1 to {MAX_MERGED} names");
        return Err(CallFailure::invalid("performUpsert.fieldsToMergeOn", message).into());
    }
    Ok(Some(names))
}

/// The record that has the same values in these fields; two of them are an error.
fn alike(
    context: &mut CallContext<'_>,
    table: &TableOfPath,
    names: &[String],
    fields: &RecordFields,
) -> Result<Option<StoredObject>, Halt> {
    let mut found = table.records(context)?;
    found.retain(|record| {
        names.iter().all(|name| record.object["fields"].get(name) == fields.get(name))
    });
    if found.len() > 1 {
        let message = "Cannot update more than one record".to_owned();
        let field = "performUpsert".to_owned();
        return Err(
            CallFailure::Invalid { field, code: "INVALID_VALUE_FOR_COLUMN", message }.into()
        );
    }
    // What this call changed before is not in the list.
    match found.pop() {
        Some(record) => context.find("records", &record.id),
        None => Ok(None),
    }
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    refuse_declined(context)?;
    let record = named_in_path(context, &table)?;
    context.remove(&record);
    tell(context, &table, &Changes { destroyed: vec![record.id.clone()], ..Changes::default() })?;
    Ok(MockReply::ok(&json!({"id": record.id, "deleted": true})))
}

pub(super) fn delete_many(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let table = of_path(context)?;
    refuse_declined(context)?;
    let given = match context.field("records") {
        Some(Value::Array(ids)) => {
            ids.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(id)) => vec![id.clone()],
        _ => return Err(CallFailure::missing("records").into()),
    };
    if given.len() > MAX_RECORDS {
        let message = format!("You can only delete up to {MAX_RECORDS} records per request.");
        return Err(CallFailure::invalid("records", message).into());
    }
    context.need_rows("records", given.clone())?;
    let mut changes = Changes::default();
    for id in given {
        let record = named_in_batch(context, &table, &id)?;
        context.remove(&record);
        changes.destroyed.push(id);
    }
    tell(context, &table, &changes)?;
    let gone = changes.destroyed.iter().map(|id| json!({"id": id, "deleted": true}));
    Ok(MockReply::ok(&json!({"records": gone.collect::<Vec<_>>()})))
}
