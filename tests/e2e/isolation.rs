//! Another team's ids are not found, on any route: the walk follows the `OpenAPI` document, so that a
//! new route is part of it from its first day.

mod people;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use trapline_tests::{
    Answer, Deployment, Inbox, Mail, Relayed, Rest, deliver, eventually, shared, shared_relay,
};

static ADDRESSES: AtomicUsize = AtomicUsize::new(0);

/// A mock, a call of it, and what it told.
struct MockIds {
    id: String,
    call: String,
    delivery: String,
    object: String,
    /// What a dispute is about.
    charge: String,
}

/// What a team has, fresh for each route.
struct Fixture {
    project: String,
    inbox: Inbox,
    message: String,
    attachment: String,
    webhook: String,
    /// Another webhook, and its delivery of a test event.
    tested: (String, String),
    /// A forwarding address.
    address: String,
    /// A mock identity provider and a user of it, for the routes that name one.
    idp: Option<(String, String, String)>,
    mock: MockIds,
}

impl Fixture {
    /// For a route of this path: a team is sent few confirmation links, so an address of its own is
    /// only for routes that change one.
    async fn of(server: &Deployment, rest: &Rest, path: &str) -> Self {
        let project =
            rest.post("/api/projects", json!({ "name": "Ours" })).await.expect(201).json();
        let project = project["id"].as_str().unwrap().to_owned();
        let inbox = rest.inbox_with(json!({ "name": "Ours", "projectId": project })).await;
        let mail = Mail::new("ours", "").multipart(
            "mixed",
            &[
                "\nsecret",
                "Content-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\n1,2",
            ],
        );
        let message = deliver(server, &inbox, &mail).await;
        let attachments = rest.message(&message).await["attachments"].clone();
        let attachment = attachments[0]["id"].as_str().unwrap().to_owned();
        let webhook = Self::webhook(rest).await;
        let tested = Self::webhook(rest).await;
        let delivery = rest.post(&format!("/api/webhooks/{tested}/test"), Value::Null).await;
        let delivery = delivery.expect(200).json()["id"].as_str().unwrap().to_owned();
        let tested = (tested, delivery);
        // The one that the document's examples name.
        let mut address = Self::confirmed(rest, "ada@example.com").await;
        if path.starts_with("/api/forward-addresses/") {
            let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
            address = Self::confirmed(rest, &format!("ada{number}@example.com")).await;
        }
        let mut idp = None;
        if path.starts_with("/api/idps/") {
            idp = Some(Self::idp(rest).await);
        }
        let mock = Self::mock(rest).await;
        Self { project, inbox, message, attachment, webhook, tested, address, idp, mock }
    }

    /// A mock that was called once, and told of that.
    async fn mock(rest: &Rest) -> MockIds {
        let new = json!({
            "name": "Ours", "provider": "stripe", "webhookUrl": "http://hooks.invalid/",
        });
        let mock = rest.post("/api/mocks", new).await.expect(201).json();
        let secret = mock["credentials"]["secretKey"].as_str();
        let app = Rest::new(mock["baseUrl"].as_str().unwrap(), secret);
        Answer::to(app.request("POST", "/v1/customers")).await.expect(200);
        let open = app.request("POST", "/v1/checkout/sessions");
        let open = open.header("content-type", "application/x-www-form-urlencoded");
        let form = "mode=setup&success_url=https://app.example/done";
        let session = Answer::to(open.body(form)).await.expect(200).json();
        let pay = app.request("POST", "/v1/payment_intents");
        let pay = pay.header("content-type", "application/x-www-form-urlencoded");
        let form = "amount=100&currency=eur&confirm=true&payment_method=pm_card_visa";
        let paid = Answer::to(pay.body(form)).await.expect(200).json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let id = text(&mock["id"]);
        let calls = rest.get(&format!("/api/mocks/{id}/calls")).await.expect(200).json();
        let delivery = eventually("a delivery of a mock", async || {
            let sent = rest.get(&format!("/api/mocks/{id}/webhooks")).await.expect(200).json();
            sent[0]["id"].as_str().map(str::to_owned)
        });
        let delivery = delivery.await;
        MockIds {
            id,
            call: text(&calls["calls"][0]["id"]),
            delivery,
            object: text(&session["id"]),
            charge: text(&paid["latest_charge"]),
        }
    }

    /// A forwarding address whose owner agreed.
    async fn confirmed(rest: &Rest, email: &str) -> String {
        // Whoever comes too early for another link finds that there is one already.
        let added = rest.post("/api/forward-addresses", json!({ "email": email })).await;
        assert!([200, 201, 429].contains(&added.status), "{added}");
        eventually("a confirmed address", async || {
            for link in shared_relay().mails(email).iter().filter_map(Relayed::confirmation) {
                rest.post(&link, Value::Null).await;
            }
            let addresses = rest.get("/api/forward-addresses").await.expect(200).json();
            let mut addresses = addresses.as_array().unwrap().iter();
            let ours = addresses.find(|one| one["email"] == email)?;
            let confirmed = !ours["verifiedAt"].is_null();
            confirmed.then(|| ours["id"].as_str().unwrap().to_owned())
        })
        .await
    }

