//! Applicants: the people that are checked.

use serde_json::{Value, json};

use super::wire::{BASE, dense, page};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const FIELDS: [&str; 8] = [
    "first_name",
    "last_name",
    "email",
    "dob",
    "phone_number",
    "address",
    "location",
    "id_numbers",
];
/// Days after which a deleted applicant is gone.
const KEPT: std::time::Duration = std::time::Duration::from_hours(20 * 24);
const MAX_NAME: usize = 200;

fn given(context: &CallContext<'_>) -> Result<Value, Halt> {
    for field in ["first_name", "last_name"] {
        if context.text(field).is_some_and(|name| name.chars().count() > MAX_NAME) {
            let message = format!("is too long (maximum is {MAX_NAME} characters)");
            return Err(CallFailure::invalid(field, message).into());
        }
    }
    Ok(dense(context.given(&FIELDS)))
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    for field in ["first_name", "last_name"] {
        context.need(field)?;
    }
    let (id, mut object) = (context.uuid(), given(context)?);
    object["id"] = json!(id);
    object["created_at"] = json!(context.now.to_string());
    object["href"] = json!(format!("{BASE}/applicants/{id}"));
    object["sandbox"] = json!(true);
    let applicant = context.create("applicants", &id, object);
    Ok(MockReply::json(201, &applicant.object))
}

/// The applicant with an id, unless it was deleted.
fn present(
    context: &mut CallContext<'_>,
    id: &str,
    field: &'static str,
) -> Result<StoredObject, Halt> {
    let applicant = context.get("applicants", id, field)?;
    if applicant.object.get("delete_at").is_none() {
        return Ok(applicant);
    }
    Err(CallFailure::NotFound { kind: "applicants", id: id.to_owned(), field }.into())
}

/// The applicant that a field of the call names.
pub(super) fn of_call(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let id = context.need("applicant_id")?;
    present(context, &id, "applicant_id")
}

fn of_path(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let id = context.path("id");
    present(context, &id, "id")
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let applicant = of_path(context)?;
    Ok(MockReply::ok(&applicant.object))
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut applicants = context.list("applicants")?;
    if !context.flag("include_deleted") {
        applicants.retain(|applicant| applicant.object.get("delete_at").is_none());
    }
    page(context, "applicants", applicants)
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let applicant = of_path(context)?;
    let fields = given(context)?;
    let applicant = context.change(applicant, fields);
    Ok(MockReply::ok(&applicant.object))
}

pub(super) fn delete(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let applicant = of_path(context)?;
    let at = context.now.after(KEPT).to_string();
    context.change(applicant, json!({"delete_at": at}));
    Ok(MockReply::empty(204))
}

pub(super) fn restore(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let mut applicant = context.of_path("applicants")?;
    let fields = applicant.object.as_object_mut();
    if fields.and_then(|fields| fields.remove("delete_at")).is_none() {
        let message = "the applicant is not scheduled for deletion";
        return Err(CallFailure::invalid("applicant_id", message).into());
    }
    context.put(applicant);
    Ok(MockReply::empty(204))
}

pub(super) fn sdk_token(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    of_call(context)?;
    let token = format!("sdk_token.{}", context.chance.base62(64));
    Ok(MockReply::ok(&json!({"token": token})))
}
