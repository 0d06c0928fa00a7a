//! Every route that changes something has its entry in the audit log.

use serde_json::{Value, json};
use trapline_api::Client;
use trapline_model::{Principal, Role};

use crate::{
    Service,
    access::{Ids, Operation, fill, fill_with_idp, operations},
    request,
    sso::ISSUER,
};

/// What each changing route of the document is told as; `None` is no change of what is a team's, for
/// the reason that ADR 15 has.
const TOLD: [(&str, Option<&str>); 72] = [
    ("POST /api/projects", Some("project.created")),
    ("PATCH /api/projects/{id}", Some("project.renamed")),
    ("DELETE /api/projects/{id}", Some("project.deleted")),
    ("POST /api/inboxes", Some("inbox.created")),
    ("PATCH /api/inboxes/{id}", Some("inbox.updated")),
    ("DELETE /api/inboxes/{id}", Some("inbox.deleted")),
    ("POST /api/inboxes/{id}/credentials", Some("inbox.credentials_rotated")),
    ("POST /api/inboxes/{id}/test-message", None),
    ("PUT /api/inboxes/{id}/forwarding", Some("forwarding.updated")),
    ("PUT /api/inboxes/{id}/dns-zone", Some("dns_zone.updated")),
    ("DELETE /api/inboxes/{id}/dns-zone", Some("dns_zone.updated")),
    ("PATCH /api/inboxes/{id}/messages", None),
    ("DELETE /api/inboxes/{id}/messages", Some("inbox.emptied")),
    ("POST /api/inboxes/{id}/messages/delete", Some("inbox.messages_deleted")),
    ("POST /api/inboxes/{id}/messages/read", None),
    ("PATCH /api/messages/{id}", None),
    ("DELETE /api/messages/{id}", Some("message.deleted")),
    ("POST /api/messages/{id}/forward", Some("message.forwarded")),
    ("POST /api/messages/{id}/link-check", None),
    ("POST /api/messages/{id}/unsubscribe", None),
    ("POST /api/webhooks", Some("webhook.created")),
    ("PATCH /api/webhooks/{id}", Some("webhook.updated")),
    ("DELETE /api/webhooks/{id}", Some("webhook.deleted")),
    ("POST /api/webhooks/{id}/test", None),
    ("POST /api/webhooks/{id}/deliveries/{deliveryId}", None),
    ("POST /api/idps", Some("idp.created")),
    ("PATCH /api/idps/{id}", Some("idp.updated")),
    ("DELETE /api/idps/{id}", Some("idp.deleted")),
    ("POST /api/idps/{id}/rotate", Some("idp.secret_rotated")),
    ("POST /api/idps/{id}/users", Some("idp_user.created")),
    ("PATCH /api/idps/{id}/users/{userId}", Some("idp_user.updated")),
    ("DELETE /api/idps/{id}/users/{userId}", Some("idp_user.deleted")),
    ("DELETE /api/idps/{id}/events", Some("idp.events_cleared")),
    ("POST /api/mocks", Some("mock.created")),
    ("PATCH /api/mocks/{id}", Some("mock.updated")),
    ("DELETE /api/mocks/{id}", Some("mock.deleted")),
    ("POST /api/mocks/{id}/rotate", Some("mock.credentials_rotated")),
    ("DELETE /api/mocks/{id}/calls", Some("mock.cleared")),
    ("POST /api/mocks/{id}/webhooks/{deliveryId}/replay", None),
    ("POST /api/mocks/{id}/objects/{objectId}/move", None),
    ("POST /api/mocks/{id}/trigger", None),
    ("POST /api/idps/{id}/faults", Some("idp.faults_changed")),
    ("DELETE /api/idps/{id}/faults", Some("idp.faults_changed")),
    ("DELETE /api/idps/{id}/faults/{faultId}", Some("idp.faults_changed")),
    ("POST /api/api-keys", Some("api_key.created")),
    ("DELETE /api/api-keys/{id}", Some("api_key.revoked")),
    ("PATCH /api/team", Some("team.renamed")),
    ("DELETE /api/team", Some("team.deleted")),
    ("PATCH /api/team/members/{id}", Some("member.role_changed")),
    ("DELETE /api/team/members/{id}", Some("member.removed")),
    ("POST /api/team/leave", Some("member.left")),
    ("POST /api/team/transfer", Some("team.transferred")),
    ("POST /api/team/invitations", Some("invitation.created")),
    ("DELETE /api/team/invitations/{id}", Some("invitation.deleted")),
    ("PUT /api/team/sso", Some("sso.updated")),
    ("DELETE /api/team/sso", Some("sso.deleted")),
    ("PATCH /api/auth/me", Some("member.renamed")),
    // A person's own account and sessions.
    ("POST /api/auth/sign-up", None),
    ("POST /api/auth/reset", None),
    ("POST /api/auth/account", None),
    ("POST /api/auth/email", None),
    ("POST /api/auth/verify", None),
    ("POST /api/auth/password", None),
    ("DELETE /api/auth/sessions", None),
    ("DELETE /api/auth/sessions/{id}", None),
    ("POST /api/auth/team", None),
    ("POST /api/auth/sign-in", None),
    ("POST /api/auth/sign-out", None),
    ("POST /api/auth/link", None),
    ("POST /api/forward-addresses", Some("forward_address.added")),
    ("DELETE /api/forward-addresses/{id}", Some("forward_address.deleted")),
    ("POST /api/forward-addresses/confirm", Some("forward_address.verified")),
];