    async fn idp(rest: &Rest) -> (String, String, String) {
        let made = rest.post("/api/idps", json!({ "name": "Ours" })).await.expect(201).json();
        let id = made["id"].as_str().unwrap().to_owned();
        let user = json!({ "email": "ours@example.com", "name": "Ours" });
        let user = rest.post(&format!("/api/idps/{id}/users"), user).await.expect(201).json();
        let fault = json!({ "scenario": "expired" });
        let fault = rest.post(&format!("/api/idps/{id}/faults"), fault).await.expect(201).json();
        let text = |value: &Value| value["id"].as_str().unwrap().to_owned();
        (id, text(&user), text(&fault))
    }

    /// A webhook that leads nowhere.
    async fn webhook(rest: &Rest) -> String {
        let quiet = rest.inbox().await.id;
        let nowhere = json!({ "url": "http://hooks.invalid/", "inboxId": quiet });
        let webhook = rest.post("/api/webhooks", nowhere).await.expect(201).json();
        webhook["id"].as_str().unwrap().to_owned()
    }

    /// The path with the ids of this fixture in it.
    fn fill(&self, path: &str) -> String {
        let id = match path.split('/').nth(2) {
            Some("projects") => &self.project,
            Some("inboxes") => &self.inbox.id,
            Some("messages") => &self.message,
            Some("forward-addresses") => &self.address,
            Some("idps") => &self.idp.as_ref().unwrap().0,
            Some("mocks") => &self.mock.id,
            Some("webhooks") if path.contains("{deliveryId}") => &self.tested.0,
            Some("webhooks") => &self.webhook,
            other => panic!("{path}: give the walk an id for {other:?}"),
        };
        let filled = path.replace("{id}", id).replace("{attachmentId}", &self.attachment);
        let of_mock = path.starts_with("/api/mocks/");
        let delivery = if of_mock { &self.mock.delivery } else { &self.tested.1 };
        let filled = filled.replace("{deliveryId}", delivery).replace("{callId}", &self.mock.call);
        let filled = filled.replace("{objectId}", &self.mock.object);
        let (user, fault) = self.idp.as_ref().map_or(("", ""), |(_, user, fault)| (user, fault));
        let filled = filled.replace("{userId}", user).replace("{faultId}", fault);
        assert!(!filled.contains('{'), "{path}: give the walk a value for each parameter");
        filled
    }

    /// Everything of the team that could change.
    async fn state(&self, rest: &Rest) -> Vec<Value> {
        let message = rest.get(&format!("/api/messages/{}", self.message)).await;
        let inbox = rest.get(&self.inbox.path("")).await;
        let projects = rest.get("/api/projects").await.expect(200).json();
        let ours = projects.as_array().unwrap().iter().find(|p| p["id"] == self.project).cloned();
        let webhook = rest.get(&format!("/api/webhooks/{}", self.webhook)).await;
        let forwarding = rest.get(&self.inbox.path("/forwarding")).await;
        let addresses = rest.get("/api/forward-addresses").await.expect(200).json();
        let address = addresses.as_array().unwrap().iter().find(|one| one["id"] == self.address);
        let mut idp = Vec::new();
        if let Some((id, ..)) = &self.idp {
            for part in ["", "/users", "/faults"] {
                let shown = rest.get(&format!("/api/idps/{id}{part}")).await;
                idp.push(shown.expect(200).json());
            }
        }
        let mock = rest.get(&format!("/api/mocks/{}", self.mock.id)).await;
        vec![
            mock.json(),
            json!(idp),
            message.json(),
            inbox.json(),
            json!(ours),
            webhook.json(),
            forwarding.json(),
            json!(address),
        ]
    }
}

/// One operation of the document that asks who it is.
#[derive(Debug)]
struct Operation {
    method: String,
    path: String,
    /// What it takes, where its path has an id.
    body: Value,
    /// Whether no key gets in, only people who are signed in.
    for_people: bool,
}

impl Operation {
    fn has_id(&self) -> bool {
        self.path.contains('{')
    }
}

fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// A value that keeps to the schema: its example, or the least there is.
fn value_of(document: &Value, schema: &Value) -> Value {
    let schema = resolve(document, schema);
    let example = schema.get("example").or_else(|| schema["examples"].get(0));
    if let Some(example) = example.or_else(|| schema["enum"].get(0)) {
        return example.clone();
    }
    let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| &kinds[0]);
    match kind.as_str() {
        Some("boolean") => json!(true),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("string") => json!("text"),
        Some("object") => object_of(document, schema),
        Some("array") => json!([value_of(document, &schema["items"])]),
        _ => panic!("the walk has no value for {schema}"),
    }
}

