//! What happens now: the long poll for a message, and the stream of an inbox's events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};
use trapline_app::{App, Bookmark, Feed, FeedEvent, Filter, Waited};
use trapline_model::{InboxId, Message, Time};

use crate::{
    auth::Reader,
    error::{Error, Result},
    extract::{Flag, Id, Params},
};

const HEARTBEAT: Duration = Duration::from_secs(15);
const DEFAULT_TIMEOUT: u8 = 30;

/// Which message to wait for; every given part must hold.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitInput {
    /// A recipient of the header or the envelope contains this, in any case.
    #[param(min_length = 1, max_length = 200, example = "ada@example.com")]
    to: Option<String>,
    /// The sender contains this, in any case.
    #[param(min_length = 1, max_length = 200)]
    from: Option<String>,
    /// The subject contains this, in any case.
    #[param(min_length = 1, max_length = 200, example = "Verify")]
    subject: Option<String>,
    /// Received then or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// The message has a one-time code.
    #[serde(default)]
    #[param(inline, value_type = Option<Flag>)]
    has_code: Flag,
    /// Seconds to wait.
    #[param(minimum = 1, maximum = 120, default = 30)]
    timeout: Option<u8>,
}

impl WaitInput {
    fn split(self) -> (Filter, Duration) {
        let timeout = Duration::from_secs(self.timeout.unwrap_or(DEFAULT_TIMEOUT).into());
        let Self { to, from, subject, since, has_code, .. } = self;
        (Filter { to, from, subject, since, has_code: has_code.on() }, timeout)
    }
}

/// The message that was waited for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Found {
    /// Whole.
    message: Box<Message>,
}

/// Where a stream goes on.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsInput {
    /// The same as the header, for clients that cannot set one.
    #[param(max_length = 200, format = "event-id")]
    last_event_id: Option<String>,
}

/// Wait for a message
///
/// Answers with the newest matching message, or else with the first that arrives in time.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/messages/wait",
    operation_id = "waitForMessage",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox."), WaitInput),
    responses(
        (status = 200, description = "The message.", body = Found),
        (
            status = 408,
            description = "No matching message arrived in time (`wait_timeout`).",
            body = crate::error::WaitTimeoutBody
        )
    )
)]
pub(crate) async fn wait(
    State(app): State<Arc<App>>,
    caller: Reader,
    Id(id): Id<InboxId>,
    Params(input): Params<WaitInput>,
) -> Result<Json<Found>> {
    let (filter, timeout) = input.split();
    match app.wait(caller.team, id, &filter, timeout).await? {
        Waited::Found(message) => Ok(Json(Found { message })),
        Waited::TimedOut(near_misses) => Err(Error::WaitTimeout(near_misses)),
    }
}

/// Follow an inbox
///
/// Server-sent events: `message.created` and `message.updated` with `{ inboxId, message }`,
/// `message.deleted` with `{ inboxId, ids }` (and `all: true` for an emptied inbox), `inbox.updated`
/// with `{ inbox }`. After a reconnect with `Last-Event-ID` the messages created meanwhile come first.
/// A comment every 15 seconds keeps the connection open.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/events",
    operation_id = "followInbox",
    tag = "Inboxes",
    params(
        ("id" = InboxId, Path, description = "The inbox."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event seen."),
        EventsInput
    ),
    responses((
        status = 200,
        description = "The stream.",
        body = String,
        content_type = "text/event-stream"
    ))
)]
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    caller: Reader,
    Id(id): Id<InboxId>,
    headers: HeaderMap,
    Params(input): Params<EventsInput>,
) -> Result<Response> {
    let last = last_event(&headers, input.last_event_id.as_deref())?;
    let feed = app.feed(caller.team, id, last).await?;
    let events = Sse::new(frames(feed)).keep_alive(KeepAlive::new().interval(HEARTBEAT));
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, events).into_response())
}

fn last_event(headers: &HeaderMap, parameter: Option<&str>) -> Result<Option<Bookmark>> {
    let header = headers.get("last-event-id").map(HeaderValue::as_bytes);
    let given = header.map(String::from_utf8_lossy);
    let text = given.as_deref().or(parameter).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let path = if header.is_some() { "Last-Event-ID" } else { "lastEventId" };
    let wrong = |_| Error::invalid(path, "invalid_value", "is not the id of an event");
    text.parse().map(Some).map_err(wrong)
}

/// The first frame is a comment, so that a client sees at once that the stream is open.
fn frames(feed: Feed) -> impl Stream<Item = Result<Event, Infallible>> {
    let opened = stream::once(async { Event::default().comment("open") });
    let events = stream::unfold(feed, |mut feed| async move {
        let event = feed.next().await?;
        Some((frame(event), feed))
    });
    opened.chain(events).map(Ok)
}

fn frame(event: FeedEvent) -> Event {
    Event::default().id(event.id).event(event.name).data(event.data.to_string())
}

#[cfg(test)]
mod tests;
