//! Several objects in one call, all or none.

use serde_json::{Value, json};

use super::records::{changed, email_of, made, named, removed, type_of};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const MAX_INPUTS: usize = 100;

pub(super) fn inputs(context: &CallContext<'_>) -> Result<Vec<Value>, Halt> {
    let inputs = context.field("inputs").and_then(Value::as_array).cloned();
    let inputs = inputs.ok_or_else(|| CallFailure::missing("inputs"))?;
    if inputs.len() > MAX_INPUTS {
        let message = format!("a batch has at most {MAX_INPUTS} inputs");
        return Err(CallFailure::invalid("inputs", message).into());
    }
    let is_whole = |input: &Value| {
        let properties = input.get("properties");
        input.is_object() && properties.is_none_or(|it| it.is_object() || it.is_null())
    };
    if !inputs.iter().all(is_whole) {
        let message = "an input is an object, and so are its properties";
        return Err(CallFailure::invalid("inputs", message).into());
    }
    Ok(inputs)
}

fn id_of(input: &Value) -> String {
    match &input["id"] {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    }
}

/// Asks at once for all that a batch names, and for the addresses that its contacts have and get.
fn need(
    context: &mut CallContext<'_>,
    inputs: &[Value],
    property: Option<&str>,
) -> Result<(), Halt> {
    let by_email = |input: &Value| property.or(input["idProperty"].as_str()) == Some("email");
    let (named, ids): (Vec<_>, Vec<_>) = inputs.iter().partition(|input| by_email(input));
    let mut ids: Vec<_> = ids.into_iter().map(id_of).collect();
    let named: Vec<_> = named.into_iter().map(|input| id_of(input).to_lowercase()).collect();
    let of_ids = context.need_rows("records", ids.clone());
    context.need_rows("~email", named.clone())?;
    of_ids?;
    for email in named {
        ids.extend(context.row("~email", &email)?);
    }
    context.need_rows("records", ids.clone())?;
    let mut emails = emails(inputs);
    for id in ids {
        let record = context.row("records", &id)?;
        let record: Option<StoredObject> = record.and_then(|doc| serde_json::from_str(&doc).ok());
        emails.extend(
            record.and_then(|it| email_of("contacts", it.object["properties"].as_object()?)),
        );
    }
    context.need_rows("~email", emails)
}

fn emails(inputs: &[Value]) -> Vec<String> {
    let email = |input: &Value| email_of("contacts", input["properties"].as_object()?);
    inputs.iter().filter_map(email).collect()
}

/// The answer to a batch of which nothing failed.
pub(super) fn complete(context: &CallContext<'_>, status: u16, results: &[Value]) -> MockReply {
    let now = context.now.to_string();
    let body = json!({
        "status": "COMPLETE", "results": results, "requestedAt": now, "startedAt": now, "completedAt": now,
    });
    MockReply::json(status, &body)
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    let inputs = inputs(context)?;
    context.need_rows("~email", emails(&inputs))?;
    for input in inputs {
        results.push(made(context, of_type, &input)?.object);
    }
    Ok(complete(context, 201, &results))
}

/// What is not there is left out.
pub(super) fn read(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    let (inputs, property) = (inputs(context)?, context.text("idProperty"));
    need(context, &inputs, property.as_deref())?;
    for input in inputs {
        match named(context, of_type, &id_of(&input), property.as_deref()) {
            Ok(stored) => results.push(stored.object),
            Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
            Err(halt) => return Err(halt),
        }
    }
    Ok(complete(context, 200, &results))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    let inputs = inputs(context)?;
    need(context, &inputs, None)?;
    for input in inputs {
        let stored = named(context, of_type, &id_of(&input), input["idProperty"].as_str())?;
        results.push(changed(context, stored, &input)?.object);
    }
    Ok(complete(context, 200, &results))
}

/// Changes the contacts with these addresses, or the objects with these ids; makes contacts that are not there.
pub(super) fn upsert(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    let inputs = inputs(context)?;
    need(context, &inputs, None)?;
    for input in inputs {
        let property = input["idProperty"].as_str();
        let mut object = match named(context, of_type, &id_of(&input), property) {
            Ok(stored) => changed(context, stored, &input)?.object,
            Err(Halt::Failed(CallFailure::NotFound { .. })) if property == Some("email") => {
                let mut input = input.clone();
                input["properties"]["email"] = json!(id_of(&input));
                let mut object = made(context, of_type, &input)?.object;
                object["new"] = json!(true);
                object
            }
            Err(halt) => return Err(halt),
        };
        if object["new"].is_null() {
            object["new"] = json!(false);
        }
        results.push(object);
    }
    Ok(complete(context, 200, &results))
}

pub(super) fn archive(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, inputs) = (type_of(context)?, inputs(context)?);
    need(context, &inputs, None)?;
    for input in inputs {
        match named(context, of_type, &id_of(&input), None) {
            Ok(stored) => removed(context, &stored)?,
            Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
            Err(halt) => return Err(halt),
        }
    }
    Ok(MockReply::empty(204))
}
