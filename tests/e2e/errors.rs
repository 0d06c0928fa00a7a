//! What is refused, and how it is said.

use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, Mail, deliver, eventually, is_cluster, shared};

#[tokio::test]
async fn wrong_bodies_are_refused_field_by_field() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let project = rest.post("/api/projects", json!({ "name": "p" })).await.expect(201).json();
    let project = format!("/api/projects/{}", project["id"].as_str().unwrap());
    let (inbox, message) = (inbox.path(""), format!("/api/messages/{message}"));
    let long = "x".repeat(5_000);
    for (method, path, body, issues) in [
        ("POST", "/api/projects", json!({}), &["name"][..]),
        ("POST", "/api/projects", json!({ "name": "" }), &["name"]),
        ("POST", "/api/projects", json!({ "name": long }), &["name"]),
        ("POST", "/api/projects", json!({ "name": 1 }), &["name"]),
        ("POST", "/api/projects", json!({ "name": null }), &["name"]),
        ("POST", "/api/projects", json!({ "name": "x", "colour": "red" }), &["colour"]),
        ("POST", "/api/projects", json!([]), &[""]),
        ("POST", "/api/projects", json!("name"), &[""]),
        ("PATCH", &project, json!({}), &["name"]),
        ("PATCH", &project, json!({ "name": "x", "id": "y" }), &["id"]),
        ("POST", "/api/inboxes", json!({}), &["name"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "maxMessages": 0 }), &["maxMessages"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "maxMessages": 10_001 }), &["maxMessages"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "maxMessages": 1.5 }), &["maxMessages"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "maxMessages": "5" }), &["maxMessages"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "projectId": "no id" }), &["projectId"]),
        ("POST", "/api/inboxes", json!({ "name": "x", "projectId": 7 }), &["projectId"]),
        (
            "POST",
            "/api/inboxes",
            json!({ "name": "x", "expiresInMinutes": 0 }),
            &["expiresInMinutes"],
        ),
        (
            "POST",
            "/api/inboxes",
            json!({ "name": "x", "expiresInMinutes": 10_081 }),
            &["expiresInMinutes"],
        ),
        (
            "POST",
            "/api/inboxes",
            json!({ "maxMessages": -1, "expiresInMinutes": true }),
            &["expiresInMinutes", "maxMessages", "name"],
        ),
        ("PATCH", &inbox, json!({ "name": "" }), &["name"]),
        ("PATCH", &inbox, json!({ "maxMessages": 0 }), &["maxMessages"]),
        ("PATCH", &inbox, json!({ "expiresInMinutes": 10_081 }), &["expiresInMinutes"]),
        ("PATCH", &message, json!({}), &["isRead"]),
        ("PATCH", &message, json!({ "isRead": "true" }), &["isRead"]),
        ("PATCH", &message, json!({ "isRead": true, "subject": "x" }), &["subject"]),
    ] {
        let answer = rest.send(method, path, body.clone()).await.error(400);
        let mut found = answer.issues();
        found.sort();
        assert_eq!(found, issues, "{method} {path} {body}");
    }
}

#[tokio::test]
async fn wrong_queries_are_refused() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    for (below, issue) in [
        ("/messages?limit=201", "limit"),
        ("/messages?page=1.5", "page"),
        ("/messages?unread=maybe", "unread"),
        ("/messages?limt=5", "limt"),
        ("/messages/wait?timeout=0", "timeout"),
        ("/messages/wait?timeout=121", "timeout"),
        ("/messages/wait?since=yesterday", "since"),
        ("/messages/wait?hasCode=x", "hasCode"),
        ("/messages/wait?body=x", "body"),
    ] {
        let answer = rest.get(&inbox.path(below)).await.error(400);
        assert_eq!(answer.issues(), [issue], "{below}");
    }
}

