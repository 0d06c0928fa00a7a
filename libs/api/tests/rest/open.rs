//! A server at which nobody signs in.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_app::Settings;

use crate::{Answer, Service, settings};

async fn open() -> Service {
    let service = Service::with(Settings { sign_in: false, ..settings(None) }).await;
    service.app.installation().start(None).await.unwrap();
    service
}

impl Service {
    /// Asks without a key, with these fields beside `Host`.
    async fn ask_as(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let body = if method == "POST" { json!({ "name": "Mine" }) } else { Value::Null };
        let request = request.header("content-type", "application/json");
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        self.ask(request.body(body).unwrap()).await
    }
}

#[tokio::test]
async fn whoever_reaches_it_by_a_name_of_its_own_is_the_owner() {
    let service = open().await;
    let host = ("host", "localhost:8025");
    let me = service.ask_as("GET", "/api/auth/me", &[host]).await;
    assert_eq!((me.status, &me.json()["team"]["role"]), (200, &json!("owner")));
    assert_eq!(me.header("cross-origin-resource-policy"), "same-origin");
    let inbox = service.ask_as("POST", "/api/inboxes", &[host]).await;
    assert_eq!(inbox.status, 201);
    assert_eq!(service.ask_as("GET", "/api/api-keys", &[host]).await.status, 200);
    // A session that is over is no obstacle, and an unknown key stays one.
    let over = [host, ("cookie", "trapline-8025=0000000000000000000000000000000000000000000")];
    assert_eq!(service.ask_as("GET", "/api/auth/me", &over).await.status, 200);
    let unknown = [host, ("authorization", "Bearer tl_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")];
    let answer = service.ask_as("GET", "/api/inboxes", &unknown).await;
    assert_eq!(answer.code(), (401, "unknown_api_key".to_owned()));
}

#[tokio::test]
async fn pages_of_other_sites_are_not_the_owner() {
    let service = open().await;
    for (method, fields, code) in [
        ("GET", vec![("host", "evil.example:8025")], "unknown_host"),
        ("GET", vec![], "unknown_host"),
        ("POST", vec![("host", "evil.example"), ("origin", "http://evil.example")], "unknown_host"),
        ("POST", vec![("host", "localhost"), ("origin", "http://evil.example")], "cross_site"),
        ("POST", vec![("host", "localhost"), ("sec-fetch-site", "cross-site")], "cross_site"),
        ("POST", vec![("host", "localhost"), ("origin", "null")], "cross_site"),
    ] {
        let answer = service.ask_as(method, "/api/inboxes", &fields).await;
        assert_eq!(answer.code(), (403, code.to_owned()), "{method} {fields:?}");
    }
}

#[tokio::test]
async fn where_people_sign_in_a_name_of_the_servers_own_is_not_enough() {
    let service = Service::start().await;
    let answer = service.ask_as("GET", "/api/inboxes", &[("host", "localhost:8025")]).await;
    assert_eq!(answer.code(), (401, "missing_api_key".to_owned()));
}
