//! Objects one by one.

use serde_json::{Map, Value, json};

use super::{
    associations,
    wire::{Happening, TYPES, tell},
};
use crate::{
    MockReply, StoredObject,
    context::CallContext,
    failure::{CallFailure, Halt},
};

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 100;
/// Ids of the first objects are a little larger.
const FIRST_ID: u64 = 100;
/// Properties that the provider sets itself.
const OWN: [&str; 3] = ["createdate", "lastmodifieddate", "hs_object_id"];

/// The type in the path.
pub(super) fn type_of(context: &CallContext<'_>) -> Result<&'static str, Halt> {
    type_named(&context.path("type"))
}

/// The type of this name, which may be the word for one object.
pub(super) fn type_named(word: &str) -> Result<&'static str, Halt> {
    let known = TYPES.into_iter().find(|(name, one)| *name == word || *one == word);
    known.map(|(name, _)| name).ok_or_else(|| {
        let message = format!("Unable to infer object type from: {word}");
        CallFailure::invalid("objectType", message).into()
    })
}

/// The properties of an input, as texts.
pub(super) fn properties(input: &Value) -> Result<Map<String, Value>, Halt> {
    let given = input.get("properties").and_then(Value::as_object);
    let given = given.ok_or_else(|| CallFailure::missing("properties"))?;
    let own = |name: &&String| !OWN.contains(&name.as_str());
    let text = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::Null => Value::Null,
            Value::String(text) => json!(text),
            other => json!(other.to_string()),
        };
        (name.clone(), text)
    };
    Ok(given.iter().filter(|(name, _)| own(name)).map(text).collect())
}

fn refuse_declined(context: &CallContext<'_>) -> Result<(), Halt> {
    match context.declined(&[]) {
        Some(decline) => Err(CallFailure::Declined(decline, Value::Null).into()),
        None => Ok(()),
    }
}

/// Makes an object; a contact's address is no other's.
pub(super) fn made(
    context: &mut CallContext<'_>,
    of_type: &'static str,
    input: &Value,
) -> Result<StoredObject, Halt> {
    refuse_declined(context)?;
    let mut properties = properties(input)?;
    let email = email_of(of_type, &properties);
    let id = context.number("records")? + FIRST_ID;
    let id = id.to_string();
    if let Some(email) = &email {
        claim(context, email, &id)?;
    }
    let now = context.now.to_string();
    properties.insert("createdate".to_owned(), json!(now));
    properties.insert("lastmodifieddate".to_owned(), json!(now));
    properties.insert("hs_object_id".to_owned(), json!(id));
    let object = json!({
        "id": id, "properties": properties, "createdAt": now, "updatedAt": now, "archived": false,
    });
    let mut stored = context.create("records", &id, object);
    stored.hidden = json!({"type": of_type});
    let stored = context.put(stored);
    tell(context, &stored, &Happening::Created)?;
    associations::of_input(context, &stored, of_type, input)?;
    Ok(stored)
}

/// The address of a contact.
pub(super) fn email_of(of_type: &str, properties: &Map<String, Value>) -> Option<String> {
    let email = properties.get("email").filter(|_| of_type == "contacts")?.as_str()?;
    Some(email.to_lowercase()).filter(|email| !email.is_empty())
}

fn claim(context: &mut CallContext<'_>, email: &str, id: &str) -> Result<(), Halt> {
    if let Some(owner) = context.row("~email", email)?.filter(|owner| owner != id) {
        let message = format!("Contact already exists. Existing ID: {owner}");
        let (field, code) = ("email".to_owned(), "conflict");
        return Err(CallFailure::Invalid { field, code, message }.into());
    }
    context.write_row("~email", email, Some(id.to_owned()));
    Ok(())
}

/// The object with an id, or the contact with an address.
pub(super) fn named(
    context: &mut CallContext<'_>,
    of_type: &'static str,
    id: &str,
    property: Option<&str>,
) -> Result<StoredObject, Halt> {
    let id = match property {
        Some("email") => context.row("~email", &id.to_lowercase())?.unwrap_or_default(),
        _ => id.to_owned(),
    };
    let found = context.get("records", &id, "id")?;
    if found.hidden["type"] == of_type {
        return Ok(found);
    }
    Err(CallFailure::NotFound { kind: "records", id, field: "id" }.into())
}

/// Sets properties, and tells of each.
pub(super) fn changed(
    context: &mut CallContext<'_>,
    stored: StoredObject,
    input: &Value,
) -> Result<StoredObject, Halt> {
    refuse_declined(context)?;
    let properties = properties(input)?;
    let of_type = stored.hidden["type"].as_str().unwrap_or_default().to_owned();
    let mut all = stored.object["properties"].as_object().cloned().unwrap_or_default();
    let (before, after) = (email_of(&of_type, &all), email_of(&of_type, &properties));
    if let Some(after) = after.filter(|after| before.as_ref() != Some(after)) {
        claim(context, &after, &stored.id)?;
        if let Some(before) = before {
            context.row("~email", &before)?;
            context.write_row("~email", &before, None);
        }
    }
    all.extend(properties.clone());
    let now = context.now.to_string();
    all.insert("lastmodifieddate".to_owned(), json!(now));
    let stored = context.change(stored, json!({"properties": all, "updatedAt": now}));
    for (name, value) in &properties {
        tell(context, &stored, &Happening::Changed(name, value))?;
    }
    Ok(stored)
}