#[tokio::test]
async fn what_an_endpoint_does_not_take_changes_nothing() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let message = format!("/api/messages/{message}");
    let all = inbox.path("/messages");
    for (method, path, body, issues) in [
        ("DELETE", format!("{all}?q=nomatch"), Value::Null, &["q"][..]),
        ("DELETE", all.clone(), json!({ "IDs": ["x"] }), &[""]),
        ("PATCH", all.clone(), json!({ "isRead": false }), &[""]),
        ("PATCH", format!("{message}?isRead=true"), json!({ "isRead": true }), &["isRead"]),
        ("DELETE", format!("{message}?dryRun=1&dryRun=2"), json!([]), &["dryRun", "dryRun", ""]),
        ("DELETE", inbox.path("?force=false"), Value::Null, &["force"]),
        ("POST", inbox.path("/test-message"), json!({ "subject": "x" }), &[""]),
        ("POST", inbox.path("/credentials"), json!({ "password": "x" }), &[""]),
        ("GET", inbox.path("/messages?q=a&q=b"), json!({ "q": "c" }), &["q", ""]),
        ("GET", "/api/projects?color=red".to_owned(), Value::Null, &["color"]),
        ("GET", "/api/inboxes?size=5".to_owned(), Value::Null, &["size"]),
        ("GET", "/api/health?deep=1&foo=1".to_owned(), Value::Null, &["foo"]),
    ] {
        let answer = rest.send(method, &path, body).await.error(400);
        assert_eq!(answer.issues(), issues, "{method} {path}");
    }
    let record = rest.get(&inbox.path("")).await.expect(200).json();
    let counts = (&record["messageCount"], &record["unreadCount"], &record["smtp"]["password"]);
    assert_eq!(counts, (&json!(1), &json!(1), &json!(inbox.password)));
    // A body that says nothing is none.
    rest.send("PATCH", &all, json!({})).await.expect(200);
    rest.send("DELETE", &all, json!({})).await.expect(204);
}

#[tokio::test]
async fn bodies_that_are_no_json_are_refused() {
    let server = shared();
    let rest = server.rest();
    let send = async |content_type: &str, body: Vec<u8>| {
        let request = rest.request("POST", "/api/projects").header("content-type", content_type);
        Answer::to(request.body(body)).await
    };
    for malformed in ["", "{", "{\"name\":}", "{\"name\":\"x\"} {}", "\u{0}"] {
        send("application/json", malformed.into()).await.error(400);
    }
    send("application/json", b"{\"name\":\"\xff\"}".to_vec()).await.error(400);
    for other in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
    {
        send(other, b"{\"name\":\"x\"}".to_vec()).await.error(415);
    }
    send("Application/JSON; charset=utf-8", b"{\"name\":\"x\"}".to_vec()).await.expect(201);
    let large = format!("{{\"name\":\"{}\"}}", "x".repeat(2 << 20));
    send("application/json", large.into()).await.error(413);
}

#[tokio::test]
async fn wrong_methods_and_paths_are_told_apart() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    for (method, path, allowed) in [
        ("PUT", "/api/projects", &["GET", "POST"][..]),
        ("GET", "/api/projects/x", &["PATCH", "DELETE"]),
        ("POST", &inbox.path("/messages"), &["GET", "PATCH", "DELETE"]),
        ("POST", &inbox.path("/messages/wait"), &["GET"]),
        ("GET", &inbox.path("/credentials"), &["POST"]),
        ("DELETE", "/api/health", &["GET"]),
    ] {
        let answer = rest.send(method, path, Value::Null).await.error(405);
        for allowed in allowed {
            assert!(answer.header("allow").contains(allowed), "{path}: {:?}", answer.headers);
        }
    }
    for path in ["/api", "/api/", "/api/nothing", "/api/inboxes/x/y/z", "/api/v1/inboxes"] {
        rest.get(path).await.error(404);
    }
}

