//! Contacts, accounts and items.

use serde_json::{Map, Value, json};

use super::{resources::of_name, wire::broken};
use crate::{StoredObject, context::CallContext, failure::Halt};

/// Fields of an input, on those that a new one has; what the provider sets itself is left out.
fn merged(known: Option<&StoredObject>, input: &Value, new: Value, own: &[&str]) -> Value {
    let mut fields = match (known, new) {
        (None, Value::Object(new)) => new,
        _ => Map::new(),
    };
    let given = input.as_object().into_iter().flatten();
    let given = given.filter(|(name, value)| !own.contains(&name.as_str()) && !value.is_null());
    fields.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(fields)
}

fn need(
    known: Option<&StoredObject>,
    input: &Value,
    field: &str,
    message: &str,
) -> Result<(), Halt> {
    let has = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    if has(&input[field]) || input.get(field).is_none() && known.is_some() {
        return Ok(());
    }
    Err(broken(message))
}

pub(super) fn contact(
    _: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    need(known, input, "Name", "The contact name must be specified.")?;
    let new = json!({
        "ContactStatus": "ACTIVE", "Addresses": [], "Phones": [], "ContactGroups": [], "ContactPersons": [],
        "IsSupplier": false, "IsCustomer": false, "HasAttachments": false, "HasValidationErrors": false,
    });
    Ok(merged(known, input, new, &["ContactID", "UpdatedDateUTC", "HasValidationErrors"]))
}

pub(super) fn account(
    _: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    need(known, input, "Code", "Please enter a unique Code.")?;
    need(known, input, "Name", "Please enter a unique Name.")?;
    need(known, input, "Type", "Please select an Account Type.")?;
    let class = match input["Type"].as_str().unwrap_or_default() {
        "REVENUE" | "SALES" | "OTHERINCOME" => "REVENUE",
        "EXPENSE" | "DIRECTCOSTS" | "OVERHEADS" => "EXPENSE",
        "CURRLIAB" | "LIABILITY" | "TERMLIAB" => "LIABILITY",
        "EQUITY" => "EQUITY",
        _ => "ASSET",
    };
    let new = json!({
        "Status": "ACTIVE", "Class": class, "TaxType": "NONE", "EnablePaymentsToAccount": false,
        "ShowInExpenseClaims": false, "HasAttachments": false,
    });
    Ok(merged(known, input, new, &["AccountID", "UpdatedDateUTC", "Class"]))
}

pub(super) fn item(
    _: &mut CallContext<'_>,
    known: Option<&StoredObject>,
    input: &Value,
) -> Result<Value, Halt> {
    need(known, input, "Code", "Price List Item Code must be supplied")?;
    let new = json!({"IsTrackedAsInventory": false, "IsSold": true, "IsPurchased": true});
    Ok(merged(known, input, new, &["ItemID", "UpdatedDateUTC"]))
}

/// The contact that a document names; one that is named for the first time is made.
pub(super) fn of_document(context: &mut CallContext<'_>, input: &Value) -> Result<Value, Halt> {
    let (contacts, given) = (of_name("Contacts"), &input["Contact"]);
    let found = match contacts.of_input(context, given)? {
        Some(found) => found,
        None if given["ContactID"].is_string() || !given["Name"].is_string() => {
            return Err(broken("A Contact must be specified for this type of transaction"));
        }
        None => contacts.save(context, None, &json!({"Name": given["Name"]}))?,
    };
    Ok(json!({
        "ContactID": found.id, "Name": found.object["Name"], "Addresses": [], "Phones": [],
        "ContactGroups": [], "ContactPersons": [], "HasValidationErrors": false,
    }))
}
