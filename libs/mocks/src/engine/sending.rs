//! What a call sends: to whom, when, how often, and with which faults.

use serde_json::Value;

use crate::{MockEvent, OutgoingEvent, StoredObject, context::CallContext, failure::Halt};

/// The header of our own webhooks: a mock that is called by one sends none, so that two that call each other stop.
const DELIVERY_HEADER: &str = "x-trapline-delivery";

/// What is sent for the events of a call, by the settings.
pub(super) fn sent(context: &mut CallContext<'_>) -> Result<Vec<OutgoingEvent>, Halt> {
    let settings = &context.mock.settings.webhooks;
    let is_loop = context.call.header(DELIVERY_HEADER).is_some();
    if context.events.is_empty() || !settings.enabled || is_loop {
        return Ok(Vec::new());
    }
    let endpoints = match context.provider.hooks.endpoints {
        Some(kind) => context.list(kind)?,
        None => Vec::new(),
    };
    let mut sent = Vec::new();
    for event in std::mem::take(&mut context.events) {
        if !settings.events.is_empty() && !settings.events.iter().any(|name| name == event.name) {
            continue;
        }
        for (url, endpoint) in targets(context, &event, &endpoints) {
            for _ in 0..=settings.duplicate {
                sent.push(one(context, &event, url.clone(), endpoint.clone()));
            }
        }
    }
    if settings.out_of_order {
        sent.reverse();
    }
    sent.sort_by_key(|event| event.delay_ms);
    Ok(sent)
}

type EventTarget = (String, Option<String>);

/// A field of a registered address: as the provider shows it, or as it is kept where the provider shows it elsewhere.
fn of_endpoint<'a>(endpoint: &'a StoredObject, name: &str) -> Option<&'a Value> {
    endpoint.hidden.get(name).or_else(|| endpoint.object.get(name))
}

/// Where an event goes: its own address, or the mock's and those that want it.
fn targets(
    context: &CallContext<'_>,
    event: &MockEvent,
    endpoints: &[StoredObject],
) -> Vec<EventTarget> {
    if let Some(url) = &event.url {
        return vec![(url.clone(), event.endpoint.clone())];
    }
    let own = context.mock.webhook_url.map(|url| (url.to_owned(), None));
    let wants = |endpoint: &&StoredObject| {
        let events =
            ["enabled_events", "events"].iter().find_map(|name| of_endpoint(endpoint, name));
        let events = events.and_then(Value::as_array).filter(|events| !events.is_empty());
        let is_on = endpoint.object["status"] != "disabled" && endpoint.object["enabled"] != false;
        is_on && events.is_none_or(|events| events.iter().any(|it| it == "*" || it == event.name))
    };
    let registered = endpoints.iter().filter(wants).filter_map(|endpoint| {
        Some((of_endpoint(endpoint, "url")?.as_str()?.to_owned(), Some(endpoint.id.clone())))
    });
    own.into_iter().chain(registered).collect()
}

fn one(
    context: &CallContext<'_>,
    event: &MockEvent,
    url: String,
    endpoint: Option<String>,
) -> OutgoingEvent {
    let settings = &context.mock.settings.webhooks;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most an hour in milliseconds"
    )]
    let jitter = (settings.jitter_ms as f64 * context.chance.share()) as u64;
    OutgoingEvent {
        event: event.name.to_owned(),
        object_id: event.object_id.clone(),
        url,
        endpoint,
        content_type: event.content_type.to_owned(),
        body: event.body.clone(),
        delay_ms: settings.delay_ms + jitter,
        dropped: settings.drop_rate > 0.0 && context.chance.share() < settings.drop_rate,
        bad_signature: settings.bad_signature,
        stale_by_seconds: settings.stale_by_seconds,
        expects: context.provider.hooks.expects,
    }
}
