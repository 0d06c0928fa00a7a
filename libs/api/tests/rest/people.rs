//! People: the cookie of a session, what pages of other sites may do, links, and the roles of callers.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use trapline_model::{PersonId, Principal, Role, TeamId};
use trapline_store::{
    Op, Record, When,
    records::{LinkPurpose, Membership, OneTimeLink, Person, PersonByEmail, TeamOfPerson},
};
use uuid::Uuid;

use crate::{Answer, Service, request};

const PASSWORD: &str = "correct horse";
/// What the cookie is called at `http://trapline.test`.
const COOKIE: &str = "trapline-80=";

impl Service {
    async fn store_row<R: Record>(&self, record: &R, when: When) {
        self.store.write(vec![Op::put(record, None, when).unwrap()]).await.unwrap();
    }

    /// A person who has this role in the team, and has no password yet.
    pub(crate) async fn member(&self, team: TeamId, email: &str, role: Role) -> PersonId {
        let (id, now) = (PersonId(Uuid::from_u128(number())), self.clock.now());
        let person = Person {
            id,
            email: email.to_owned(),
            next_email: None,
            email_changed_at: None,
            name: email.to_owned(),
            password: None,
            password_set_at: None,
            verified_at: None,
            signed_in_from: Vec::new(),
            created_at: now,
        };
        let address = PersonByEmail { email: email.to_owned(), person: id };
        self.store_row(&address, When::Absent).await;
        self.store_row(&person, When::Absent).await;
        self.store_row(&TeamOfPerson { person: id, team }, When::Always).await;
        self.store_row(&Membership { team, person: id, role, joined_at: now }, When::Absent).await;
        id
    }

    /// The token of a link by which a person sets a password.
    async fn password_link(&self, person: PersonId) -> String {
        let token = format!("token-{}", number());
        let sha256 = crate::sha256(&token);
        let made_at = self.clock.now();
        let expires_at = made_at.after(crate::minutes(10));
        let purpose = LinkPurpose::Password { person };
        let link = OneTimeLink { sha256, purpose, made_at, expires_at };
        self.store_row(&link, When::Absent).await;
        token
    }

    /// The `Cookie` of a new person who has this role in the team of the service.
    pub(crate) async fn signed_in(&self, email: &str, role: Role) -> String {
        self.signed_in_to(self.team, email, role).await
    }

    /// The same in any team.
    pub(crate) async fn signed_in_to(&self, team: TeamId, email: &str, role: Role) -> String {
        let person = self.member(team, email, role).await;
        let body = json!({ "token": self.password_link(person).await, "password": PASSWORD });
        let answer = self.ask(request(None, "POST", "/api/auth/link", &body)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        cookie_of(&answer)
    }

    /// The same person for a whole test: an owner.
    pub(crate) async fn owner(&self) -> &str {
        self.owner.get_or_init(|| self.signed_in("owner@example.com", Role::Owner)).await
    }

    pub(crate) async fn with_cookie(
        &self,
        cookie: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Answer {
        self.ask(with(request(None, method, path, body), &[("cookie", cookie)])).await
    }

    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let body = json!({ "email": email, "password": password });
        self.ask(request(None, "POST", "/api/auth/sign-in", &body)).await
    }
}

/// A number that no other row of these tests has.
fn number() -> u128 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    u128::from(LAST.fetch_add(1, Ordering::Relaxed)) + 1
}

