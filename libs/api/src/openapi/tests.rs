#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use serde_json::Value;

use super::*;

/// What the API has to offer, in the words of its specification.
const ROUTES: [&str; 105] = [
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
    "post /api/inboxes/{id}/messages/delete",
    "post /api/inboxes/{id}/messages/read",
    "get /api/messages/{id}",
    "patch /api/messages/{id}",
    "delete /api/messages/{id}",
    "get /api/messages/{id}/raw",
    "get /api/checks",
    "get /api/messages/{id}/spam",
    "get /api/messages/{id}/html-check",
    "get /api/messages/{id}/unsubscribe",
    "post /api/messages/{id}/unsubscribe",
    "post /api/messages/{id}/link-check",
    "get /api/messages/{id}/auth",
    "get /api/inboxes/{id}/dns-zone",
    "put /api/inboxes/{id}/dns-zone",
    "delete /api/inboxes/{id}/dns-zone",
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
    "get /api/idps",
    "post /api/idps",
    "get /api/idps/{id}",
    "patch /api/idps/{id}",
    "delete /api/idps/{id}",
    "post /api/idps/{id}/rotate",
    "get /api/idps/{id}/users",
    "post /api/idps/{id}/users",
    "patch /api/idps/{id}/users/{userId}",
    "delete /api/idps/{id}/users/{userId}",
    "get /api/idps/{id}/events",
    "delete /api/idps/{id}/events",
    "get /api/mocks/providers",
    "get /api/mocks",
    "post /api/mocks",
    "get /api/mocks/{id}",
    "patch /api/mocks/{id}",
    "delete /api/mocks/{id}",
    "post /api/mocks/{id}/rotate",
    "get /api/mocks/{id}/calls",
    "delete /api/mocks/{id}/calls",
    "get /api/mocks/{id}/calls/{callId}",
    "get /api/mocks/{id}/webhooks",
    "get /api/mocks/{id}/webhooks/{deliveryId}",
    "post /api/mocks/{id}/webhooks/{deliveryId}/replay",
    "get /api/mocks/{id}/objects",
    "post /api/mocks/{id}/objects/{objectId}/move",
    "post /api/mocks/{id}/trigger",
    "get /api/idp-faults",
    "get /api/idps/{id}/faults",
    "post /api/idps/{id}/faults",
    "delete /api/idps/{id}/faults",
    "delete /api/idps/{id}/faults/{faultId}",
    "get /api/auth/options",
    "post /api/auth/sign-in",
    "post /api/auth/sign-out",
    "get /api/auth/me",
    "patch /api/auth/me",
    "get /api/auth/link",
    "post /api/auth/link",
    "post /api/auth/sign-up",
    "post /api/auth/reset",
    "post /api/auth/account",
    "post /api/auth/email",
    "post /api/auth/verify",
    "post /api/auth/password",
    "get /api/auth/sessions",
    "delete /api/auth/sessions",
    "delete /api/auth/sessions/{id}",
    "post /api/auth/team",
    "get /api/onboarding",
    "get /api/audit",
    "get /api/api-keys",
    "post /api/api-keys",
    "delete /api/api-keys/{id}",
    "get /api/team/usage",
    "get /api/team/sso",
    "put /api/team/sso",
    "delete /api/team/sso",
    "get /api/health",
    "get /api/status",
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
        for told in ["summary", "description"] {
            assert!(operation[told].is_string(), "{name} has no {told}");
        }
        assert!(operation["tags"][0].is_string(), "{name}");
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
    let session = serde_json::json!([{ "session": [] }]);
    for (name, operation) in operations(&document) {
        let has = |status: &str| operation["responses"][status].is_object();
        let body = operation["requestBody"].is_object();
        // Ways in say themselves what else they answer.
        let is_way_in = name.contains("/auth/") && operation["security"] != session;
        let team = !["health", "/api/status", "metrics", "openapi", "ca.pem", "/confirm"]
            .iter()
            .any(|it| name.contains(it));
        let missing = [
            "{",
            "ca.pem",
            "/confirm",
            "/auth/team",
            "/transfer",
            "get /api/team/sso",
            "delete /api/team/sso",
        ];
        let missing = missing.iter().any(|it| name.contains(it));
        assert!(has("400") && has("500") && has("503"), "{name}");
        assert_eq!((has("413"), has("415")), (body, body), "{name}");
        if is_way_in {
            assert_eq!(has("403"), name.starts_with("post"), "{name}");
            continue;
        }
        assert_eq!(has("404"), missing, "{name}");
        assert_eq!(has("429"), !name.contains("health"), "{name}");
        assert_eq!(has("401"), team || name.contains("metrics"), "{name}");
        assert_eq!(has("403"), team, "{name}");
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
    for name in [
        "ProjectInput",
        "InboxInput",
        "InboxChange",
        "MessageChange",
        "MessageSelection",
        "MessageMarks",
        "WebhookInput",
        "WebhookChange",
        "MockInput",
        "MockChange",
        "MockRotation",
        "MockMove",
        "MockTrigger",
    ] {
        assert_eq!(schemas[name]["additionalProperties"], false, "{name}");
    }
    assert_eq!(schemas["InboxChange"]["properties"]["name"]["maxLength"], 100);
    assert_eq!(schemas["InboxInput"]["properties"]["expiresInMinutes"]["maximum"], 10_080);
    assert_eq!(schemas["InboxInput"]["required"], serde_json::json!(["name"]));
}

/// Every schema of the document, at any depth.
fn schemas(document: &Value) -> Vec<&Value> {
    let (mut open, mut found) = (vec![document], Vec::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                found.push(value);
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// What a client in its language writes `f"{id}"` or `inbox.id` of.
#[test]
fn ids_and_times_are_plain_texts() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let alone = schema["type"] == "string" && schema["enum"].is_null();
        assert!(!alone, "{name} is a text with a name of its own");
    }
    let inbox = &document["components"]["schemas"]["Inbox"]["properties"];
    assert_eq!(inbox["id"]["type"], "string");
    assert_eq!(inbox["projectId"]["type"], serde_json::json!(["string", "null"]));
    assert_eq!(inbox["projectId"]["description"], "The project it is grouped under.");
    assert_eq!(inbox["createdAt"]["format"], "date-time");
    let path = &document["paths"]["/api/inboxes/{id}"]["get"]["parameters"][0]["schema"];
    assert_eq!((&path["type"], &path["maxLength"]), (&"string".into(), &26.into()));
}

#[test]
fn parameters_that_are_on_or_off_are_booleans() {
    let document = document();
    let mut flags = 0;
    for (name, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let words = parameter["schema"]["enum"].as_array();
            let digits = words.is_some_and(|words| words.contains(&"1".into()));
            assert!(!digits, "{name}: {parameter}");
            flags += usize::from(parameter["schema"]["type"] == "boolean");
        }
    }
    assert!(flags >= 5, "{flags}");
}