/// The required members, or else the first one.
fn object_of(document: &Value, schema: &Value) -> Value {
    let members = schema["properties"].as_object().unwrap();
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    let names = members.keys().filter(|name| required.iter().any(|member| member == name));
    let mut names: Vec<_> = names.collect();
    if names.is_empty() {
        names.extend(members.keys().next());
    }
    let filled = names.into_iter().map(|name| (name.clone(), value_of(document, &members[name])));
    Value::Object(filled.collect::<Map<_, _>>())
}

async fn operations(rest: &Rest) -> Vec<Operation> {
    let document = &rest.get("/api/openapi.json").await.expect(200).json();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            let Some(operation) = item.get(method) else { continue };
            let security = &operation["security"];
            let for_people = *security == json!([{ "session": [] }]);
            let ways: Vec<_> = security.as_array().into_iter().flatten().collect();
            let takes_key = ways.iter().any(|way| way["apiKey"].is_array());
            if !for_people && !takes_key && !security.is_null() {
                continue;
            }
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let wanted = path.contains('{') && !schema.is_null();
            let body = if wanted { value_of(document, schema) } else { Value::Null };
            let (method, path) = (method.to_uppercase(), path.clone());
            found.push(Operation { method, path, body, for_people });
        }
    }
    found
}

/// Sends the operation. A wait is short; of an answer that goes on, only the head is looked at.
async fn send(rest: &Rest, operation: &Operation, fixture: &Fixture) -> u16 {
    let mut path = fixture.fill(&operation.path);
    if path.ends_with("/wait") {
        path.push_str("?timeout=1");
    }
    let request = rest.request(&operation.method, &path);
    let mut body = operation.body.clone();
    if path.ends_with("/trigger") {
        body["objectId"] = json!(fixture.mock.charge);
    }
    let request = if body.is_null() { request } else { request.json(&body) };
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn another_teams_ids_are_not_found_on_any_route() {
    let server = shared();
    let (ours, theirs) = (server.rest(), server.client(server.second_team().key()));
    let mut operations = operations(&ours).await;
    // People of other teams are a walk of their own.
    operations.retain(|operation| operation.has_id() && !operation.for_people);
    assert!(operations.len() >= 29, "{} operations have an id", operations.len());
    for operation in &operations {
        let fixture = Fixture::of(&server, &ours, &operation.path).await;
        let before = fixture.state(&ours).await;
        let status = send(&theirs, operation, &fixture).await;
        assert_eq!(status, 404, "{operation:?}");
        assert_eq!(fixture.state(&ours).await, before, "{operation:?}");
        // The request itself is a good one: its owner gets an answer.
        let status = send(&ours, operation, &fixture).await;
        assert!((200..300).contains(&status), "{operation:?} of the owner got {status}");
    }
}

#[tokio::test]
async fn another_teams_lists_show_nothing_of_ours() {
    let server = shared();
    let (ours, theirs) = (server.rest(), server.client(server.second_team().key()));
    Fixture::of(&server, &ours, "/api/idps/").await;
    for path in [
        "/api/projects",
        "/api/inboxes",
        "/api/webhooks",
        "/api/idps",
        "/api/forward-addresses",
        "/api/forwarding",
    ] {
        assert_eq!(theirs.get(path).await.expect(200).json(), json!([]), "{path}");
    }
    let own = theirs.inbox().await;
    let list = theirs.get("/api/inboxes").await.expect(200).json();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["id"]), (1, &json!(own.id)));
}

#[tokio::test]
async fn an_id_of_one_inbox_opens_nothing_in_another() {
    let server = shared();
    let (ours, theirs) = (server.rest(), server.client(server.second_team().key()));
    let fixture = Fixture::of(&server, &ours, "").await;
    let other = theirs.inbox().await;
    // A message id begins with its inbox's; one put together from both teams' ids names nothing.
    let forged = format!("{}{}", other.id, &fixture.message[26..]);
    for below in ["", "/raw", "/html", "/preview-url", "/attachments/1"] {
        let answer: Answer = theirs.get(&format!("/api/messages/{forged}{below}")).await;
        assert!(answer.status == 404, "{answer}");
    }
    // A stream that goes on after our message shows nothing of ours.
    let path = format!("{}?lastEventId={}", other.path("/events"), fixture.message);
    let mut events = theirs.events(&path, None).await;
    deliver(&server, &fixture.inbox, &Mail::new("ours again", "secret")).await;
    theirs.patch(&other.path(""), json!({ "name": "Theirs" })).await.expect(200);
    assert_eq!(events.next().await.name, "inbox.updated");
}
