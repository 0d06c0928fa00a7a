//! What an operation does not take is refused before anything happens, on every route and with every
//! method: the walk follows the document, so that a new route is part of it from its first day.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::{
    Answer, Service,
    access::{Ids, Operation, fill, operations},
};

/// The path and the code of each issue.
fn issues(answer: &Answer) -> Vec<(String, String)> {
    let body = answer.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let issues = body["issues"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    issues.iter().map(|issue| (text(&issue["path"]), text(&issue["code"]))).collect()
}

impl Service {
    async fn raw(&self, operation: &Operation, query: &str, body: &str) -> (u16, Option<Answer>) {
        let uri = format!("{}?{query}", operation.path);
        let request = Request::builder().method(operation.method.as_str()).uri(uri);
        let request = if operation.is_for_people() {
            request.header("cookie", self.owner().await)
        } else {
            request.header("authorization", format!("Bearer {}", self.key))
        };
        let request = request.header("content-type", "application/json");
        let answer = self.send(request.body(Body::from(body.to_owned())).unwrap()).await;
        let (head, body) = answer.into_parts();
        let status = head.status.as_u16();
        // A stream has no end.
        if status != 400 {
            return (status, None);
        }
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec();
        (status, Some(Answer { status, headers: head.headers, body }))
    }

    /// Sends the operation, which must be refused for this.
    async fn refuses(&self, operation: &Operation, query: &str, body: &str, issue: (&str, &str)) {
        let told = format!("{} {}?{query} {body}", operation.method, operation.path);
        let (status, answer) = self.raw(operation, query, body).await;
        assert_eq!(status, 400, "{told}");
        let issue = (issue.0.to_owned(), issue.1.to_owned());
        let found = issues(&answer.unwrap());
        assert!(found.contains(&issue), "{told}: {found:?}");
    }

    /// Everything that the team's lists show.
    async fn state(&self, ids: &Ids) -> Vec<Value> {
        let mut state = Vec::new();
        for path in [
            "/api/projects".to_owned(),
            "/api/inboxes".to_owned(),
            format!("/api/inboxes/{}/messages", ids.inbox),
            format!("/api/inboxes/{}/forwarding", ids.inbox),
            format!("/api/messages/{}", ids.message),
            "/api/webhooks".to_owned(),
            format!("/api/webhooks/{}/deliveries", ids.webhook),
            "/api/forward-addresses".to_owned(),
        ] {
            let answer = self.get(&path).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            state.push(answer.json());
        }
        state
    }
}

#[tokio::test]
async fn what_an_operation_does_not_take_is_refused_on_every_route() {
    let service = Service::start().await;
    let ids = fill(&service).await;
    let before = service.state(&ids).await;
    let operations = operations(&ids);
    for operation in &operations {
        for query in ["surprise=1", "surprise", "timeout=1&token=x&surprise=&q=nomatch"] {
            service.refuses(operation, query, "", ("surprise", "unknown")).await;
        }
        for name in operation.parameters() {
            let twice = format!("{name}=1&{name}=1");
            service.refuses(operation, &twice, "", (&name, "repeated")).await;
        }
        if operation.takes_body() {
            let issue = ("surprise", "unknown");
            service.refuses(operation, "", "{\"surprise\":1}", issue).await;
            continue;
        }
        for body in ["{\"surprise\":1}", "{\"isRead\":false}", "[]", "null", "x", "{}{}"] {
            service.refuses(operation, "", body, ("", "unexpected_body")).await;
        }
    }
    assert_eq!(service.state(&ids).await, before);
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_at_once() {
    let service = Service::start().await;
    let inbox = format!("/api/inboxes/{}", service.inbox().await);
    let cases = [
        (
            "GET",
            format!("{inbox}/messages/wait?since=yesterday&timeout=0&x=1&hasCode=maybe&to=a&to=b"),
            json!({ "x": 1 }),
            &[
                ("since", "invalid_value"),
                ("hasCode", "invalid_type"),
                ("timeout", "too_small"),
                ("x", "unknown"),
                ("to", "repeated"),
                ("", "unexpected_body"),
            ][..],
        ),
        (
            "GET",
            format!("{inbox}/events?lastEventId={}&x=1", "7".repeat(201)),
            Value::Null,
            &[("lastEventId", "too_long"), ("x", "unknown")],
        ),
        (
            "DELETE",
            format!("{inbox}/messages?q=nomatch"),
            json!({ "IDs": ["x"] }),
            &[("q", "unknown"), ("", "unexpected_body")],
        ),
    ];
    for (method, path, body, wanted) in cases {
        let answer = service.with_key(&service.key, method, &path, &body).await;
        assert_eq!(answer.status, 400, "{path} {answer:?}");
        let found = issues(&answer);
        let found: Vec<_> =
            found.iter().map(|(path, code)| (path.as_str(), code.as_str())).collect();
        assert_eq!(found, wanted, "{path}");
    }
}

/// Clients send an empty object where they have nothing to say.
#[tokio::test]
async fn a_body_that_says_nothing_is_none() {
    let service = Service::start().await;
    let path = format!("/api/inboxes/{}/test-message", service.inbox().await);
    for body in ["", "{}", " {\n} "] {
        let request =
            Request::post(&path).header("authorization", format!("Bearer {}", service.key));
        let answer = service.ask(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status, 201, "{body:?} {answer:?}");
    }
}

#[tokio::test]
async fn who_may_not_do_it_hears_that_first() {
    let service = Service::start().await;
    let path = format!("/api/inboxes/{}/messages?q=nomatch", service.inbox().await);
    let reader = service.new_key(service.team, trapline_model::Access::Read, None).await;
    for (key, status) in [(reader.as_str(), 403), ("tl_unknown", 401), (&service.key, 400)] {
        let answer = service.with_key(key, "DELETE", &path, &json!({ "x": 1 })).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test]
async fn the_list_of_what_is_wrong_has_an_end() {
    let service = Service::start().await;
    let names: Vec<_> = (0..500).map(|n| format!("n{n}=1")).collect();
    let answer = service.get(&format!("/api/projects?{}", names.join("&"))).await;
    assert_eq!((answer.status, issues(&answer).len()), (400, 50));
    let answer = service.get(&format!("/api/projects?{}=1", "n".repeat(5_000))).await;
    assert!(answer.body.len() < 500, "{}", answer.body.len());
}