/// Names that languages have for something else, in small letters.
const TAKEN: [&str; 26] = [
    "array",
    "boolean",
    "class",
    "date",
    "error",
    "event",
    "exception",
    "function",
    "header",
    "headers",
    "link",
    "list",
    "map",
    "number",
    "object",
    "package",
    "process",
    "promise",
    "record",
    "request",
    "response",
    "set",
    "string",
    "symbol",
    "type",
    "warning",
];

#[test]
fn no_name_is_a_languages_own_or_that_of_something_else() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut names = HashSet::new();
    for (name, schema) in schemas {
        assert!(!TAKEN.contains(&name.to_lowercase().as_str()), "{name}");
        // Generators have constructors NewInbox and wrappers NullableInbox for an Inbox.
        assert!(!name.starts_with("New") && !name.starts_with("Nullable"), "{name}");
        assert!(names.insert(name.to_lowercase()), "{name}");
        let constants = schema["enum"].as_array().into_iter().flatten();
        let words = schema["x-enum-varnames"].as_array().into_iter().flatten();
        let words: Vec<_> = words.map(|word| word.as_str().unwrap()).collect();
        assert_eq!(constants.count(), words.len(), "{name}");
        for constant in words {
            assert!(names.insert(constant.to_lowercase()), "{constant}");
        }
    }
}

#[test]
fn descriptions_are_for_people_who_do_not_read_the_code() {
    let document = document();
    for schema in schemas(&document) {
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        assert!(!text.contains("[`") && !text.contains("::"), "{text}");
    }
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value.get("$ref").and_then(Value::as_str);
    reference
        .map_or(value, |at| document.pointer(at.trim_start_matches('#')).unwrap_or(&Value::Null))
}
