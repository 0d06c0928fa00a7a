//! What events say of users and groups.

use serde_json::{Map, Value, json};

use super::events::text;
use crate::{context::CallContext, failure::Halt};

/// The profile of an event, and for an alias the one that it is taken from.
fn ids(event: &Map<String, Value>) -> (Option<String>, Option<String>) {
    let user = |id: String| format!("user:{id}");
    match event.get("type").and_then(Value::as_str) {
        Some("identify") => {
            (text(event, "userId").or_else(|| text(event, "anonymousId")).map(user), None)
        }
        Some("group") => (text(event, "groupId").map(|id| format!("group:{id}")), None),
        Some("alias") => (text(event, "userId").map(user), text(event, "previousId").map(user)),
        _ => (None, None),
    }
}

/// The ids of the profiles that [`learn`] reads.
pub(super) fn needed(event: &Map<String, Value>) -> Vec<String> {
    let (own, previous) = ids(event);
    own.into_iter().chain(previous).collect()
}

/// Adds what an event says to its profile.
pub(super) fn learn(context: &mut CallContext<'_>, event: &Map<String, Value>) -> Result<(), Halt> {
    let (Some(id), previous) = ids(event) else { return Ok(()) };
    let mut traits = match previous.filter(|previous| *previous != id) {
        Some(previous) => traits_of(context, &previous)?,
        None => Map::new(),
    };
    traits.extend(traits_of(context, &id)?);
    traits.extend(event.get("traits").and_then(Value::as_object).cloned().unwrap_or_default());
    let object = json!({
        "type": if id.starts_with("group:") { "group" } else { "user" },
        "userId": text(event, "userId"),
        "anonymousId": text(event, "anonymousId"),
        "groupId": text(event, "groupId"),
        "traits": traits,
    });
    let profile = match context.find("profiles", &id)? {
        Some(known) => {
            // An event without an id does not take it away.
            let fields = object.as_object().cloned().unwrap_or_default();
            let said = fields.into_iter().filter(|(_, value)| !value.is_null());
            context.change(known, Value::Object(said.collect()))
        }
        None => context.create("profiles", &id, object),
    };
    context.put_apart(profile);
    Ok(())
}

fn traits_of(context: &mut CallContext<'_>, id: &str) -> Result<Map<String, Value>, Halt> {
    let profile = context.find("profiles", id)?;
    let traits = profile.and_then(|profile| profile.object["traits"].as_object().cloned());
    Ok(traits.unwrap_or_default())
}