#[tokio::test]
async fn ids_that_name_nothing_are_not_found() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let swapped = format!("{}{}", &message[26..], &message[..26]);
    let ids =
        ["x", "%20", "..", "0".repeat(26).as_str(), "0".repeat(52).as_str()].map(str::to_owned);
    for id in ids.iter().chain([&inbox.id.to_uppercase(), &format!("{}0", inbox.id), &swapped]) {
        for path in [
            "/api/inboxes/ID",
            "/api/inboxes/ID/messages",
            "/api/inboxes/ID/messages/wait",
            "/api/inboxes/ID/events",
            "/api/messages/ID",
            "/api/messages/ID/raw",
            "/api/messages/ID/html",
            "/api/messages/ID/preview-url",
            "/api/messages/ID/attachments/1",
        ] {
            let answer = rest.get(&path.replace("ID", id)).await;
            assert!([404, 405].contains(&answer.status), "{answer}");
        }
    }
}

#[tokio::test]
async fn keys_say_who_may_do_what() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let message = format!("/api/messages/{message}");
    let reader = server.reader();
    for path in
        ["/api/projects", "/api/inboxes", &inbox.path(""), &inbox.path("/messages"), &message]
    {
        reader.get(path).await.expect(200);
    }
    for (method, path, body) in [
        ("POST", "/api/projects", json!({ "name": "x" })),
        ("POST", "/api/inboxes", json!({ "name": "x" })),
        ("PATCH", &inbox.path(""), json!({ "name": "x" })),
        ("DELETE", &inbox.path(""), Value::Null),
        ("POST", &inbox.path("/credentials"), Value::Null),
        ("POST", &inbox.path("/test-message"), Value::Null),
        ("PATCH", &inbox.path("/messages"), Value::Null),
        ("DELETE", &inbox.path("/messages"), Value::Null),
        ("PATCH", &message, json!({ "isRead": true })),
        ("DELETE", &message, Value::Null),
    ] {
        let answer = reader.send(method, path, body).await.error(403);
        assert_eq!(answer.json()["code"], "read_only_key", "{answer}");
    }
    let expired = server.client(&server.team().expired_key()).get("/api/inboxes").await.error(401);
    assert_eq!(expired.json()["code"], "api_key_expired");
    for unknown in ["tl_unknownunknownunknown", "nonsense", ""] {
        let answer = server.client(unknown).get("/api/inboxes").await.error(401);
        assert_ne!(answer.json()["code"], "api_key_expired");
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{:?}", answer.headers);
    }
    for path in ["/api/inboxes", &message, &inbox.path("/events"), &inbox.path("/messages/wait")] {
        server.anonymous().get(path).await.error(401);
    }
    let key = server.team().key();
    let basic = server.anonymous().request("GET", "/api/inboxes");
    Answer::to(basic.header("authorization", format!("Basic {key}"))).await.error(401);
}

#[tokio::test]
async fn health_needs_no_key_and_metrics_need_a_token() {
    let server = Deployment::with(&["--metrics-token", "secret-token"]);
    let anybody = server.anonymous();
    assert_eq!(anybody.get("/api/health").await.expect(200).json(), json!({ "ok": true }));
    // Each part shows itself soon after the start, not before.
    let mut deep = eventually("good health", async || {
        let answer = anybody.get("/api/health?deep=1").await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    // Where the store has a clock of its own.
    let skew = deep.as_object_mut().unwrap().remove("clockSkewMs");
    assert_eq!(skew.is_some_and(|skew| skew.is_i64()), is_cluster());
    let expected = json!({ "ok": true, "smtp": true, "worker": true, "overdueJobs": 0 });
    assert_eq!(deep, expected);
    let inbox = server.rest().inbox().await;
    deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let metrics = server.client("secret-token").get("/api/metrics").await.expect(200);
    assert!(metrics.text().contains("# TYPE"), "{metrics}");
    for wrong in ["secret-toke", "secret-token2", server.team().key()] {
        server.client(wrong).get("/api/metrics").await.error(401);
    }
    anybody.get("/api/metrics").await.error(401);
    // Without a token in the settings they are closed.
    let closed = shared();
    closed.client("").get("/api/metrics").await.error(401);
    closed.anonymous().get("/api/metrics").await.error(401);
}
