//! Statuses, headers and bodies.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::{Rate, Settings};
use trapline_model::Access;

use crate::{Service, minutes, request, settings};

#[tokio::test]
async fn a_request_that_leads_nowhere_is_answered_in_json() {
    let service = Service::start().await;
    let key = Some(service.key.as_str());
    let cases = [
        ("GET", "/api", "no_such_path", ""),
        ("GET", "/api/nothing", "no_such_path", ""),
        ("GET", "/api/inboxes/", "no_such_path", ""),
        ("GET", "/nothing", "no_such_path", ""),
        ("GET", "/api/inboxes/none", "not_found", ""),
        ("GET", "/api/inboxes/%FF", "not_found", ""),
        ("GET", "/api/messages/none/attachments/1", "not_found", ""),
        ("PUT", "/api/inboxes", "method_not_allowed", "GET,HEAD,POST"),
        ("POST", "/api/health", "method_not_allowed", "GET,HEAD"),
        ("FOO", "/api/projects/1", "method_not_allowed", "PATCH,DELETE"),
        ("OPTIONS", "/api/inboxes/1/events", "method_not_allowed", "GET,HEAD"),
    ];
    for (method, path, code, allow) in cases {
        let answer = service.ask(request(key, method, path, &Value::Null)).await;
        let status = if code == "method_not_allowed" { 405 } else { 404 };
        assert_eq!(answer.code(), (status, code.to_owned()), "{method} {path}");
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
        assert_eq!(answer.header("content-type"), "application/json", "{method} {path}");
        assert!(answer.json()["error"].is_string(), "{method} {path}");
    }
}

