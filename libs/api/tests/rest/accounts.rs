//! Accounts over REST: signed up, reset, changed, and their sessions.

use serde_json::{Value, json};
use trapline_app::Settings;
use trapline_model::Role;

use crate::{Answer, Service, people::cookie_of, request, settings};

const PASSWORD: &str = "correct horse";
const NEW: &str = "another horse";

impl Service {
    async fn anonymous(&self, path: &str, body: Value) -> Answer {
        self.ask(request(None, "POST", path, &body)).await
    }

    async fn sign_up(&self, email: &str) -> Answer {
        self.anonymous("/api/auth/sign-up", json!({ "email": email, "password": PASSWORD })).await
    }

    async fn reset(&self, email: &str) -> Answer {
        self.anonymous("/api/auth/reset", json!({ "email": email })).await
    }
}

#[tokio::test]
async fn only_a_mail_tells_whether_somebody_has_an_address() {
    let service = Service::start().await;
    service.signed_in("ada@example.com", Role::Member).await;
    let (known, new) =
        (service.sign_up("ada@example.com").await, service.sign_up("eve@example.com").await);
    assert_eq!((known.status, known.header("set-cookie")), (202, ""), "{known:?}");
    assert_eq!((known.status, known.json()), (new.status, new.json()));
    assert_eq!(known.json()["mailSent"], true);
    let (known, unknown) =
        (service.reset("ada@example.com").await, service.reset("bob@example.com").await);
    assert_eq!((known.status, known.json()), (unknown.status, unknown.json()));
    assert_eq!(known.status, 202);
    for _ in 0..2 {
        service.reset("bob@example.com").await;
    }
    assert_eq!(service.reset("bob@example.com").await.code(), (429, "rate_limited".to_owned()));
}

#[tokio::test]
async fn without_a_relay_each_answer_says_that_no_mail_was_sent() {
    let service = Service::without_relay().await;
    let answer = service.sign_up("ada@example.com").await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let cookie = cookie_of(&answer);
    assert_eq!(answer.json()["outboundEnabled"], false);
    let again = service.sign_up("ada@example.com").await;
    assert_eq!((again.status, &again.json()["issues"][0]["code"]), (400, &json!("taken")));
    let reset = service.reset("ada@example.com").await.json();
    assert_eq!(reset["mailSent"], false);
    for said in ["No mail was sent", "trapline link --email"] {
        assert!(reset["message"].as_str().unwrap().contains(said), "{reset}");
    }
    let verify = service.with_cookie(&cookie, "POST", "/api/auth/verify", &Value::Null).await;
    assert_eq!(verify.code(), (409, "outbound_disabled".to_owned()));
    assert!(verify.json()["error"].as_str().unwrap().starts_with("No mail was sent"), "{verify:?}");
}

#[tokio::test]
async fn an_operator_can_switch_signing_up_off() {
    let service = Service::with(Settings { sign_up: false, ..settings(None) }).await;
    let refused = service.sign_up("ada@example.com").await;
    assert_eq!(refused.code(), (403, "sign_up_off".to_owned()));
    let options = service.ask(request(None, "GET", "/api/auth/options", &Value::Null)).await;
    assert_eq!(options.json()["signUp"], false);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_and_a_new_password_ends_them_all() {
    let service = Service::start().await;
    let first = service.signed_in("ada@example.com", Role::Member).await;
    let second = cookie_of(&service.sign_in("ada@example.com", PASSWORD).await);
    let third = cookie_of(&service.sign_in("ada@example.com", PASSWORD).await);
    let list = async |cookie: &str| {
        service.with_cookie(cookie, "GET", "/api/auth/sessions", &Value::Null).await
    };
    let listed = list(&first).await.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 3);
    let current: Vec<_> = listed.iter().filter(|one| one["isCurrent"] == true).collect();
    assert_eq!(current.len(), 1);
    let path = format!("/api/auth/sessions/{}", current[0]["id"].as_str().unwrap());
    let end = async |cookie: &str, path: &str| {
        service.with_cookie(cookie, "DELETE", path, &Value::Null).await.status
    };
    assert_eq!(end(&third, &path).await, 204, "one ends another");
    assert_eq!(list(&first).await.code(), (401, "session_over".to_owned()));
    assert_eq!(end(&third, &path).await, 404);
    assert_eq!(end(&third, "/api/auth/sessions/none").await, 404);
    assert_eq!(end(&third, "/api/auth/sessions").await, 204);
    assert_eq!((list(&second).await.status, list(&third).await.status), (401, 200));

    let change = async |current: &str, new: &str| {
        let body = json!({ "current": current, "password": new });
        service.with_cookie(&third, "POST", "/api/auth/password", &body).await
    };
    let refused = change(NEW, NEW).await;
    assert_eq!((refused.status, &refused.json()["issues"][0]["path"]), (400, &json!("current")));
    let changed = change(PASSWORD, NEW).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let fourth = cookie_of(&changed);
    assert_eq!((list(&third).await.status, list(&fourth).await.status), (401, 200));
    assert_eq!(service.sign_in("ada@example.com", NEW).await.status, 200);
}

#[tokio::test]
async fn people_name_themselves_and_their_teams_see_it() {
    let service = Service::start().await;
    let ada = service.signed_in("ada@example.com", Role::Admin).await;
    let rename = async |name: Value| {
        let body = json!({ "name": name });
        service.with_cookie(&ada, "PATCH", "/api/auth/me", &body).await
    };
    let long = "x".repeat(100);
    // As at a sign-up: no name is that of the address.
    for (name, wanted) in [
        (" Ada Lovelace ", "Ada Lovelace"),
        ("Ada \u{5ab}", "Ada \u{5ab}"),
        (long.as_str(), long.as_str()),
        ("  ", "ada"),
        ("Ada", "Ada"),
    ] {
        let answer = rename(json!(name)).await;
        assert_eq!((answer.status, &answer.json()["person"]["name"]), (200, &json!(wanted)));
    }
    for name in [json!("x".repeat(101)), json!("a\nb"), json!("a\0"), json!(7), json!(null)] {
        let refused = rename(name.clone()).await;
        assert_eq!((refused.status, &refused.json()["issues"][0]["path"]), (400, &json!("name")));
    }
    for body in [json!({}), json!({ "name": "Ada", "email": "eve@example.com" })] {
        let refused = service.with_cookie(&ada, "PATCH", "/api/auth/me", &body).await;
        assert_eq!(refused.status, 400, "{body}");
    }
    let get = async |path: &str| service.with_cookie(&ada, "GET", path, &Value::Null).await.json();
    assert_eq!(get("/api/team/members").await[0]["name"], "Ada");
    let told = get("/api/audit").await;
    let renamed = || told.as_array().unwrap().iter().filter(|it| it["action"] == "member.renamed");
    let [last, before] = [0, 1].map(|n| renamed().nth(n).unwrap());
    // An entry has the name that somebody had when it was written.
    assert_eq!((&last["actor"]["name"], &last["target"]["name"]), (&json!("ada"), &json!("Ada")));
    assert_eq!(before["target"]["name"], "ada");
    assert_eq!(rename(json!("Ada")).await.status, 200);
    let again = get("/api/audit").await;
    assert_eq!(again[0]["id"], told[0]["id"], "the same name is no change");
}
