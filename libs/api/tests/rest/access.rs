//! Keys: none, wrong, expired, read-only, another team's.

use serde_json::{Value, json};
use trapline_api::Client;
use trapline_app::{NewKey, Rate, Settings};
use trapline_model::{Access, Principal, Role};

use crate::{Service, minutes, request};

/// Has the form of a message's id, and names none.
const SOME_MESSAGE: &str = "06e1uejr5hv437857tl1n31d9o0po7pr1aa7obcf2tf2n6jd7i0g";

/// Has the form of a provider's id, and names none.
const NO_IDP: &str = "06e1uejr5hv437857tl1n31d98";

/// One of each thing that paths name.
pub(crate) struct Ids {
    pub inbox: String,
    pub message: String,
    part: String,
    project: String,
    pub webhook: String,
    delivery: String,
    pub idp: String,
    pub idp_user: String,
    mock: String,
    mock_call: String,
    mock_delivery: String,
    mock_object: String,
    pub mock_charge: String,
    pub idp_fault: String,
    address: String,
    key: String,
    pub member: String,
    invitation: String,
}

/// One operation of the document, with ids in its path.
#[derive(Debug)]
pub(crate) struct Operation {
    pub method: String,
    pub path: String,
    /// The path as the document has it.
    pub template: String,
    described: Value,
}

impl Operation {
    fn takes_key(&self) -> bool {
        match self.described.get("security") {
            None => true,
            Some(ways) => ways.as_array().unwrap().iter().any(|way| way["apiKey"].is_array()),
        }
    }

    /// Whether it is only for people who are signed in.
    pub(crate) fn is_for_people(&self) -> bool {
        self.described["security"] == json!([{ "session": [] }])
    }

    pub(crate) fn takes_body(&self) -> bool {
        self.described["requestBody"].is_object()
    }

