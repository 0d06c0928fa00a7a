//! The long poll and the stream.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode},
};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt};
use serde_json::{Value, json};

use trapline_api::{Client, deferred_response};
use trapline_app::Rate;
use trapline_model::Access;

use crate::{Service, minutes, request};

#[tokio::test]
async fn a_wait_finds_what_is_there_and_tells_what_nearly_was() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=1");
    let found = service.get(&format!("{path}&to=TRAPLINE.test&hasCode=1")).await;
    assert_eq!((found.status, &found.json()["message"]), (200, &message));
    let missed = service.get(&format!("{path}&subject=nothing-like-it")).await;
    assert_eq!(missed.code(), (408, "wait_timeout".to_owned()));
    assert_eq!(missed.json()["nearMisses"][0]["id"], message["id"]);
}

#[tokio::test]
async fn a_parked_wait_hears_of_the_message() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=60");
    let (found, message) = tokio::join!(service.get(&path), service.message(&inbox));
    assert_eq!((found.status, &found.json()["message"]), (200, &message));
}

/// What a server has read of a request: its headers are pieces of it.
struct Buffer {
    text: &'static str,
    _held: Arc<()>,
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[tokio::test]
async fn a_parked_wait_holds_nothing_of_its_request() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=60");
    let mut request = request(Some(&service.key), "GET", &path, &Value::Null);
    let held = Arc::new(());
    let buffer = Bytes::from_owner(Buffer { text: "some-id", _held: held.clone() });
    for name in ["x-request-id", "user-agent", "accept"] {
        let value = HeaderValue::from_maybe_shared(buffer.clone()).unwrap();
        request.headers_mut().insert(name, value);
    }
    drop(buffer);
    request.extensions_mut().insert(held.clone());
    let mut parked = pin!(service.send(request));
    while Arc::strong_count(&held) > 1 {
        assert!((&mut parked).now_or_never().is_none(), "answered without a message");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (found, _) = tokio::join!(parked, service.message(&inbox));
    assert_eq!(found.status(), StatusCode::OK);
    assert_eq!(found.headers()["x-request-id"], "some-id");
}

#[tokio::test]
async fn a_wait_is_answered_later_where_the_listener_asks_for_that() {
    let service = Service::limited(Some(Rate { burst: 9, per: minutes(1) })).await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=60");
    let mut request = request(Some(&service.key), "GET", &path, &Value::Null);
    let (address, share) = ([127, 0, 0, 1].into(), service.app.body_memory().share());
    request.extensions_mut().insert(Client { address, share });
    request.headers_mut().insert("x-request-id", HeaderValue::from_static("some-id"));
    let later = deferred_response(service.send(request).await).unwrap();
    let (found, message) = tokio::join!(later, service.message(&inbox));
    assert_eq!(found.status(), StatusCode::OK);
    let header = |name| found.headers().get(name).and_then(|value| value.to_str().ok());
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("x-request-id"), Some("some-id"));
    assert_eq!(header("cache-control"), Some("no-store"));
    assert!(header("ratelimit").is_some());
    assert_eq!(header("content-length"), None, "of the answer before it");
    let body = axum::body::to_bytes(found.into_body(), 1 << 20).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["message"], message);
}

#[tokio::test]
async fn waits_and_streams_end_with_the_service() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let events = stream(&service, &inbox, None).await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=120");
    let stop = async { service.app.shutdown().cancel() };
    let (parked, ()) = tokio::join!(service.get(&path), stop);
    assert_eq!((parked.code(), parked.header("retry-after")), ((503, "unavailable".into()), "1"));
    assert_eq!(events.into_data_stream().count().await, 1);
}

async fn stream(service: &Service, inbox: &str, last: Option<&str>) -> Body {
    let path = format!("/api/inboxes/{inbox}/events");
    let mut request = request(Some(&service.key), "GET", &path, &Value::Null);
    if let Some(last) = last {
        request.headers_mut().insert("last-event-id", last.parse().unwrap());
    }
    let response = service.send(request).await;
    assert_eq!(response.status(), 200);
    let header = |name: &str| response.headers()[name].to_str().unwrap();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!((header("cache-control"), header("x-accel-buffering")), ("no-cache", "no"));
    response.into_body()
}

/// The lines of the next frame, in however many pieces it comes.
async fn frame(pieces: &mut axum::body::BodyDataStream) -> Vec<String> {
    let mut text = String::new();
    while !text.ends_with("\n\n") {
        text.push_str(std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap());
    }
    text.lines().map(str::to_owned).collect()
}