fn with(mut request: Request<Body>, fields: &[(&'static str, &str)]) -> Request<Body> {
    for (name, value) in fields {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

pub(crate) fn cookie_of(answer: &Answer) -> String {
    let set = answer.header("set-cookie");
    assert!(set.starts_with(COOKIE) && set.contains("; HttpOnly; SameSite=Lax"), "{answer:?}");
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn whoever_signs_in_uses_what_is_the_teams() {
    let service = Service::start().await;
    service.signed_in("ada@example.com", Role::Admin).await;
    let answer = service.sign_in("Ada@example.com", PASSWORD).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let (cookie, me) = (cookie_of(&answer), answer.json());
    assert_eq!(me["person"]["email"], "ada@example.com");
    assert_eq!((&me["team"]["role"], &me["team"]["id"]), (&json!("admin"), &json!(service.team)));
    assert_eq!(me["teams"], json!([me["team"]]));
    let can: Vec<_> = me["can"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(can.contains(&"keys.manage") && !can.contains(&"team.delete"), "{can:?}");
    assert_eq!(service.with_cookie(&cookie, "GET", "/api/auth/me", &Value::Null).await.json(), me);

    let made = json!({ "name": "Mine" });
    let made = service.with_cookie(&cookie, "POST", "/api/inboxes", &made).await;
    assert_eq!(made.status, 201, "{made:?}");
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(service.get(&format!("/api/inboxes/{id}")).await.json(), made.json());

    let out = service.with_cookie(&cookie, "POST", "/api/auth/sign-out", &Value::Null).await;
    assert_eq!((out.status, out.header("set-cookie").contains("Max-Age=0")), (204, true));
    for path in ["/api/auth/me", "/api/inboxes"] {
        let answer = service.with_cookie(&cookie, "GET", path, &Value::Null).await;
        assert_eq!(answer.code(), (401, "session_over".to_owned()), "{path}");
    }
    // Signing out twice is no fault.
    let out = service.with_cookie(&cookie, "POST", "/api/auth/sign-out", &Value::Null).await;
    assert_eq!(out.status, 204);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_are_told_in_the_same_words() {
    let service = Service::start().await;
    service.signed_in("ada@example.com", Role::Member).await;
    let wrong = service.sign_in("ada@example.com", "correct horsf").await;
    let unknown = service.sign_in("eve@example.com", PASSWORD).await;
    assert_eq!(wrong.code(), (401, "wrong_password".to_owned()));
    assert_eq!((wrong.code(), wrong.json()), (unknown.code(), unknown.json()));
    for _ in 0..4 {
        service.sign_in("ada@example.com", "correct horsf").await;
    }
    let limited = service.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(limited.code(), (429, "rate_limited".to_owned()));
    assert_eq!(limited.header("retry-after"), "12");
}

#[tokio::test]
async fn pages_of_other_sites_act_for_nobody() {
    let service = Service::start().await;
    let cookie = service.owner().await;
    let new = json!({ "name": "Theirs" });
    let post = |fields: &[(&'static str, &str)]| {
        with(with(request(None, "POST", "/api/inboxes", &new), &[("cookie", cookie)]), fields)
    };
    for fields in [
        [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
        [("sec-fetch-site", "same-site"), ("origin", "http://trapline.test")],
        [("host", "trapline.test"), ("origin", "null")],
        [("host", "trapline.test"), ("origin", "http://trapline.test:3000")],
    ] {
        let answer = service.ask(post(&fields)).await;
        assert_eq!(answer.code(), (403, "cross_site".to_owned()), "{fields:?}");
        for path in ["sign-in", "sign-out", "link"] {
            let path = format!("/api/auth/{path}");
            let answer = service.ask(with(request(None, "POST", &path, &new), &fields)).await;
            assert_eq!(answer.code(), (403, "cross_site".to_owned()), "{path} {fields:?}");
        }
        let read = with(request(None, "GET", "/api/inboxes", &Value::Null), &fields);
        assert_eq!(service.ask(with(read, &[("cookie", cookie)])).await.json(), json!([]));
    }
    for fields in [
        [("sec-fetch-site", "same-origin"), ("origin", "http://trapline.test")],
        [("host", "10.0.0.7:8025"), ("origin", "http://10.0.0.7:8025")],
    ] {
        assert_eq!(service.ask(post(&fields)).await.status, 201, "{fields:?}");
    }
    // A key is a proof of its own: no page makes a browser send one.
    let bearer = format!("Bearer {}", service.key);
    let fields = [("sec-fetch-site", "cross-site"), ("authorization", bearer.as_str())];
    assert_eq!(service.ask(post(&fields)).await.status, 201);
}

#[tokio::test]
async fn a_key_is_nobody_who_is_signed_in() {
    let service = Service::start().await;
    let answer = service.get("/api/auth/me").await;
    assert_eq!(answer.code(), (403, "person_required".to_owned()));
    // A key wins over a cookie.
    let both = request(Some("tl_unknown"), "GET", "/api/inboxes", &Value::Null);
    let answer = service.ask(with(both, &[("cookie", service.owner().await)])).await;
    assert_eq!(answer.code(), (401, "unknown_api_key".to_owned()));
    let answer = service.ask(request(None, "GET", "/api/auth/me", &Value::Null)).await;
    assert_eq!(answer.code(), (401, "missing_api_key".to_owned()));
    let options = service.ask(request(None, "GET", "/api/auth/options", &Value::Null)).await;
    assert_eq!((options.status, &options.json()["password"]), (200, &json!(true)));
}

/// What a browser without scripts does, and what a scanner that opens every link does not.
#[tokio::test]
async fn a_links_page_asks_first_and_its_button_signs_in() {
    let service = Service::start().await;
    let person = service.member(service.team, "ada@example.com", Role::Owner).await;
    let path = format!("/link?token={}", service.password_link(person).await);
    let press = async |form: &str, origin: &str| {
        let request = Request::post(&path).header("origin", origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        service.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    };
    for _ in 0..3 {
        let page = service.ask(request(None, "GET", &path, &Value::Null)).await;
        assert_eq!((page.status, page.header("set-cookie")), (200, ""));
        assert_eq!(page.header("referrer-policy"), "same-origin");
        let html = String::from_utf8(page.body).unwrap();
        assert!(
            html.contains("value=\"ada@example.com\"") && html.contains("<form method=\"post\">")
        );
    }
    let ours = "http://trapline.test";
    let theirs = press("password=correct+horse", "https://evil.example").await;
    assert_eq!(theirs.status, 403, "{theirs:?}");
    assert!(String::from_utf8(theirs.body).unwrap().contains("A page of another site sent this"));
    let refused = press("password=short", ours).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (400, ""));
    let html = String::from_utf8(refused.body).unwrap();
    assert!(html.contains("password must have 10 to 256 characters"), "{html}");
    let done = press("password=correct+horse", ours).await;
    assert_eq!(done.status, 200, "{done:?}");
    let cookie = cookie_of(&done);
    let me = service.with_cookie(&cookie, "GET", "/api/auth/me", &Value::Null).await;
    assert_eq!(me.json()["person"]["email"], "ada@example.com");
    assert_eq!(service.sign_in("ada@example.com", PASSWORD).await.status, 200);
    let again = press("password=another+horse", ours).await;
    assert_eq!((again.status, again.header("set-cookie")), (404, ""));
    let page = service.ask(request(None, "GET", &path, &Value::Null)).await;
    assert_eq!(page.status, 404);
}

/// Whoever used the browser before is not signed in any more, as after a sign-in by JSON.
#[tokio::test]
async fn the_page_of_a_link_ends_the_session_that_the_browser_had() {
    let service = Service::start().await;
    let person = service.member(service.team, "ada@example.com", Role::Owner).await;
    let before = service.signed_in("bob@example.com", Role::Member).await;
    let path = format!("/link?token={}", service.password_link(person).await);
    let press = Request::post(&path)
        .header("origin", "http://trapline.test")
        .header("cookie", &before)
        .header("content-type", "application/x-www-form-urlencoded");
    let done = service.ask(press.body(Body::from("password=correct+horse")).unwrap()).await;
    assert_eq!(done.status, 200, "{done:?}");
    let me = service.with_cookie(&before, "GET", "/api/auth/me", &Value::Null).await;
    assert_eq!(me.code(), (401, "session_over".to_owned()));
}

#[tokio::test]
async fn a_session_switches_between_the_teams_of_its_person() {
    let service = Service::start().await;
    let other = service.app.access().create_team("Other").await.unwrap();
    let foreign = service.app.access().create_team("Foreign").await.unwrap();
    let person = service.member(service.team, "ada@example.com", Role::Admin).await;
    let token = service.password_link(person).await;
    let body = json!({ "token": token, "password": PASSWORD });
    let cookie = cookie_of(&service.ask(request(None, "POST", "/api/auth/link", &body)).await);
    let joined_at = service.clock.now();
    let membership = Membership { team: other, person, role: Role::Member, joined_at };
    service.store_row(&TeamOfPerson { person, team: other }, When::Always).await;
    service.store_row(&membership, When::Absent).await;
    let switch = async |team: TeamId| {
        let body = json!({ "teamId": team });
        service.with_cookie(&cookie, "POST", "/api/auth/team", &body).await
    };
    let ours = service.inbox().await;
    let ours = format!("/api/inboxes/{ours}");

    let switched = switch(other).await;
    assert_eq!(switched.status, 200, "{switched:?}");
    let me = service.with_cookie(&cookie, "GET", "/api/auth/me", &Value::Null).await.json();
    assert_eq!(switched.json(), me);
    let wanted = json!({ "id": other, "name": "Other", "role": "member" });
    assert_eq!((&me["team"], me["teams"].as_array().unwrap().len()), (&wanted, 2));
    // What requests see is of that team from then on.
    assert_eq!(service.with_cookie(&cookie, "GET", &ours, &Value::Null).await.status, 404);
    for nobodys in [foreign, TeamId(Uuid::from_u128(7)), TeamId::SERVICE] {
        assert_eq!(switch(nobodys).await.code(), (404, "not_found".to_owned()));
    }
    let me = service.with_cookie(&cookie, "GET", "/api/auth/me", &Value::Null).await.json();
    assert_eq!(me["team"], wanted);
    assert_eq!(switch(service.team).await.json()["team"]["role"], "admin");
    assert_eq!(service.with_cookie(&cookie, "GET", &ours, &Value::Null).await.status, 200);
}

/// By the page's button, which asks for no password, and by JSON.
#[tokio::test]
async fn whoever_is_signed_in_joins_a_team_by_a_press_of_a_button() {
    let service = Service::without_relay().await;
    let inviter = service.member(service.team, "grace@example.com", Role::Owner).await;
    let inviter = Principal::of_person(service.team, inviter, Role::Owner);
    let other = service.app.access().create_team("Other").await.unwrap();
    let ada = service.signed_in_to(other, "ada@example.com", Role::Owner).await;
    let eve = service.signed_in_to(other, "eve@example.com", Role::Member).await;
    let teams = service.app.teams();
    let made = teams.invite(&inviter, "ada@example.com", Role::Member).await.unwrap();
    let link = made.link.unwrap();
    let path = link.strip_prefix("http://trapline.test").unwrap();
    let page = async |cookie: &str| {
        let page = service.with_cookie(cookie, "GET", path, &Value::Null).await;
        assert_eq!((page.status, page.header("set-cookie")), (200, ""));
        String::from_utf8(page.body).unwrap()
    };
    assert!(page(&eve).await.contains("type=\"password\""));
    assert!(!page(&ada).await.contains("type=\"password\""));
    let press = async |cookie: &str, fields: &[(&'static str, &str)]| {
        let press = with(Request::post(path).body(Body::empty()).unwrap(), fields);
        service.ask(with(press, &[("cookie", cookie)])).await
    };
    let ours = [("origin", "http://trapline.test")];
    let theirs = press(&ada, &[("origin", "https://evil.example")]).await;
    assert_eq!((theirs.status, theirs.header("set-cookie")), (403, ""));
    let refused = press(&eve, &ours).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (400, ""));
    let html = String::from_utf8(refused.body).unwrap();
    assert!(html.contains("email is not the one that you are signed in with"), "{html}");

    let token = path.split_once("?token=").unwrap().1;
    let body = json!({ "token": token });
    let refused = service.with_cookie(&eve, "POST", "/api/auth/link", &body).await;
    assert_eq!(refused.json()["issues"][0]["code"], "other_person", "{refused:?}");
    let asked = format!("/api/auth/link?token={token}");
    let asked = service.with_cookie(&ada, "GET", &asked, &Value::Null).await.json();
    assert_eq!((&asked["wantsPassword"], &asked["isNew"]), (&json!(false), &json!(false)));
    let done = press(&ada, &ours).await;
    assert_eq!(done.status, 200, "{done:?}");
    let me = service.with_cookie(&cookie_of(&done), "GET", "/api/auth/me", &Value::Null).await;
    let team = me.json()["team"].clone();
    assert_eq!((&team["id"], &team["role"]), (&json!(service.team), &json!("member")));
    // The session before the change of roles is over.
    let before = service.with_cookie(&ada, "GET", "/api/auth/me", &Value::Null).await;
    assert_eq!(before.code(), (401, "session_over".to_owned()));
}