fn body(operation: &Operation, ids: &Ids) -> Value {
    match (operation.method.as_str(), operation.template.as_str()) {
        (_, path) if path.contains("projects") => json!({ "name": "New" }),
        ("POST", "/api/inboxes" | "/api/api-keys") | ("PATCH", "/api/inboxes/{id}") => {
            json!({ "name": "New" })
        }
        ("PUT", "/api/team/sso") => json!({
            "issuer": ISSUER, "clientId": "b", "clientSecret": "c", "domains": ["example.com"]
        }),
        ("PUT", "/api/inboxes/{id}/dns-zone") => json!({ "records": [] }),
        ("PUT", _) => json!({ "enabled": false, "to": [] }),
        ("PATCH", "/api/inboxes/{id}/messages" | "/api/messages/{id}") => json!({ "isRead": true }),
        (_, "/api/messages/{id}/forward") => json!({ "to": ["ada@example.com"] }),
        ("POST", "/api/inboxes/{id}/messages/delete") => json!({ "ids": [ids.message] }),
        ("POST", "/api/inboxes/{id}/messages/read") => {
            json!({ "ids": [ids.message], "isRead": true })
        }
        ("POST", "/api/webhooks") => json!({ "url": "https://other.example/" }),
        ("POST", "/api/mocks") => json!({ "name": "New", "provider": "stripe" }),
        ("PATCH", "/api/mocks/{id}") => json!({ "settings": { "seed": 1 } }),
        ("POST", "/api/mocks/{id}/objects/{objectId}/move" | "/api/messages/{id}/link-check") => {
            json!({})
        }
        ("POST", "/api/mocks/{id}/trigger") => {
            json!({ "event": "charge.dispute.created", "objectId": ids.mock_charge })
        }
        ("POST", "/api/mocks/{id}/rotate") => json!({ "credential": "all" }),
        ("PATCH", "/api/webhooks/{id}") => json!({ "enabled": false }),
        ("POST", "/api/idps/{id}/rotate") => json!({ "what": "secret" }),
        ("POST", "/api/idps/{id}/faults") => json!({ "scenario": "expired" }),
        ("POST", "/api/idps/{id}/users") => json!({ "email": "bob@example.com", "name": "Bob" }),
        ("POST" | "PATCH", path) if path.starts_with("/api/idps") => json!({ "name": "New" }),
        ("PATCH", "/api/auth/me" | "/api/team") => json!({ "name": "New" }),
        ("DELETE", "/api/team") => json!({ "name": "Team" }),
        ("PATCH", "/api/team/members/{id}") => json!({ "role": "admin" }),
        ("POST", "/api/team/invitations") => json!({ "email": "carol@example.com" }),
        ("POST", "/api/team/transfer") => json!({ "personId": ids.member }),
        (_, "/api/forward-addresses") => json!({ "email": "bob@example.com" }),
        _ => Value::Null,
    }
}

/// The operation's answer, asked for by the team's key from an address.
async fn ask(service: &Service, operation: &Operation, ids: &Ids) -> u16 {
    let link = service.link().await;
    let path = if operation.template.ends_with("/confirm") {
        link
    } else {
        if operation.template.ends_with("/forward") {
            assert_eq!(service.post(&link, Value::Null).await.status, 200);
        }
        operation.path.clone()
    };
    let body = if operation.takes_body() { body(operation, ids) } else { Value::Null };
    let key = (!operation.is_for_people()).then_some(service.key.as_str());
    let mut request = request(key, &operation.method, &path, &body);
    if operation.is_for_people() {
        let cookie = match operation.template.as_str() {
            // The owner stays.
            "/api/team/leave" => service.signed_in("dan@example.com", Role::Admin).await,
            _ => service.owner().await.to_owned(),
        };
        request.headers_mut().insert("cookie", cookie.parse().unwrap());
    }
    let (address, share) = ([192, 0, 2, 7].into(), service.app.body_memory().share());
    request.extensions_mut().insert(Client { address, share });
    service.ask(request).await.status
}

#[tokio::test]
async fn every_route_that_changes_something_has_its_entry() {
    let mut told = TOLD.to_vec();
    let names = operations(&fill(&Service::start().await).await).into_iter();
    for operation in names.filter(|operation| operation.method != "GET") {
        let name = format!("{} {}", operation.method, operation.template);
        let place = told.iter().position(|(route, _)| *route == name);
        let (_, action) = told.swap_remove(place.unwrap_or_else(|| panic!("{name} is not told")));
        let service = Service::start().await;
        let is_of_idp = operation.template.starts_with("/api/idps/{id}");
        let ids = if is_of_idp { fill_with_idp(&service).await } else { fill(&service).await };
        let mut same = operations(&ids).into_iter();
        let same =
            same.find(|it| (&it.method, &it.template) == (&operation.method, &operation.template));
        let before = entries(&service).await.len();
        let status = ask(&service, &same.unwrap(), &ids).await;
        // Ways in take what only a person has.
        let is_way_in = operation.template.starts_with("/api/auth/");
        assert!(is_way_in || (200..300).contains(&status), "{name}: {status}");
        let mut new = entries(&service).await;
        new.truncate(new.len() - before);
        let found = new.first().map(|entry| entry.action.as_str());
        assert_eq!(found, action, "{name}");
        if let Some(entry) = new.first() {
            assert_eq!(entry.address.as_deref(), Some("192.0.2.7"), "{name}");
            assert!(!entry.target.id.is_empty(), "{name}");
        }
    }
    assert!(told.is_empty(), "{told:?}");
}

async fn entries(service: &Service) -> Vec<trapline_model::AuditEntry> {
    service.app.audit().latest(&Principal::system(service.team)).await.unwrap()
}
