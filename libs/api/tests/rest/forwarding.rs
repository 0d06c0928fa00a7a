//! Forwarding over REST, and the page behind a confirmation link.

use std::time::Duration;

use serde_json::{Value, json};
use trapline_app::{Claimed, Lane, OutgoingMail, RelayError, RelayStage};

use crate::{Answer, Service, request};

impl Service {
    /// The id of a new address that waits for its owner.
    pub(crate) async fn forward_address(&self, email: &str) -> String {
        let answer = self.post("/api/forward-addresses", json!({ "email": email })).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// What the relay gets of the service's own mail.
    pub(crate) async fn mailed(&self, sent: Result<(), RelayError>) -> Vec<OutgoingMail> {
        let mut mails = Vec::new();
        let look = Duration::from_millis(30);
        for lease in self.app.jobs().take(Lane::Mail, 10, look).await.unwrap() {
            let Claimed::Run(attempt) = self.app.outbound_mail().claim(&lease.job).await.unwrap()
            else {
                panic!("a mail is to be sent")
            };
            mails.push(attempt.outgoing.clone());
            self.app.outbound_mail().record(*attempt, sent).await.unwrap();
            self.app.jobs().complete(lease).await.unwrap();
        }
        mails
    }

    /// The path of the link that the owner of an address got.
    pub(crate) async fn link(&self) -> String {
        let mails = self.mailed(Ok(())).await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        let read = String::from_utf8(mails[0].content.concat()).unwrap();
        let (_, body) = read.split_once("Content-Transfer-Encoding: base64\r\n\r\n").unwrap();
        let body = body.split("\r\n--").next().unwrap().replace("\r\n", "");
        let text = data_encoding::BASE64.decode(body.as_bytes()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let link = text.lines().find(|line| line.starts_with("http://trapline.test/")).unwrap();
        link["http://trapline.test".len()..].to_owned()
    }

    async fn anybody(&self, method: &str, path: &str) -> Answer {
        self.ask(request(None, method, path, &Value::Null)).await
    }

    async fn put(&self, path: &str, body: Value) -> Answer {
        self.with_key(&self.key, "PUT", path, &body).await
    }
}

fn issues(answer: &Answer) -> Value {
    assert_eq!(answer.status, 400, "{answer:?}");
    let body = answer.json();
    let issues = body["issues"].as_array().unwrap();
    issues.iter().map(|issue| json!([issue["path"], issue["code"]])).collect()
}

#[tokio::test]
async fn an_owner_confirms_on_a_page() {
    let service = Service::start().await;
    let id = service.forward_address("Ada@Example.com").await;
    let path = service.link().await;
    for _ in 0..2 {
        let page = service.anybody("GET", &path).await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("cache-control"), "private, no-store");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
        let html = String::from_utf8(page.body).unwrap();
        assert!(
            html.contains("Confirm for team Team") && html.contains("Ada@example.com"),
            "{html}"
        );
    }
    let waiting = service.get("/api/forward-addresses").await.json();
    let wanted = json!([{
        "id": id,
        "email": "Ada@example.com",
        "verifiedAt": null,
        "createdAt": "2027-01-15T08:00:00.000Z",
    }]);
    assert_eq!(waiting, wanted);
    assert_eq!(service.anybody("POST", &path).await.status, 200);
    let confirmed = service.get("/api/forward-addresses").await.json();
    assert_eq!(confirmed[0]["verifiedAt"], "2027-01-15T08:00:00.000Z");
    for method in ["GET", "POST"] {
        let page = service.anybody(method, &path).await;
        assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
        assert_eq!(service.anybody(method, "/api/forward-addresses/confirm").await.status, 400);
    }
    let again = service.post("/api/forward-addresses", json!({ "email": "ada@example.com" })).await;
    assert_eq!((again.status, again.json()["id"].as_str()), (200, Some(id.as_str())));
    let path = format!("/api/forward-addresses/{id}");
    assert_eq!(service.with_key(&service.key, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(service.with_key(&service.key, "DELETE", &path, &Value::Null).await.status, 404);
    assert_eq!(service.get("/api/forward-addresses").await.json(), json!([]));
}

#[tokio::test]
async fn a_link_is_not_sent_twice_a_minute() {
    let service = Service::start().await;
    service.forward_address("ada@example.com").await;
    let again = service.post("/api/forward-addresses", json!({ "email": "ada@example.com" })).await;
    assert_eq!(again.code(), (429, "rate_limited".to_owned()));
    assert_eq!(again.header("retry-after"), "60");
}

#[tokio::test]
async fn an_inbox_has_its_forwarding() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/forwarding");
    let none = json!({ "enabled": false, "to": [], "match": null });
    assert_eq!(service.get(&path).await.json(), none);
    service.forward_address("ada@example.com").await;
    let link = service.link().await;
    let set = json!({ "enabled": true, "to": ["ada@example.com"], "match": { "subject": "x" } });
    let early = service.put(&path, set.clone()).await;
    assert_eq!(issues(&early), json!([["to[0]", "not_verified"]]));
    service.anybody("POST", &link).await;
    let answer = service.put(&path, set.clone()).await;
    assert_eq!((answer.status, answer.json()), (200, set.clone()));
    assert_eq!(service.get(&path).await.json(), set);
    let mut listed = json!([{ "inboxId": inbox, "inboxName": "Inbox" }]);
    listed[0].as_object_mut().unwrap().extend(set.as_object().unwrap().clone());
    assert_eq!(service.get("/api/forwarding").await.json(), listed);
    let eleven = vec!["ada@example.com"; 11];
    let wrong = [
        (json!({ "to": [] }), json!([["enabled", "required"]])),
        (json!({ "enabled": true, "to": [] }), json!([["to", "required"]])),
        (json!({ "enabled": true, "to": ["nobody"] }), json!([["to[0]", "invalid_address"]])),
        (json!({ "enabled": true, "to": eleven }), json!([["to", "too_long"]])),
        (
            json!({ "enabled": true, "to": [], "match": { "body": "x" } }),
            json!([["match.body", "unknown"]]),
        ),
    ];
    for (body, wanted) in wrong {
        assert_eq!(issues(&service.put(&path, body.clone()).await), wanted, "{body}");
    }
    assert_eq!(service.get(&path).await.json(), set);
    let gone = format!("/api/inboxes/{inbox}");
    assert_eq!(service.with_key(&service.key, "DELETE", &gone, &Value::Null).await.status, 204);
    assert_eq!(service.get("/api/forwarding").await.json(), json!([]));
}

#[tokio::test]
async fn a_message_is_forwarded_by_hand() {
    let service = Service::start().await;
    let message = service.message(&service.inbox().await).await;
    let path = format!("/api/messages/{}/forward", message["id"].as_str().unwrap());
    service.forward_address("ada@example.com").await;
    let link = service.link().await;
    let to_ada = json!({ "to": ["ada@example.com"] });
    let early = service.post(&path, to_ada.clone()).await;
    assert_eq!(issues(&early), json!([["to[0]", "not_verified"]]));
    service.anybody("POST", &link).await;
    let answer = service.post(&path, to_ada).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = answer.json();
    let wanted = json!([{
        "id": body[0]["id"],
        "messageId": message["id"],
        "to": "ada@example.com",
        "status": "pending",
        "error": null,
    }]);
    assert_eq!(body, wanted);
    assert_eq!(service.get(&path).await.json(), wanted);
    let none = service.post(&path, json!({ "to": [] })).await;
    assert_eq!(issues(&none), json!([["to", "too_short"]]));
    let many = service.post(&path, json!({ "to": vec!["ada@example.com"; 11] })).await;
    assert_eq!(issues(&many), json!([["to", "too_long"]]));
}

#[tokio::test]
async fn without_a_relay_the_answer_says_so() {
    let service = Service::without_relay().await;
    let status = service.get("/api/forwarding-status").await.json();
    assert_eq!(status, json!({ "outboundEnabled": false, "maxRecipients": 10 }));
    let inbox = service.inbox().await;
    let message = service.message(&inbox).await["id"].as_str().unwrap().to_owned();
    let disabled = (409, "outbound_disabled".to_owned());
    let email = json!({ "email": "ada@example.com" });
    assert_eq!(service.post("/api/forward-addresses", email).await.code(), disabled);
    let to = json!({ "to": ["ada@example.com"] });
    assert_eq!(
        service.post(&format!("/api/messages/{message}/forward"), to).await.code(),
        disabled
    );
    let set = json!({ "enabled": true, "to": ["ada@example.com"] });
    let path = format!("/api/inboxes/{inbox}/forwarding");
    assert_eq!(service.put(&path, set).await.code(), disabled);
    let health = service.anybody("GET", "/api/health/mail").await;
    assert_eq!((health.status, health.json()), (200, json!({ "ok": true, "reasons": [] })));
}

#[tokio::test]
async fn health_names_reasons_and_no_addresses() {
    let service = Service::start().await;
    let status = service.get("/api/forwarding-status").await.json();
    assert_eq!(status, json!({ "outboundEnabled": true, "maxRecipients": 10 }));
    for number in 0..5 {
        service.forward_address(&format!("ada{number}@example.com")).await;
    }
    let later =
        RelayError { code: "connect_failed", is_final: false, stage: RelayStage::Connection };
    assert_eq!(service.mailed(Err(later)).await.len(), 5);
    let health = service.anybody("GET", "/api/health/mail").await;
    let wanted = json!({ "ok": false, "reasons": ["consecutive_failures:5"] });
    assert_eq!((health.status, health.json()), (503, wanted));
}