#[tokio::test]
async fn the_nearest_path_is_named() {
    let service = Service::start().await;
    let cases = [
        ("/api/inboxes/", "There is no such path; the nearest is /api/inboxes"),
        ("/api/inbox/4711/messages", "the nearest is /api/inboxes/4711/messages"),
        ("/api/nothing/of/it", "There is no such path; /docs shows every path"),
    ];
    for (path, wanted) in cases {
        let answer = service.get(path).await.json();
        assert!(answer["error"].as_str().unwrap().ends_with(wanted), "{answer}");
    }
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_it_safe() {
    let service = Service::start().await;
    for path in ["/api/inboxes", "/api/health", "/api/nothing", "/docs/", "/"] {
        let answer = service.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
        let stored = if path.starts_with("/api") { "no-store" } else { "" };
        assert_eq!(answer.header("cache-control"), stored, "{path}");
    }
}

#[tokio::test]
async fn a_request_keeps_its_id_if_that_is_fit_for_logs() {
    let service = Service::start().await;
    let longest = "a".repeat(128);
    let cases: [(&[&str], bool); 8] = [
        (&["mine"], true),
        (&["00-4bf9:2f.3_a/b+c=@d"], true),
        (&[&longest], true),
        (&[&format!("{longest}a")], false),
        (&[""], false),
        (&["a b"], false),
        (&["a\"b"], false),
        (&["one", "two"], false),
    ];
    for (ids, is_kept) in cases {
        let mut request = Request::get("/api/health");
        for id in ids {
            request = request.header("x-request-id", *id);
        }
        let answer = service.ask(request.body(Body::empty()).unwrap()).await;
        let id = answer.header("x-request-id");
        assert_eq!(id == ids[0], is_kept, "{ids:?}: {id}");
        assert!(is_kept || id.len() == 36, "{ids:?}: {id}");
    }
}

#[tokio::test]
async fn a_url_is_bounded_to_the_byte() {
    let service = Service::start().await;
    for (bytes, code) in [(8192, (404, "no_such_path")), (8193, (414, "uri_too_long"))] {
        let answer = service.get(&format!("/{}", "a".repeat(bytes - 1))).await;
        assert_eq!(answer.code(), (code.0, code.1.to_owned()), "{bytes}");
        assert!(!answer.header("x-request-id").is_empty());
    }
}

/// Path and code of each.
type Issues = &'static [(&'static str, &'static str)];

#[tokio::test]
async fn wrong_fields_are_named() {
    let service = Service::start().await;
    let inbox = format!("/api/inboxes/{}", service.inbox().await);
    let unknown = "0".repeat(26);
    let cases: [(&str, &str, Value, Issues); 14] = [
        ("POST", "/api/projects", json!({}), &[("name", "required")]),
        ("POST", "/api/projects", json!({ "name": "  " }), &[("name", "invalid_format")]),
        ("POST", "/api/projects", json!({ "name": "a\nb" }), &[("name", "invalid_format")]),
        ("POST", "/api/projects", json!({ "name": "" }), &[("name", "too_short")]),
        ("POST", "/api/projects", json!({ "name": "a".repeat(101) }), &[("name", "too_long")]),
        ("POST", "/api/projects", json!({ "name": "a", "id": 1 }), &[("id", "unknown")]),
        (
            "POST",
            "/api/inboxes",
            json!({ "name": 1, "maxMessages": 10_001, "expiresInMinutes": 0 }),
            &[
                ("name", "invalid_type"),
                ("maxMessages", "too_big"),
                ("expiresInMinutes", "too_small"),
            ],
        ),
        (
            "POST",
            "/api/inboxes",
            json!({ "name": "a", "expiresInMinutes": 10_081 }),
            &[("expiresInMinutes", "too_big")],
        ),
        (
            "POST",
            "/api/inboxes",
            json!({ "name": "a", "projectId": unknown }),
            &[("projectId", "unknown")],
        ),
        ("PATCH", &inbox, json!({ "name": null }), &[("name", "invalid_type")]),
        ("PATCH", &inbox, json!({ "expiresInMinutes": 0 }), &[("expiresInMinutes", "too_small")]),
        ("PATCH", &inbox, json!("x"), &[("", "invalid_type")]),
        ("PATCH", &inbox, json!({ "projectId": "p" }), &[("projectId", "too_short")]),
        ("PATCH", &inbox, json!({ "projectId": 5 }), &[("projectId", "invalid_type")]),
    ];
    for (method, path, body, wanted) in cases {
        let answer = service.with_key(&service.key, method, path, &body).await;
        assert_eq!(answer.status, 400, "{body} {answer:?}");
        assert_eq!(issues(&answer.json()), wanted, "{body}");
    }
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let service = Service::start().await;
    let inbox = format!("/api/inboxes/{}", service.inbox().await);
    let long = format!("/messages?q={}", "a".repeat(201));
    let cases: [(&str, Issues); 10] = [
        ("/messages?limit=201", &[("limit", "too_big")]),
        ("/messages?limit=0&page=0", &[("page", "too_small"), ("limit", "too_small")]),
        ("/messages?unread=maybe", &[("unread", "invalid_type")]),
        (&long, &[("q", "too_long")]),
        ("/messages?sort=asc", &[("sort", "unknown")]),
        ("/messages/wait?timeout=121", &[("timeout", "too_big")]),
        ("/messages/wait?since=yesterday", &[("since", "invalid_value")]),
        ("/messages/wait?since=2026-01-31T09:30:00+02:00", &[("since", "invalid_value")]),
        ("/messages/wait?to=", &[("to", "too_short")]),
        ("/events?lastEvent=7", &[("lastEvent", "unknown")]),
    ];
    for (path, wanted) in cases {
        let answer = service.get(&format!("{inbox}{path}")).await;
        assert_eq!(answer.status, 400, "{path} {answer:?}");
        assert_eq!(issues(&answer.json()), wanted, "{path}");
    }
}

fn issues(body: &Value) -> Vec<(&str, &str)> {
    let issues = body["issues"].as_array().unwrap().iter();
    issues.map(|it| (it["path"].as_str().unwrap(), it["code"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn bodies_are_bounded_and_announced() {
    let service = Service::start().await;
    let name = "a".repeat(1024 * 1024);
    assert_eq!(service.post("/api/projects", json!({ "name": name })).await.status, 413);
    let answer = service.post("/api/projects", Value::Null).await;
    assert_eq!(answer.code(), (415, "unsupported_media_type".to_owned()));
}

#[tokio::test]
async fn an_inbox_and_its_messages_live_and_go() {
    let service = Service::start().await;
    let project = service.post("/api/projects", json!({ "name": " Checkout " })).await;
    assert_eq!((project.status, &project.json()["name"]), (201, &json!("Checkout")));
    let body = json!({ "name": "Inbox", "projectId": project.json()["id"], "maxMessages": 5 });
    let inbox = service.post("/api/inboxes", body).await.json();
    assert_eq!((&inbox["projectId"], &inbox["maxMessages"]), (&project.json()["id"], &json!(5)));
    let path = format!("/api/inboxes/{}", inbox["id"].as_str().unwrap());
    let send = async |method: &str, path: &str, body: Value| {
        service.with_key(&service.key, method, path, &body).await
    };
    let out = send("PATCH", &path, json!({ "projectId": null })).await;
    assert_eq!((out.status, &out.json()["projectId"]), (200, &Value::Null));

    let message = service.message(inbox["id"].as_str().unwrap()).await;
    let at = format!("/api/messages/{}", message["id"].as_str().unwrap());
    let list = service.get(&format!("{path}/messages?unread=1&limit=1")).await.json();
    assert_eq!((&list["total"], &list["page"], &list["limit"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(list["messages"][0]["id"], message["id"]);
    let read = send("PATCH", &at, json!({ "isRead": true })).await;
    assert_eq!((read.status, &read.json()["isRead"]), (200, &json!(true)));
    let marked = send("PATCH", &format!("{path}/messages"), Value::Null).await;
    assert_eq!((marked.status, &marked.json()["unreadCount"]), (200, &json!(0)));
    for (path, status) in [(&at, 204), (&at, 404), (&format!("{path}/messages"), 204), (&path, 204)]
    {
        assert_eq!(send("DELETE", path, Value::Null).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn the_original_comes_as_it_is() {
    let service = Service::start().await;
    let message = service.message(&service.inbox().await).await;
    let id = message["id"].as_str().unwrap();
    let shown = service.get(&format!("/api/messages/{id}/raw")).await;
    assert_eq!(shown.header("content-type"), "message/rfc822");
    assert_eq!(json!(shown.body.len()), message["size"]);
    assert_eq!(shown.header("content-length"), shown.body.len().to_string());
    let saved = service.get(&format!("/api/messages/{id}/raw?download=1")).await;
    assert_eq!(saved.body, shown.body);
    let disposition = format!("attachment; filename=\"{id}.eml\"");
    assert_eq!(saved.header("content-disposition"), disposition);
}

#[tokio::test]
async fn an_inbox_is_given_more_time_and_less() {
    let service = Service::start().await;
    let body = json!({ "name": "Short", "expiresInMinutes": 10 });
    let inbox = service.post("/api/inboxes", body).await.json();
    let id = inbox["id"].as_str().unwrap();
    let path = format!("/api/inboxes/{id}");
    service.message(id).await;
    let give = async |body: Value| {
        let answer = service.with_key(&service.key, "PATCH", &path, &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["expiresAt"].clone()
    };
    service.clock.advance(minutes(5));
    let later = service.clock.now().after(minutes(60)).to_string();
    assert_eq!(give(json!({ "expiresInMinutes": 60 })).await, json!(later));
    // What is left out stays.
    assert_eq!(give(json!({ "name": "Longer" })).await, json!(later));
    service.clock.advance(minutes(59));
    assert_eq!(service.get(&path).await.json()["messageCount"], 1);
    assert_eq!(give(json!({ "expiresInMinutes": null })).await, Value::Null);
    service.clock.advance(minutes(60 * 24 * 30));
    assert_eq!(service.get(&path).await.json()["messageCount"], 1);
    give(json!({ "expiresInMinutes": 1 })).await;
    service.clock.advance(minutes(1));
    let over = service.with_key(&service.key, "PATCH", &path, &json!({ "name": "x" })).await;
    assert_eq!((service.get(&path).await.status, over.status), (404, 404));
}

#[tokio::test]
async fn a_team_makes_so_many_inboxes_a_minute() {
    let rate = Rate { burst: 2, per: minutes(1) };
    let service = Service::with(Settings { inbox_rate: Some(rate), ..settings(None) }).await;
    let other = service.app.access().create_team("Other").await.unwrap();
    let other = service.new_key(other, Access::Write, None).await;
    let make = async |key: &str| {
        service.with_key(key, "POST", "/api/inboxes", &json!({ "name": "Inbox" })).await
    };
    for _ in 0..2 {
        assert_eq!(make(&service.key).await.status, 201);
    }
    let refused = make(&service.key).await;
    assert_eq!(refused.code(), (429, "rate_limited".to_owned()));
    assert_eq!(refused.header("retry-after"), "30");
    let error = "Too many new inboxes: a team may make 2 a minute";
    assert_eq!(refused.json()["error"], error);
    assert_eq!(make(&other).await.status, 201);
    service.clock.advance(minutes(1));
    assert_eq!(make(&service.key).await.status, 201);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408() {
    let service = Service::start().await;
    // From here on there is nothing to wait for but the clock.
    assert_eq!(service.get("/api/inboxes").await.status, 200);
    tokio::time::pause();
    for (method, path) in [("POST", "/api/inboxes"), ("POST", "/api/webhooks/none/test")] {
        let never = futures_util::stream::pending::<Result<&[u8], std::io::Error>>();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {}", service.key))
            .header("content-type", "application/json")
            .body(Body::from_stream(never));
        let answer = service.ask(request.unwrap()).await;
        assert_eq!(answer.code(), (408, "request_timeout".to_owned()), "{method} {path}");
        assert_eq!(answer.header("connection"), "close", "{method} {path}");
    }
}
