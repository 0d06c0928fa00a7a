//! Every route of the document with every kind of caller, against a table of the right answers.

use serde_json::{Value, json};
use trapline_model::{Access, Role};

use crate::{
    Answer, Service,
    access::{Ids, Operation, fill, fill_with_idp, operations},
    minutes, request,
};

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    Everybody,
    /// Whoever has the operator's token.
    Operator,
    /// Keys, and people of the team.
    Readers,
    /// The same, but for keys that may only read.
    Writers,
    /// People who are signed in.
    People,
    Admins,
    Owners,
}

/// What is not for the callers of a team alone. Whatever else the document has is for readers where it is
/// a GET, and for writers.
const TABLE: &[(&str, For)] = &[
    ("GET /api/health", For::Everybody),
    ("GET /api/health/mail", For::Everybody),
    ("GET /api/openapi.json", For::Everybody),
    ("GET /api/smtp/ca.pem", For::Everybody),
    ("GET /api/status", For::Everybody),
    ("GET /api/metrics", For::Operator),
    ("GET /api/forward-addresses/confirm", For::Everybody),
    ("POST /api/forward-addresses/confirm", For::Everybody),
    ("GET /api/auth/options", For::Everybody),
    ("GET /api/auth/link", For::Everybody),
    ("POST /api/auth/link", For::Everybody),
    ("POST /api/auth/sign-in", For::Everybody),
    ("POST /api/auth/sign-out", For::Everybody),
    ("GET /api/auth/me", For::People),
    ("PATCH /api/auth/me", For::People),
    ("POST /api/auth/sign-up", For::Everybody),
    ("POST /api/auth/reset", For::Everybody),
    ("POST /api/auth/account", For::People),
    ("POST /api/auth/email", For::People),
    ("POST /api/auth/verify", For::People),
    ("POST /api/auth/password", For::People),
    ("GET /api/auth/sessions", For::People),
    ("DELETE /api/auth/sessions", For::People),
    ("DELETE /api/auth/sessions/{id}", For::People),
    ("POST /api/auth/team", For::People),
    ("GET /api/audit", For::Admins),
    ("GET /api/api-keys", For::Admins),
    ("POST /api/api-keys", For::Admins),
    ("DELETE /api/api-keys/{id}", For::Admins),
    ("GET /api/team/usage", For::Readers),
    ("GET /api/team", For::People),
    ("PATCH /api/team", For::Admins),
    ("DELETE /api/team", For::Owners),
    ("GET /api/team/members", For::People),
    ("PATCH /api/team/members/{id}", For::Admins),
    ("DELETE /api/team/members/{id}", For::Admins),
    ("POST /api/team/leave", For::People),
    ("POST /api/team/transfer", For::Owners),
    ("GET /api/team/invitations", For::Admins),
    ("POST /api/team/invitations", For::Admins),
    ("DELETE /api/team/invitations/{id}", For::Admins),
    ("GET /api/team/sso", For::Admins),
    ("PUT /api/team/sso", For::Owners),
    ("DELETE /api/team/sso", For::Owners),
];

fn who(operation: &Operation) -> For {
    let name = format!("{} {}", operation.method, operation.template);
    let listed = TABLE.iter().find(|(route, _)| *route == name);
    let otherwise = if operation.method == "GET" { For::Readers } else { For::Writers };
    listed.map_or(otherwise, |(_, who)| *who)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Nobody,
    ReadKey,
    WriteKey,
    ExpiredKey,
    RevokedKey,
    Member,
    Admin,
    Owner,
}

use Caller::{Admin, ExpiredKey, Member, Nobody, Owner, ReadKey, RevokedKey, WriteKey};

const CALLERS: [Caller; 8] =
    [Nobody, ReadKey, WriteKey, ExpiredKey, RevokedKey, Member, Admin, Owner];

/// How a caller is refused; `None` is not at all.
fn refusal(caller: Caller, who: For) -> Option<(u16, &'static str)> {
    match (who, caller) {
        (For::Operator, _) => Some((401, "invalid_metrics_token")),
        (For::Everybody, _) => None,
        (_, Nobody) => Some((401, "missing_api_key")),
        (_, ExpiredKey) => Some((401, "api_key_expired")),
        (_, RevokedKey) => Some((401, "unknown_api_key")),
        (For::Writers, ReadKey) => Some((403, "read_only_key")),
        (For::People | For::Admins | For::Owners, ReadKey | WriteKey) => {
            Some((403, "person_required"))
        }
        (For::Admins, Member) => Some((403, "admin_required")),
        (For::Owners, Member | Admin) => Some((403, "owner_required")),
        (For::Readers | For::Writers | For::People | For::Admins | For::Owners, _) => None,
    }
}

