#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use serde_json::Value;

use super::*;

/// What the API has to offer, in the words of its specification.
const ROUTES: [&str; 33] = [
    "get /api/projects",
    "post /api/projects",
    "patch /api/projects/{id}",
    "delete /api/projects/{id}",
    "get /api/inboxes",
    "post /api/inboxes",
    "get /api/inboxes/{id}",
    "patch /api/inboxes/{id}",
    "delete /api/inboxes/{id}",
    "post /api/inboxes/{id}/credentials",
    "post /api/inboxes/{id}/test-message",
    "get /api/inboxes/{id}/events",
    "get /api/inboxes/{id}/messages",
    "patch /api/inboxes/{id}/messages",
    "delete /api/inboxes/{id}/messages",
    "get /api/inboxes/{id}/messages/wait",
    "get /api/messages/{id}",
    "patch /api/messages/{id}",
    "delete /api/messages/{id}",
    "get /api/messages/{id}/raw",
    "get /api/messages/{id}/html",
    "get /api/messages/{id}/preview-url",
    "get /api/messages/{id}/attachments/{attachmentId}",
    "get /api/webhooks",
    "post /api/webhooks",
    "get /api/webhooks/{id}",
    "patch /api/webhooks/{id}",
    "delete /api/webhooks/{id}",
    "post /api/webhooks/{id}/test",
    "get /api/webhooks/{id}/deliveries",
    "post /api/webhooks/{id}/deliveries/{deliveryId}",
    "get /api/health",
    "get /api/metrics",
];

fn document() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &'_ Value)| -> Vec<_> {
        let item = item.as_object().unwrap();
        item.keys().map(|method| format!("{method} {path}")).collect()
    };
    let names: Vec<_> = paths.iter().flat_map(of_path).collect();
    let find = |name: &String| {
        let (method, path) = name.split_once(' ').unwrap();
        &document["paths"][path][method]
    };
    names.iter().map(|name| (name.clone(), find(name))).collect()
}

#[test]
fn every_route_is_described() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "Trapline");
    assert_eq!(document["info"]["license"]["identifier"], "Apache-2.0");
    let operations = operations(&document);
    let known: HashSet<_> = operations.iter().map(|(name, _)| name.as_str()).collect();
    for route in ROUTES {
        assert!(known.contains(route), "{route}");
    }
    let ids: HashSet<_> = operations.iter().map(|(_, op)| op["operationId"].to_string()).collect();
    assert_eq!(ids.len(), operations.len());
    for (name, operation) in &operations {
        assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{name}");
    }
}

#[test]
fn every_answer_is_described() {
    let document = document();
    for (name, operation) in operations(&document) {
        let answers = operation["responses"].as_object().unwrap();
        for (status, answer) in answers {
            let answer = resolve(&document, answer);
            let text = answer["description"].as_str().unwrap_or_default();
            assert!(text.len() > 5, "{name} {status}");
            assert!(answer["headers"]["X-Request-Id"].is_object(), "{name} {status}");
            assert_eq!(answer["content"].is_object(), status != "204", "{name} {status}");
        }
    }
}

#[test]
fn operations_answer_what_follows_from_what_they_take() {
    let document = document();
    for (name, operation) in operations(&document) {
        let has = |status: &str| operation["responses"][status].is_object();
        let body = operation["requestBody"].is_object();
        let team = !["health", "metrics", "openapi", "ca.pem", "/confirm"]
            .iter()
            .any(|it| name.contains(it));
        let missing = ["{", "ca.pem", "/confirm"].iter().any(|it| name.contains(it));
        assert_eq!(has("404"), missing, "{name}");
        assert_eq!((has("413"), has("415")), (body, body), "{name}");
        assert_eq!(has("429"), team || name.contains("metrics"), "{name}");
        assert_eq!(has("401"), team || name.contains("metrics"), "{name}");
        let signed = name.contains("/html") || name.contains("/attachments/");
        assert_eq!(has("403"), team && (signed || !name.starts_with("get")), "{name}");
        assert!(has("400") && has("500") && has("503"), "{name}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        if let Value::Object(members) = value {
            assert!(!resolve(&document, value).is_null(), "{value}");
            open.extend(members.values());
        } else if let Value::Array(items) = value {
            open.extend(items);
        }
    }
}

#[test]
fn bodies_are_closed_and_bounded() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for name in
        ["ProjectInput", "NewInbox", "InboxChange", "MessageChange", "NewWebhook", "WebhookChange"]
    {
        assert_eq!(schemas[name]["additionalProperties"], false, "{name}");
    }
    assert_eq!(schemas["InboxChange"]["properties"]["name"]["$ref"], "#/components/schemas/Name");
    assert_eq!(schemas["NewInbox"]["properties"]["expiresInMinutes"]["maximum"], 10_080);
    assert_eq!(schemas["NewInbox"]["required"], serde_json::json!(["name"]));
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value.get("$ref").and_then(Value::as_str);
    reference
        .map_or(value, |at| document.pointer(at.trim_start_matches('#')).unwrap_or(&Value::Null))
}
