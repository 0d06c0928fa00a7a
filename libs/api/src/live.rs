//! What happens now: the long poll for a message, and the stream of an inbox's events.

mod frames;

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trapline_app::{App, Filter, Waited};
use trapline_model::{InboxId, InvalidId, Message, NearMiss, Principal, Time};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, schema::Type};

use crate::{
    auth::Reader,
    deferred::deferred,
    error::{Error, Result},
    extract::{Flag, Params, PathParams},
    reply,
    state::Client,
};

const DEFAULT_TIMEOUT: u8 = 30;
/// Ids of other inboxes that a stream counts.
const MAX_COUNTS: usize = 100;

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
    /// The status of the answer when no message arrives in time. Browsers and many HTTP clients repeat
    /// a request that is answered 408 by themselves; 200 is what they leave alone.
    #[serde(default)]
    #[param(inline, value_type = Option<OnTimeout>)]
    on_timeout: OnTimeout,
}

/// How a wait without a message is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum OnTimeout {
    #[default]
    #[serde(rename = "408")]
    Error,
    #[serde(rename = "200")]
    Null,
}

impl utoipa::PartialSchema for OnTimeout {
    fn schema() -> RefOr<Schema> {
        let statuses = ObjectBuilder::new().schema_type(Type::String);
        statuses.enum_values(Some(["408", "200"])).default(Some("408".into())).into()
    }
}

impl utoipa::ToSchema for OnTimeout {}

impl WaitInput {
    fn split(self) -> (Filter, Duration) {
        let timeout = Duration::from_secs(self.timeout.unwrap_or(DEFAULT_TIMEOUT).into());
        let Self { to, from, subject, since, has_code, .. } = self;
        (Filter { to, from, subject, since, has_code: has_code.on() }, timeout)
    }
}

/// What a wait led to.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WaitResult {
    /// The whole message. Null only with `onTimeout=200`, when none arrived in time.
    #[schema(required)]
    message: Option<Box<Message>>,
    /// Only where there is no message: up to 5 of the last minutes that failed one filter only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    near_misses: Option<Vec<NearMiss>>,
}

/// Where a stream goes on.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsInput {
    /// The same as the header, for clients that cannot set one.
    #[param(max_length = 200)]
    last_event_id: Option<String>,
    /// Other inboxes of the team, at most 100 ids with commas between them: the stream begins with an
    /// `inbox.updated` of each, and has another when it changed, at most one a second for each.
    #[param(inline, value_type = Option<CountedIds>)]
    counts: Option<CountedIds>,
    /// Seconds after which the stream ends by itself, for clients that read an answer whole. It goes on
    /// until the client leaves or the server stops when left out.
    #[param(minimum = 1, maximum = 3600)]
    duration: Option<u16>,
}

/// Inboxes whose counts are told.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct CountedIds(Vec<InboxId>);

impl TryFrom<String> for CountedIds {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl utoipa::PartialSchema for CountedIds {
    fn schema() -> RefOr<Schema> {
        let ids = ObjectBuilder::new().schema_type(Type::String).min_length(Some(26));
        let ids = ids.max_length(Some(MAX_COUNTS * 27 - 1));
        let pattern = "^[0-9a-v]{25}[048cgkos](,[0-9a-v]{25}[048cgkos])*$";
        ids.pattern(Some(pattern)).into()
    }
}

impl utoipa::ToSchema for CountedIds {}

/// Wait for a message
///
/// Answers with the newest matching message, or else with the first that arrives in time. When none
/// does, the answer is 408, or, with `onTimeout=200`, `{ "message": null, "nearMisses": [...] }`: use
/// that from browsers and from clients that repeat a 408 by themselves.
#[utoipa::path(
    get,
    path = "/api/inboxes/{id}/messages/wait",
    operation_id = "waitForMessage",
    tag = "Messages",
    params(("id" = InboxId, Path, description = "The inbox."), WaitInput),
    responses(
        (status = 200, description = "The message.", body = WaitResult),
        (
            status = 408,
            description = "No matching message arrived in time (`wait_timeout`).",
            body = crate::error::WaitTimeoutBody
        )
    )
)]
pub(crate) async fn wait(
    State(app): State<Arc<App>>,
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
    client: Option<Extension<Client>>,
    Params(input): Params<WaitInput>,
) -> Response {
    let waited = waited(app, by, id, input);
    // Without a listener, as in tests, nobody asks for an answer that is to come.
    if client.is_some() { deferred(waited) } else { Box::pin(waited).await.into_response() }
}

async fn waited(app: Arc<App>, by: Principal, id: InboxId, input: WaitInput) -> Result<Response> {
    let on_timeout = input.on_timeout;
    let (filter, timeout) = input.split();
    match (app.live().wait(&by, id, &filter, timeout).await?, on_timeout) {
        (Waited::Found(message), _) => {
            let size = message.size;
            let found = WaitResult { message: Some(message), near_misses: None };
            reply::whole(&app, size, found).await
        }
        (Waited::TimedOut(near_misses), OnTimeout::Null) => {
            let none = WaitResult { message: None, near_misses: Some(near_misses) };
            Ok(Json(none).into_response())
        }
        (Waited::TimedOut(near_misses), OnTimeout::Error) => Err(Error::WaitTimeout(near_misses)),
    }
}

/// Follow an inbox
///
/// Server-sent events: `message.created` and `message.updated` with `{ inboxId, message }`,
/// `message.deleted` with `{ inboxId, ids }` (and `all: true` for an emptied inbox), `inbox.updated`
/// with `{ inbox }` (and `marked: { ids, isRead }` where messages were marked together). After a
/// reconnect with `Last-Event-ID` the messages created meanwhile come first; the opening frame, a
/// comment, has an id too. What is no id of this inbox's events stands before its oldest message.
/// With `counts` other inboxes are told of too, by `inbox.updated`.
/// A comment every 15 seconds keeps the connection open. With `duration` the stream ends after so many
/// seconds, and goes on with the id of its last event.
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
    Reader(by): Reader,
    PathParams(id): PathParams<InboxId>,
    headers: HeaderMap,
    Params(input): Params<EventsInput>,
) -> Result<Response> {
    let last = last_event(&headers, input.last_event_id.as_deref());
    let mut feed = app.live().feed(&by, id, last.as_deref()).await?;
    if let Some(CountedIds(ids)) = input.counts {
        feed.count(&ids).await?;
    }
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    let duration = input.duration.map(|seconds| Duration::from_secs(seconds.into()));
    Ok((headers, Body::from_stream(frames::of(feed, duration))).into_response())
}

/// What the client says of the last event that it saw: the header counts, then the parameter.
fn last_event<'a>(headers: &'a HeaderMap, parameter: Option<&'a str>) -> Option<Cow<'a, str>> {
    let header = headers.get("last-event-id").map(HeaderValue::as_bytes);
    let given = header.map(String::from_utf8_lossy).or(parameter.map(Cow::Borrowed));
    given.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