/// How each caller shows who it is.
struct Credentials(Vec<(Caller, &'static str, String)>);

impl Credentials {
    async fn of(service: &Service) -> Self {
        let read = service.new_key(service.team, Access::Read, None).await;
        let expires_at = Some(service.clock.now().after(minutes(1)));
        let expired = service.new_key(service.team, Access::Write, expires_at).await;
        let revoked = service.new_key(service.team, Access::Write, None).await;
        let by = trapline_model::Principal::system(service.team);
        let found = service.app.access().keys_named(&by, &revoked).await.unwrap();
        service.app.access().revoke_key(&by, found[0].id).await.unwrap();
        service.clock.advance(minutes(2));
        let key = |value: &str| format!("Bearer {value}");
        let mut all = vec![
            (ReadKey, "authorization", key(&read)),
            (WriteKey, "authorization", key(&service.key)),
            (ExpiredKey, "authorization", key(&expired)),
            (RevokedKey, "authorization", key(&revoked)),
        ];
        for (caller, role) in [(Member, Role::Member), (Admin, Role::Admin), (Owner, Role::Owner)] {
            let cookie =
                service.signed_in(&format!("{role:?}@example.com").to_lowercase(), role).await;
            all.push((caller, "cookie", cookie));
        }
        Self(all)
    }

    async fn ask(&self, service: &Service, caller: Caller, method: &str, path: &str) -> Answer {
        let mut request = request(None, method, path, &Value::Null);
        if let Some((_, field, value)) = self.0.iter().find(|(known, ..)| *known == caller) {
            request.headers_mut().insert(*field, value.parse().unwrap());
        }
        let (head, body) = service.send(request).await.into_parts();
        // A stream has no end.
        let read = !path.ends_with("/events") || head.status != 200;
        let body =
            if read { axum::body::to_bytes(body, 1 << 24).await.unwrap() } else { <_>::default() };
        Answer { status: head.status.as_u16(), headers: head.headers, body: body.to_vec() }
    }
}

/// What changes nothing goes first: a wait is answered by the message that is there.
fn in_order(ids: &Ids) -> Vec<Operation> {
    let mut operations = operations(ids);
    operations.sort_by_key(|operation| (operation.method != "GET", operation.path.clone()));
    operations
}

#[tokio::test]
async fn every_route_answers_every_caller_as_the_table_says() {
    let service = Service::start().await;
    let ids = fill_with_idp(&service).await;
    let callers = Credentials::of(&service).await;
    let operations = in_order(&ids);
    for (route, _) in TABLE.iter().filter(|(route, _)| *route != "GET /api/status") {
        let known = |it: &Operation| format!("{} {}", it.method, it.template) == *route;
        assert!(operations.iter().any(known), "{route} is not in the document");
    }
    for operation in &operations {
        let who = who(operation);
        for caller in CALLERS {
            let wanted = refusal(caller, who);
            // It would end the session of the caller, or the caller's being in the team.
            let ends = ["/api/auth/sign-out", "/api/team/leave"];
            if wanted.is_none() && ends.contains(&operation.template.as_str()) {
                continue;
            }
            let (method, path) = (operation.method.as_str(), operation.path.as_str());
            let answer = callers.ask(&service, caller, method, path).await;
            if let Some((status, code)) = wanted {
                let found = answer.code();
                assert_eq!(found, (status, code.to_owned()), "{method} {path} of {caller:?}");
                continue;
            }
            let is_refused = matches!(answer.status, 401 | 403);
            let is_fault = answer.status >= 500 && answer.status != 503;
            assert!(!is_refused && !is_fault, "{method} {path} of {caller:?}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn nobody_of_another_team_finds_what_is_ours() {
    let service = Service::start().await;
    let ids = fill(&service).await;
    let foreign = service.app.access().create_team("Other").await.unwrap();
    let key = format!("Bearer {}", service.new_key(foreign, Access::Write, None).await);
    let cookie = service.signed_in_to(foreign, "other@example.com", Role::Owner).await;
    for operation in in_order(&ids) {
        let taken = operation.takes_body() || !operation.template.contains('{');
        if taken || who(&operation) == For::Everybody {
            continue;
        }
        for (field, value) in [("authorization", &key), ("cookie", &cookie)] {
            let mut request = request(None, &operation.method, &operation.path, &Value::Null);
            request.headers_mut().insert(field, value.parse().unwrap());
            let answer = service.ask(request).await;
            let for_people = matches!(who(&operation), For::People | For::Admins | For::Owners);
            let wanted = if for_people && field == "authorization" {
                (403, "person_required".to_owned())
            } else {
                (404, "not_found".to_owned())
            };
            assert_eq!(answer.code(), wanted, "{} {} by {field}", operation.method, operation.path);
        }
    }
}

impl Service {
    /// The id of one more key.
    pub(crate) async fn another_key(&self) -> String {
        let value = self.new_key(self.team, Access::Read, None).await;
        let by = trapline_model::Principal::system(self.team);
        let found = self.app.access().keys_named(&by, &value).await.unwrap();
        found[0].id.to_string()
    }
}

#[tokio::test]
async fn a_key_lives_and_goes() {
    let service = Service::start().await;
    let cookie = service.signed_in("ada@example.com", Role::Admin).await;
    let ask = async |method: &str, path: &str, body: Value| {
        let mut request = request(None, method, path, &body);
        request.headers_mut().insert("cookie", cookie.parse().unwrap());
        service.ask(request).await
    };
    let wanted = json!({ "name": " CI ", "access": "read", "expiresInDays": 30 });
    let made = ask("POST", "/api/api-keys", wanted).await;
    assert_eq!(made.status, 201, "{made:?}");
    let mut made = made.json();
    let value = made["key"].as_str().unwrap().to_owned();
    assert!(value.starts_with(made["prefix"].as_str().unwrap()), "{made}");
    assert_eq!((&made["name"], &made["access"]), (&json!("CI"), &json!("read")));
    assert_eq!(made["createdBy"]["name"], "ada@example.com");
    let end = service.clock.now().after(minutes(30 * 24 * 60));
    assert_eq!(made["expiresAt"], json!(end));
    assert_eq!(service.with_key(&value, "GET", "/api/inboxes", &Value::Null).await.status, 200);

    let listed = ask("GET", "/api/api-keys", Value::Null).await.json();
    assert_eq!(listed[0]["lastUsedAt"], json!(service.clock.now()));
    assert!(!listed.to_string().contains(&value[8..]), "{listed}");
    made.as_object_mut().unwrap().remove("key");
    made["lastUsedAt"] = listed[0]["lastUsedAt"].clone();
    assert_eq!(listed[0], made);
    for days in [0, 3651] {
        let body = json!({ "name": "CI", "expiresInDays": days });
        assert_eq!(ask("POST", "/api/api-keys", body).await.status, 400, "{days}");
    }
    let path = format!("/api/api-keys/{}", made["id"].as_str().unwrap());
    assert_eq!(ask("DELETE", &path, Value::Null).await.status, 204);
    assert_eq!(ask("DELETE", &path, Value::Null).await.status, 404);
    let answer = service.with_key(&value, "GET", "/api/inboxes", &Value::Null).await;
    assert_eq!(answer.code(), (401, "unknown_api_key".to_owned()));

    let told = ask("GET", "/api/audit", Value::Null).await.json();
    assert_eq!(told[0]["action"], "api_key.revoked");
    assert_eq!(told[1]["action"], "api_key.created");
    assert_eq!(
        (&told[0]["actor"]["type"], &told[0]["target"]["type"]),
        (&json!("user"), &json!("api_key"))
    );
    assert_eq!(
        (&told[0]["actor"]["name"], &told[0]["target"]["name"]),
        (&json!("ada@example.com"), &json!("CI"))
    );
}

impl Service {
    /// The id of an open invitation of an address, by somebody who is an admin.
    pub(crate) async fn invitation(&self, email: &str) -> String {
        let by = self.member(self.team, "inviter@example.com", Role::Admin).await;
        let by = trapline_model::Principal::of_person(self.team, by, Role::Admin);
        let made = self.app.teams().invite(&by, email, Role::Member).await.unwrap();
        // Tests look at the mails of other things.
        self.mailed(Ok(())).await;
        made.id.to_string()
    }
}