pub(super) fn removed(context: &mut CallContext<'_>, stored: &StoredObject) -> Result<(), Halt> {
    removed_quietly(context, stored)?;
    tell(context, stored, &Happening::Deleted)
}

/// The same without a word to the app.
fn removed_quietly(context: &mut CallContext<'_>, stored: &StoredObject) -> Result<(), Halt> {
    let properties = stored.object["properties"].as_object().cloned().unwrap_or_default();
    let of_type = stored.hidden["type"].as_str().unwrap_or_default();
    if let Some(email) = email_of(of_type, &properties) {
        context.row("~email", &email)?;
        context.write_row("~email", &email, None);
    }
    context.remove(stored);
    Ok(())
}

pub(super) fn create(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let of_type = type_of(context)?;
    let input = context.body.clone();
    let stored = made(context, of_type, &input)?;
    Ok(MockReply::json(201, &stored.object))
}

/// An object that a person makes, with `properties` in the data.
pub(super) fn outside(
    context: &mut CallContext<'_>,
    of_type: &'static str,
) -> Result<StoredObject, Halt> {
    let input = context.body.clone();
    made(context, of_type, &input)
}

/// An object that a person changes, with `properties` in the data.
pub(super) fn edited(
    context: &mut CallContext<'_>,
    object: Option<StoredObject>,
) -> Result<StoredObject, Halt> {
    let object = object.ok_or_else(|| CallFailure::missing("objectId"))?;
    let input = context.body.clone();
    changed(context, object, &input)
}

fn of_path(context: &mut CallContext<'_>) -> Result<StoredObject, Halt> {
    let of_type = type_of(context)?;
    let (id, property) = (context.path("id"), context.text("idProperty"));
    named(context, of_type, &id, property.as_deref())
}

pub(super) fn get(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let stored = of_path(context)?;
    let mut object = stored.object.clone();
    if let Some(associated) = associations::wanted(context, &stored)? {
        object["associations"] = associated;
    }
    Ok(MockReply::ok(&object))
}

/// One object takes in another of its type: what it has not set is the other's, which is archived.
pub(super) fn merge(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let of_type = type_of(context)?;
    let (kept, gone) = (context.need("primaryObjectId")?, context.need("objectIdToMerge")?);
    if kept == gone {
        let message = "an object is not merged with itself";
        return Err(CallFailure::invalid("objectIdToMerge", message).into());
    }
    context.need_rows("records", [kept.clone(), gone.clone()])?;
    let kept = named(context, of_type, &kept, None)?;
    let gone = named(context, of_type, &gone, None)?;
    refuse_declined(context)?;
    removed_quietly(context, &gone)?;
    let mut all = gone.object["properties"].as_object().cloned().unwrap_or_default();
    let own = kept.object["properties"].as_object().cloned().unwrap_or_default();
    all.remove("email");
    all.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
    let now = context.now.to_string();
    all.insert("lastmodifieddate".to_owned(), json!(now));
    all.insert("hs_merged_object_ids".to_owned(), json!(gone.id));
    let kept = context.change(kept, json!({"properties": all, "updatedAt": now}));
    tell(context, &kept, &Happening::Merged(&gone.id))?;
    Ok(MockReply::ok(&kept.object))
}

pub(super) fn update(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let stored = of_path(context)?;
    let input = context.body.clone();
    let stored = changed(context, stored, &input)?;
    Ok(MockReply::ok(&stored.object))
}

/// Removing what is not there is no mistake.
pub(super) fn archive(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    match of_path(context) {
        Ok(stored) => removed(context, &stored)?,
        Err(Halt::Failed(CallFailure::NotFound { .. })) => {}
        Err(halt) => return Err(halt),
    }
    Ok(MockReply::empty(204))
}

/// The objects of a type, the oldest first.
pub(super) fn all(context: &mut CallContext<'_>, of_type: &str) -> Result<Vec<StoredObject>, Halt> {
    let mut objects = context.list("records")?;
    objects.retain(|object| object.hidden["type"] == of_type);
    objects.sort_by_key(|object| object.id.parse::<u64>().unwrap_or(0));
    Ok(objects)
}

pub(super) fn list(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let of_type = type_of(context)?;
    let limit = context.int("limit")?.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let message = format!("must be from 1 to {MAX_LIMIT}");
        return Err(CallFailure::invalid("limit", message).into());
    }
    let after = context.int("after")?.unwrap_or(0);
    let objects = all(context, of_type)?;
    let behind = |object: &&StoredObject| object.id.parse::<i64>().unwrap_or(0) > after;
    let rest: Vec<_> = objects.iter().filter(behind).collect();
    let limit = usize::try_from(limit).unwrap_or(0);
    let shown = &rest[..rest.len().min(limit)];
    let results: Vec<_> = shown.iter().map(|object| object.object.clone()).collect();
    let mut page = json!({"results": results});
    if let Some(last) = shown.last().filter(|_| rest.len() > limit) {
        let link =
            context.url(&format!("/crm/v3/objects/{of_type}?limit={limit}&after={}", last.id));
        page["paging"] = json!({"next": {"after": last.id, "link": link}});
    }
    Ok(MockReply::ok(&page))
}
