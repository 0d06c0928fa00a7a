//! Several objects in one call, all or none.

use serde_json::{Value, json};

use super::records::{changed, made, named, removed, type_of};
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const MAX_INPUTS: usize = 100;

fn inputs(context: &CallContext<'_>) -> Result<Vec<Value>, Halt> {
    let inputs = context.field("inputs").and_then(Value::as_array).cloned();
    let inputs = inputs.ok_or_else(|| CallFailure::missing("inputs"))?;
    if inputs.len() > MAX_INPUTS {
        let message = format!("a batch has at most {MAX_INPUTS} inputs");
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

fn done(context: &CallContext<'_>, status: u16, results: &[Value]) -> MockReply {
    let now = context.now.to_string();
    let body = json!({
        "status": "COMPLETE", "results": results, "requestedAt": now, "startedAt": now, "completedAt": now,
    });
    MockReply::json(status, &body)
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    for input in inputs(context)? {
        results.push(made(context, of_type, &input)?.object);
    }
    Ok(done(context, 201, &results))
}

/// What is not there is left out.
pub(super) fn read(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    let property = context.text("idProperty");
    for input in inputs(context)? {
        match named(context, of_type, &id_of(&input), property.as_deref()) {
            Ok(stored) => results.push(stored.object),
            Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
            Err(halt) => return Err(halt),
        }
    }
    Ok(done(context, 200, &results))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let (of_type, mut results) = (type_of(context)?, Vec::new());
    for input in inputs(context)? {
        let stored = named(context, of_type, &id_of(&input), input["idProperty"].as_str())?;
        results.push(changed(context, stored, &input)?.object);
    }
    Ok(done(context, 200, &results))
}

pub(super) fn archive(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let of_type = type_of(context)?;
    for input in inputs(context)? {
        match named(context, of_type, &id_of(&input), None) {
            Ok(stored) => removed(context, &stored)?,
            Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
            Err(halt) => return Err(halt),
        }
    }
    Ok(MockReply::empty(204))
}