    /// The names of its query parameters.
    pub(crate) fn parameters(&self) -> Vec<String> {
        let all = self.described["parameters"].as_array().into_iter().flatten();
        let of_query = all.filter(|parameter| parameter["in"] == "query");
        of_query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Every operation, from the document itself, with ids filled in.
pub(crate) fn operations(ids: &Ids) -> Vec<Operation> {
    let document = serde_json::to_value(trapline_api::openapi()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let id = match path.split('/').nth(2) {
            Some("inboxes") => &ids.inbox,
            Some("messages") => &ids.message,
            Some("webhooks") => &ids.webhook,
            Some("idps") => &ids.idp,
            Some("mocks") => &ids.mock,
            Some("forward-addresses") => &ids.address,
            Some("api-keys") => &ids.key,
            Some("team") if path.contains("invitations") => &ids.invitation,
            Some("team") => &ids.member,
            _ => &ids.project,
        };
        for (method, described) in item.as_object().unwrap() {
            let template = path.clone();
            let path = path.replace("{id}", id).replace("{attachmentId}", &ids.part);
            let of_mock = template.starts_with("/api/mocks/");
            let delivery = if of_mock { &ids.mock_delivery } else { &ids.delivery };
            let path = path.replace("{deliveryId}", delivery).replace("{callId}", &ids.mock_call);
            let path = path.replace("{objectId}", &ids.mock_object);
            let path = path.replace("{userId}", &ids.idp_user);
            let path = path.replace("{faultId}", &ids.idp_fault);
            let (method, described) = (method.to_uppercase(), described.clone());
            operations.push(Operation { method, path, template, described });
        }
    }
    assert!(operations.len() > 40, "{operations:?}");
    operations
}

/// A team that has one of each.
pub(crate) async fn fill(service: &Service) -> Ids {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let invitation = service.invitation("bob@example.com").await;
    service.single_sign_on().await;
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await;
    let project = service.post("/api/projects", json!({ "name": "Project" })).await.json();
    let (webhook, delivery) = service.webhook_with_delivery().await;
    service.reach_all();
    let called = service.mock_with_delivery().await;
    Ids {
        inbox,
        message: text(&message["id"]),
        part: text(&message["attachments"][0]["id"]),
        project: text(&project["id"]),
        webhook: text(&webhook["id"]),
        delivery: text(&delivery["id"]),
        idp: NO_IDP.to_owned(),
        idp_user: NO_IDP.to_owned(),
        mock: called.mock,
        mock_call: called.call,
        mock_delivery: called.delivery,
        mock_object: called.session,
        mock_charge: called.charge,
        idp_fault: NO_IDP.to_owned(),
        address: service.forward_address("ada@example.com").await,
        key: service.another_key().await,
        member: service.member(service.team, "grace@example.com", Role::Member).await.to_string(),
        invitation,
    }
}

/// The same, with a mock identity provider and a user of it. Its key takes a second to be made.
pub(crate) async fn fill_with_idp(service: &Service) -> Ids {
    let ids = fill(service).await;
    let idp = service.post("/api/idps", json!({ "name": "Provider" })).await.json();
    let idp = idp["id"].as_str().unwrap().to_owned();
    let user = json!({ "email": "ada@example.com", "name": "Ada" });
    let user = service.post(&format!("/api/idps/{idp}/users"), user).await.json();
    let fault = json!({ "scenario": "expired" });
    let fault = service.post(&format!("/api/idps/{idp}/faults"), fault).await.json();
    let text = |value: &Value| value["id"].as_str().unwrap().to_owned();
    Ids { idp, idp_user: text(&user), idp_fault: text(&fault), ..ids }
}

/// Method and path of every operation that takes a key.
async fn keyed(service: &Service) -> Vec<(String, String)> {
    let ids = fill_with_idp(service).await;
    let keyed = operations(&ids).into_iter().filter(Operation::takes_key);
    keyed.map(|operation| (operation.method, operation.path)).collect()
}

/// A body that is right for every operation would be wrong for most; without one a 415 is next.
#[tokio::test]
async fn every_operation_needs_a_key_that_works() {
    let service = Service::start().await;
    let expires_at = Some(service.clock.now().after(minutes(1)));
    let expired = service.new_key(service.team, Access::Write, expires_at).await;
    service.clock.advance(minutes(2));
    let keys = [
        (None, "missing_api_key"),
        (Some("tl_unknown"), "unknown_api_key"),
        (Some("other"), "unknown_api_key"),
        (Some(expired.as_str()), "api_key_expired"),
    ];
    let operations = keyed(&service).await;
    for (method, path) in operations {
        for (key, code) in &keys {
            let answer = service.ask(request(*key, &method, &path, &Value::Null)).await;
            assert_eq!(answer.code(), (401, (*code).to_owned()), "{method} {path}");
            assert!(answer.header("www-authenticate").starts_with("Bearer"), "{method} {path}");
        }
    }
}

/// Text that has the form of an id and names nothing is 404, or 400 where something else is wrong
/// too, whatever its bits are.
#[tokio::test]
async fn ids_of_any_bits_name_nothing() {
    let service = Service::start().await;
    let known = fill(&service).await;
    let least = "0".repeat(26);
    let greatest = format!("{}s", "v".repeat(25));
    let random = "h0o326f0nrb3qbohn8hk5fmfmg";
    for id in [least, greatest, random.to_owned()] {
        let of_no_inbox = format!("{id}{}0", &id[..25]);
        let of_known = format!("{}{}0", &known.message[..26], &id[..25]);
        for message in [of_no_inbox, of_known] {
            let ids = Ids {
                inbox: id.clone(),
                message,
                part: known.part.clone(),
                project: id.clone(),
                webhook: id.clone(),
                delivery: id.clone(),
                idp: id.clone(),
                idp_user: id.clone(),
                mock: id.clone(),
                mock_call: id.clone(),
                mock_delivery: id.clone(),
                mock_object: id.clone(),
                mock_charge: id.clone(),
                idp_fault: id.clone(),
                address: id.clone(),
                key: id.clone(),
                member: id.clone(),
                invitation: id.clone(),
            };
            for operation in operations(&ids) {
                let is_for_people = operation.is_for_people();
                let Operation { method, path, .. } = operation;
                if !path.contains(&id) && !path.contains(&ids.message) {
                    continue;
                }
                let answer = service.ask(request(None, &method, &path, &json!({}))).await;
                assert!((400..500).contains(&answer.status), "{method} {path}");
                // No key gets as far as that.
                if is_for_people {
                    continue;
                }
                let answer = service.with_key(&service.key, &method, &path, &json!({})).await;
                assert!([400, 404].contains(&answer.status), "{method} {path}: {}", answer.status);
            }
        }
    }
}

#[tokio::test]
async fn a_read_key_reads_and_nothing_else() {
    let service = Service::start().await;
    let key = service.new_key(service.team, Access::Read, None).await;
    for (method, path) in keyed(&service).await {
        if method != "GET" {
            for path in [path.clone(), path.replace('0', "z")] {
                let answer = service.with_key(&key, &method, &path, &json!({ "bad": 1 })).await;
                assert_eq!(answer.code(), (403, "read_only_key".to_owned()), "{method} {path}");
            }
        } else if !path.ends_with("/events") {
            let answer = service.send(request(Some(&key), "GET", &path, &Value::Null)).await;
            assert_eq!(answer.status(), 200, "{method} {path}");
        }
    }
}

/// Whoever has an inbox's password may write mail into it.
#[tokio::test]
async fn a_read_key_sees_no_password() {
    let service = Service::start().await;
    let inbox = format!("/api/inboxes/{}", service.inbox().await);
    let reader = service.new_key(service.team, Access::Read, None).await;
    for (key, shown) in [(&service.key, true), (&reader, false)] {
        let read = async |path: &str| service.with_key(key, "GET", path, &Value::Null).await.json();
        let one = read(&inbox).await;
        let smtp = one["smtp"].as_object().unwrap();
        assert_eq!(smtp.contains_key("password"), shown, "{one}");
        assert!(smtp["username"].is_string());
        assert_eq!(read("/api/inboxes").await, json!([one]));
    }
}

#[tokio::test]
async fn what_is_another_teams_is_not_there() {
    let service = Service::start().await;
    let foreign = service.app.access().create_team("Other").await.unwrap();
    let key = service.new_key(foreign, Access::Write, None).await;
    for (method, path) in keyed(&service).await {
        if path.matches('/').count() == 2
            || ["/api/team/usage", "/api/mocks/providers"].contains(&path.as_str())
        {
            continue;
        }
        let body = match (method.as_str(), path.as_str()) {
            ("PATCH", path) if path.starts_with("/api/messages") => json!({ "isRead": true }),
            ("PATCH", path) if path.starts_with("/api/webhooks") => json!({ "enabled": false }),
            ("PATCH", path) if !path.ends_with("/messages") => json!({ "name": "Mine now" }),
            ("PUT", path) if path.ends_with("/dns-zone") => json!({ "records": [] }),
            ("PUT", _) => json!({ "enabled": false, "to": [] }),
            ("POST", path) if path.ends_with("/messages/delete") => {
                json!({ "ids": [SOME_MESSAGE] })
            }
            ("POST", path) if path.ends_with("/messages/read") => {
                json!({ "ids": [SOME_MESSAGE], "isRead": true })
            }
            ("POST", path) if path.starts_with("/api/idps") && path.ends_with("/rotate") => {
                json!({ "what": "keys" })
            }
            ("POST", path) if path.ends_with("/faults") => json!({ "scenario": "expired" }),
            ("POST", path) if path.ends_with("/users") => {
                json!({ "email": "eve@example.com", "name": "Eve" })
            }
            ("POST", path) if path.ends_with("/link-check") || path.ends_with("/move") => {
                json!({})
            }
            ("POST", path) if path.ends_with("/trigger") => {
                json!({ "event": "charge.dispute.created" })
            }
            ("POST", path) if path.ends_with("/rotate") => json!({ "credential": "all" }),
            ("POST", path) if path.ends_with("/forward") => json!({ "to": ["ada@example.com"] }),
            _ => Value::Null,
        };
        let answer = service.with_key(&key, &method, &path, &body).await;
        assert_eq!(answer.code(), (404, "not_found".to_owned()), "{method} {path}");
    }
}

#[tokio::test]
async fn an_allowance_is_shown_and_ends() {
    let rate = Rate { burst: 2, per: minutes(1) };
    let service = Service::limited(Some(rate)).await;
    let answers = [(200, "\"api\";r=1;t=30"), (404, "\"api\";r=0;t=60"), (429, "\"api\";r=0;t=30")];
    for (number, (status, state)) in answers.into_iter().enumerate() {
        let path = if number == 1 { "/api/inboxes/none" } else { "/api/inboxes" };
        let answer = service.get(path).await;
        assert_eq!((answer.status, answer.header("ratelimit")), (status, state));
        assert_eq!(answer.header("ratelimit-policy"), "\"api\";q=2;w=60");
        assert_eq!(answer.header("retry-after"), if status == 429 { "30" } else { "" });
    }
    // Whoever is not known takes from nobody's allowance.
    let answer = service.with_key("tl_unknown", "GET", "/api/inboxes", &Value::Null).await;
    assert_eq!((answer.status, answer.header("ratelimit")), (401, ""));
    service.clock.advance(minutes(1));
    assert_eq!(service.get("/api/inboxes").await.status, 200);
}

#[tokio::test]
async fn an_address_of_which_nobody_is_known_has_an_allowance_of_its_own() {
    let rate = |burst| Some(Rate { burst, per: minutes(1) });
    let settings = Settings { api_rate: rate(10), address_rate: rate(2), ..crate::settings(None) };
    let service = Service::with(settings).await;
    let ask = async |key: Option<&str>, from: u8| {
        let mut request = request(key, "GET", "/api/inboxes", &Value::Null);
        let (address, share) = ([127, 0, 0, from].into(), service.app.body_memory().share());
        request.extensions_mut().insert(Client { address, share });
        let answer = service.ask(request).await;
        assert!(!answer.header("ratelimit-policy").is_empty(), "on every answer");
        (answer.status, answer.header("ratelimit").to_owned())
    };
    assert_eq!(ask(None, 1).await, (401, "\"api\";r=1;t=30".to_owned()));
    assert_eq!(ask(Some("tl_unknown"), 1).await, (401, "\"api\";r=0;t=60".to_owned()));
    assert_eq!(ask(None, 1).await, (429, "\"api\";r=0;t=30".to_owned()));
    assert_eq!(ask(Some(&service.key), 1).await.0, 200, "whoever is known has the team's");
    assert_eq!(ask(None, 2).await.0, 401, "another address");
    service.clock.advance(minutes(1));
    assert_eq!(ask(None, 1).await.0, 401);
    // One that guesses keys is put off before, and told so in the same way.
    for number in 0..60 {
        ask(Some(&format!("tl_guess{number}")), 3).await;
    }
    assert_eq!(ask(Some("tl_more"), 3).await.0, 429);
}

#[tokio::test]
async fn ways_in_and_public_routes_take_from_the_allowance_of_their_address() {
    let rate = Some(Rate { burst: 5, per: minutes(1) });
    let settings = Settings { address_rate: rate, ..crate::settings(None) };
    let service = Service::with(settings).await;
    let ask = async |method: &str, path: &str| {
        let mut request = request(None, method, path, &Value::Null);
        let (address, share) = ([127, 0, 0, 1].into(), service.app.body_memory().share());
        request.extensions_mut().insert(Client { address, share });
        let answer = service.ask(request).await;
        let left = answer.header("ratelimit").split(';').nth(1).unwrap_or_default().to_owned();
        (answer.status, left)
    };
    let asked = [
        ("GET", "/api/auth/options", 200, "r=4"),
        ("POST", "/api/auth/sign-in", 415, "r=3"),
        ("GET", "/api/status", 200, "r=2"),
        ("GET", "/api/openapi.json", 200, "r=1"),
        ("GET", "/api/smtp/ca.pem", 404, "r=0"),
        ("GET", "/api/status", 429, "r=0"),
        ("GET", "/api/auth/options", 429, "r=0"),
    ];
    for (method, path, status, left) in asked {
        assert_eq!(ask(method, path).await, (status, left.to_owned()), "{method} {path}");
    }
    // A probe of the operator's is answered whatever others asked.
    assert_eq!(ask("GET", "/api/health").await, (200, String::new()));
    assert_eq!(ask("GET", "/api/metrics").await, (401, String::new()));
}

#[tokio::test]
async fn a_key_has_a_part_of_the_teams_allowance() {
    let rate = |burst| Some(Rate { burst, per: minutes(1) });
    let settings = Settings { api_rate: rate(5), key_rate: rate(2), ..crate::settings(None) };
    let service = Service::with(settings).await;
    let other = service.new_key(service.team, Access::Read, None).await;
    let ask = async |key: &str| {
        let answer = service.with_key(key, "GET", "/api/inboxes", &Value::Null).await;
        (answer.status, answer.header("ratelimit-policy").to_owned())
    };
    let (of_key, of_team) = ("\"api\";q=2;w=60".to_owned(), "\"api\";q=5;w=60".to_owned());
    for status in [200, 200, 429, 429] {
        assert_eq!(ask(&service.key).await, (status, of_key.clone()), "what is used up first");
    }
    assert_eq!(ask(&other).await, (200, of_key.clone()), "what was refused is not the team's");
    assert_eq!(ask(&other).await, (200, of_key));
    let third = service.new_key(service.team, Access::Read, None).await;
    assert_eq!(ask(&third).await, (200, of_team.clone()));
    assert_eq!(ask(&third).await, (429, of_team));
}

#[tokio::test]
async fn an_address_that_guesses_is_put_off_and_whoever_is_known_is_not() {
    let service = Service::start().await;
    let ask = async |key: &str, path: &str, from: u8| {
        let mut request = request(Some(key), "GET", path, &Value::Null);
        let (address, share) = ([127, 0, 0, from].into(), service.app.body_memory().share());
        request.extensions_mut().insert(Client { address, share });
        service.ask(request).await
    };
    let inboxes = "/api/inboxes";
    assert_eq!(ask(&service.key, inboxes, 1).await.status, 200);
    for number in 0..25 {
        let answer = ask(&format!("tl_guess{number}"), inboxes, 1).await;
        assert_eq!(answer.code(), (401, "unknown_api_key".to_owned()));
        let answer = ask(&format!("guess{number}"), "/api/metrics", 1).await;
        assert_eq!(answer.code(), (401, "invalid_metrics_token".to_owned()));
    }
    for (key, path) in [("tl_more", inboxes), ("tl_guess1", inboxes), ("secret", "/api/metrics")] {
        let answer = ask(key, path, 1).await;
        assert_eq!(answer.code(), (429, "rate_limited".to_owned()), "{key}");
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert_eq!(ask(&service.key, inboxes, 1).await.status, 200, "a key that is known");
    assert_eq!(ask("tl_more", inboxes, 2).await.status, 401, "another address");
    assert_eq!(ask("secret", "/api/metrics", 2).await.status, 200);
    service.clock.advance(minutes(1));
    assert_eq!(ask("secret", "/api/metrics", 1).await.status, 200);
    assert_eq!(ask("tl_more", inboxes, 1).await.status, 401);
}

#[tokio::test]
async fn a_key_works_although_it_was_tried_before_it_was_made() {
    let service = Service::start().await;
    let value = "tl_01234567890123456789";
    let ask = async || service.with_key(value, "GET", "/api/inboxes", &Value::Null).await.status;
    assert_eq!(ask().await, 401);
    let (name, value) = ("Key".to_owned(), Some(value.to_owned()));
    let new = NewKey { name, access: Access::Read, expires_at: None, value };
    service.app.access().create_key(&Principal::system(service.team), new).await.unwrap();
    assert_eq!(ask().await, 200);
}

#[tokio::test]
async fn a_signed_url_shows_one_message_for_a_while() {
    let service = Service::start().await;
    let message = service.message(&service.inbox().await).await;
    let id = message["id"].as_str().unwrap();
    let preview = service.get(&format!("/api/messages/{id}/preview-url")).await.json();
    let url = preview["url"].as_str().unwrap().strip_prefix("http://trapline.test").unwrap();
    let show = async |path: &str| service.ask(request(None, "GET", path, &Value::Null)).await;

    let page = show(url).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "private, no-store");
    assert!(page.header("content-security-policy").contains("frame-ancestors *"));
    let html = String::from_utf8(page.body.clone()).unwrap();
    let image = html.split('"').find(|part| part.starts_with("attachments/")).unwrap();
    let image = format!("/api/messages/{id}/{}", image.replace("&amp;", "&"));
    let image = show(&image).await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
    assert_eq!(image.header("cross-origin-resource-policy"), "cross-origin");

    let (path, query) = url.split_once('?').unwrap();
    let (exp, sig) = query.split_once('&').unwrap();
    let wrong = [
        (format!("{path}?{exp}&sig=00"), 403),
        (format!("{path}?exp=1&{sig}"), 403),
        (format!("{path}?{exp}"), 403),
        (format!("{path}?{sig}"), 403),
        (format!("{path}?exp=x&{sig}"), 400),
        (format!("{path}?{query}&more=1"), 400),
        (path.to_owned(), 401),
        (url.replace("/html", "/raw"), 401),
        (url.replace("/html", "/attachments/1"), 403),
    ];
    for (path, status) in wrong {
        assert_eq!(show(&path).await.status, status, "{path}");
    }
    service.clock.advance(minutes(15));
    assert_eq!(show(url).await.code(), (403, "bad_signature".to_owned()));
}
