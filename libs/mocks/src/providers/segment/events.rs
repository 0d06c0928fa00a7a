//! Events, one by one and in batches: each is an entry of a log.

use serde_json::{Map, Value, json};
use trapline_model::Time;

use super::profiles;
use crate::{
    MockReply,
    context::CallContext,
    failure::{CallFailure, Halt},
};

/// Bytes of an event and of a batch, as Segment has them.
const MAX_EVENT: usize = 32 << 10;
const MAX_BATCH: usize = 500 << 10;
/// Events of a batch: the shortest fill a batch of the most bytes.
const MAX_EVENTS: usize = 2_500;
/// Bytes of an id.
const MAX_ID: usize = 255;
const TYPES: [&str; 6] = ["track", "identify", "page", "screen", "group", "alias"];

type Event = Map<String, Value>;

fn wrong(field: &str, message: &str) -> Halt {
    CallFailure::invalid(field, message).into()
}

pub(super) fn batch(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    let Some(Value::Array(given)) = context.body.get("batch") else {
        return Err(wrong("batch", "a batch is a list of events"));
    };
    if given.len() > MAX_EVENTS {
        return Err(wrong("batch", "the batch has too many events"));
    }
    let sent_at = context.body.get("sentAt").cloned();
    let shared = context.body.get("context").and_then(Value::as_object).cloned();
    let mut events = Vec::with_capacity(given.len());
    for event in given {
        let Value::Object(event) = event else {
            return Err(wrong("batch", "an event is an object"));
        };
        let mut event = event.clone();
        if let (Some(sent_at), false) = (&sent_at, event.contains_key("sentAt")) {
            event.insert("sentAt".to_owned(), sent_at.clone());
        }
        if let Some(shared) = &shared {
            let own = event.remove("context").unwrap_or_else(|| json!({}));
            let mut all = shared.clone();
            all.extend(own.as_object().cloned().unwrap_or_default());
            event.insert("context".to_owned(), Value::Object(all));
        }
        events.push(event);
    }
    take(context, events)
}

pub(super) fn track(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "track")
}

pub(super) fn identify(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "identify")
}

pub(super) fn page(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "page")
}

pub(super) fn screen(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "screen")
}

pub(super) fn group(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "group")
}

pub(super) fn alias(context: &mut CallContext<'_>) -> Result<MockReply, Halt> {
    one(context, "alias")
}

fn one(context: &mut CallContext<'_>, of_type: &str) -> Result<MockReply, Halt> {
    let Value::Object(event) = &context.body else {
        return Err(wrong("body", "an event is an object"));
    };
    let mut event = event.clone();
    event.insert("type".to_owned(), json!(of_type));
    take(context, vec![event])
}

/// Keeps events, and what they say of users and groups.
fn take(context: &mut CallContext<'_>, events: Vec<Event>) -> Result<MockReply, Halt> {
    let (mut checked, mut size) = (Vec::with_capacity(events.len()), 0);
    for event in events {
        let (event, length) = check(event)?;
        size += length;
        checked.push(event);
    }
    if size > MAX_BATCH {
        return Err(wrong("batch", "a batch has at most 500 KB"));
    }
    context.need_rows("profiles", checked.iter().flat_map(profiles::needed))?;
    for id in checked.iter().filter_map(|event| text(event, "userId")) {
        context.touch(&id);
    }
    for (place, event) in checked.into_iter().enumerate() {
        profiles::learn(context, &event)?;
        log(context, place, event);
    }
    Ok(MockReply::ok(&json!({"success": true})))
}

/// An id as text, whether it came as text or as a number.
pub(super) fn text(event: &Event, field: &str) -> Option<String> {
    match event.get(field)? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The event without what is no part of it, and its bytes.
fn check(mut event: Event) -> Result<(Event, usize), Halt> {
    event.remove("writeKey");
    if !event.get("type").and_then(Value::as_str).is_some_and(|it| TYPES.contains(&it)) {
        return Err(wrong("type", &format!("the types are {}", TYPES.join(", "))));
    }
    for field in ["messageId", "userId", "anonymousId", "groupId", "previousId"] {
        if text(&event, field).is_some_and(|id| id.len() > MAX_ID) {
            return Err(wrong(field, &format!("an id has at most {MAX_ID} bytes")));
        }
    }
    let size = json!(event).to_string().len();
    if size > MAX_EVENT {
        return Err(wrong("event", "an event has at most 32 KB"));
    }
    Ok((event, size))
}

fn log(context: &mut CallContext<'_>, place: usize, mut event: Event) {
    let time = |event: &Event, field: &str| event.get(field)?.as_str()?.parse::<Time>().ok();
    let (said, sent) = (time(&event, "timestamp"), time(&event, "sentAt"));
    // The same for a call that is run again.
    let id = text(&event, "messageId");
    let id = id.unwrap_or_else(|| format!("api-{}-{place}", context.mock.call_id));
    let happened = match (said, sent) {
        // By the clock of the one who receives it.
        (Some(said), Some(sent)) => context.now.before(sent.since(said)),
        (Some(said), None) => said,
        _ => context.now,
    };
    if let Some(said) = event.get("timestamp").cloned() {
        event.insert("originalTimestamp".to_owned(), said);
    }
    event.insert("messageId".to_owned(), json!(id));
    event.insert("receivedAt".to_owned(), json!(context.now));
    event.insert("timestamp".to_owned(), json!(happened));
    context.log("events", &id, said.unwrap_or(context.now), Value::Object(event));
}