fn id(frame: &[String]) -> &str {
    frame.iter().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

#[tokio::test]
async fn a_wait_without_a_message_is_an_answer_like_others_where_asked() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let path = format!("/api/inboxes/{inbox}/messages/wait?timeout=1&onTimeout");
    let found = service.get(&format!("{path}=200")).await;
    assert_eq!((found.status, found.json()), (200, json!({ "message": message })));
    let missed = service.get(&format!("{path}=200&subject=nothing-like-it")).await;
    assert_eq!((missed.status, &missed.json()["message"]), (200, &Value::Null));
    assert_eq!(missed.json()["nearMisses"][0]["id"], message["id"]);
    let missed = service.get(&format!("{path}=408&subject=nothing-like-it")).await;
    assert_eq!(missed.code(), (408, "wait_timeout".to_owned()));
    for other in ["204", "0200", "null", ""] {
        let refused = service.get(&format!("{path}={other}")).await;
        assert_eq!(refused.json()["issues"][0]["path"], "onTimeout", "{other}: {refused:?}");
    }
}

#[tokio::test]
async fn every_wrong_parameter_of_a_wait_is_named_at_once() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let query = "since=2026-01-31T09:30:00+02:00&timeout=0&onTimeout=500&to=";
    let refused = service.get(&format!("/api/inboxes/{inbox}/messages/wait?{query}")).await;
    let body = refused.json();
    let issues = body["issues"].as_array().unwrap();
    let mut paths: Vec<_> = issues.iter().map(|it| it["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["onTimeout", "since", "timeout", "to"]);
    let since = issues.iter().find(|issue| issue["path"] == "since").unwrap();
    assert!(since["message"].as_str().unwrap().contains("%2B"), "{since}");
}

#[tokio::test]
async fn a_stream_opens_at_once_and_goes_on_where_it_was_left() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let mut frames = stream(&service, &inbox, None).await.into_data_stream();
    let opened = frame(&mut frames).await;
    assert_eq!(opened[..2], [": open", "retry: 2000"]);
    let first = service.message(&inbox).await;
    let first_id = first["id"].as_str().unwrap();
    let told = frame(&mut frames).await;
    assert!(told.contains(&format!("id: {first_id}")), "{told:?}");
    assert!(told.contains(&"event: message.created".to_owned()), "{told:?}");
    drop(frames);

    let missed = service.message(&inbox).await;
    let mut frames = stream(&service, &inbox, Some(first_id)).await.into_data_stream();
    frame(&mut frames).await;
    let told = frame(&mut frames).await;
    let data = told.iter().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["inboxId"], &data["message"]["id"]), (&json!(inbox), &missed["id"]));

    // Where it opened, and before everything that is kept.
    for last in [id(&opened), "nonsense"] {
        let mut frames = stream(&service, &inbox, Some(last)).await.into_data_stream();
        frame(&mut frames).await;
        assert_eq!(id(&frame(&mut frames).await), first_id, "{last}");
    }
}

#[tokio::test]
async fn what_is_to_be_counted_is_checked() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let foreign = service.app.access().create_team("Other").await.unwrap();
    let key = service.new_key(foreign, Access::Write, None).await;
    let theirs = service.with_key(&key, "POST", "/api/inboxes", &json!({ "name": "Theirs" })).await;
    let theirs = theirs.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/inboxes/{inbox}/events?counts=");
    let hundred = vec![inbox.as_str(); 100].join(",");
    let no_id = "0".repeat(26);
    for (counts, status) in [
        (hundred.clone(), 200),
        (theirs.clone(), 404),
        (format!("{inbox},{theirs}"), 404),
        (no_id.clone(), 404),
        (vec![no_id.as_str(); 100].join(","), 404),
        (format!("{hundred},{inbox}"), 400),
        (String::new(), 400),
        (",".to_owned(), 400),
        (format!("{inbox},"), 400),
        (format!("{inbox}%20,{inbox}"), 400),
        (format!("{inbox}%00"), 400),
        (inbox.to_uppercase(), 400),
        ("*".repeat(7_000), 400),
    ] {
        let request = request(Some(&service.key), "GET", &format!("{path}{counts}"), &Value::Null);
        assert_eq!(service.send(request).await.status(), status, "{counts:.60}");
    }
    let request = request(Some(&service.key), "GET", &format!("{path}{hundred}"), &Value::Null);
    let mut frames = service.send(request).await.into_body().into_data_stream();
    frame(&mut frames).await;
    let told = frame(&mut frames).await;
    assert_eq!(told.iter().filter(|line| *line == "event: inbox.updated").count(), 1, "{told:?}");
    assert!(frames.next().now_or_never().is_none(), "once each");
}

#[tokio::test]
async fn a_stream_ends_after_the_duration_that_its_client_names() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/events");
    for wrong in ["0", "3601", "-1", "1.5", "x", ""] {
        let refused = service.get(&format!("{path}?duration={wrong}")).await;
        assert_eq!(refused.status, 400, "{wrong}");
    }
    let message = service.message(&inbox).await;
    let stream = service.get(&format!("{path}?duration=1&lastEventId=begin")).await;
    let text = String::from_utf8(stream.body).unwrap();
    assert!(text.starts_with(": open\n"), "{text}");
    assert!(text.contains(message["id"].as_str().unwrap()), "{text}");
}
