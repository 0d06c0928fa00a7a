//! What a request says: its query and its body as one kind of value.

use serde_json::{Map, Value};

use crate::{MockCall, failure::CallFailure, form};

/// The fields of a body: a form or JSON, by its content type.
pub(crate) fn body(call: &MockCall) -> Result<Value, CallFailure> {
    if call.body.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let encoding = call.header("content-encoding").unwrap_or("identity");
    if !encoding.eq_ignore_ascii_case("identity") {
        return Err(CallFailure::invalid("Content-Encoding", "the encoding is not supported"));
    }
    let kind = call.header("content-type").unwrap_or_default().to_ascii_lowercase();
    if kind.starts_with("application/x-www-form-urlencoded") {
        return fields(&call.body);
    }
    let wrong = |error: serde_json::Error| CallFailure::invalid("body", error.to_string());
    serde_json::from_slice(&call.body).map_err(wrong)
}

/// The parameters of a query.
pub(crate) fn query(call: &MockCall) -> Result<Value, CallFailure> {
    fields(call.query.as_bytes())
}

fn fields(text: &[u8]) -> Result<Value, CallFailure> {
    form::parse(text).map_err(|error| {
        let message = match error {
            form::FormError::TooManyKeys => "there are too many parameters",
            form::FormError::TooDeep => "parameters are nested too deeply",
            form::FormError::IndexTooLarge => "the index of a list is too large",
            form::FormError::Mixed => "a parameter is a value and a hash at once",
        };
        CallFailure::invalid("", message)
    })
}
