//! Changed addresses over REST: what the asker is told, what the mails say, and what a link does.

use axum::body::Body;
use serde_json::{Value, json};
use trapline_app::OutgoingMail;
use trapline_model::Role;

use crate::{Answer, Service, people::cookie_of, request};

const PASSWORD: &str = "correct horse";
const OLD: &str = "ada@example.com";
const NEW: &str = "ada@example.org";

impl Service {
    async fn change_email(&self, cookie: &str, email: &str, password: &str) -> Answer {
        let body = json!({ "email": email, "password": password });
        self.with_cookie(cookie, "POST", "/api/auth/email", &body).await
    }

    async fn sent(&self) -> Vec<(String, String)> {
        let subject = |mail: &OutgoingMail| {
            let text = String::from_utf8(mail.content.concat()).unwrap();
            let line = text.lines().find(|line| line.starts_with("Subject: ")).unwrap();
            line["Subject: ".len()..].to_owned()
        };
        let mails = self.mailed(Ok(())).await;
        mails.iter().map(|mail| (mail.to.clone(), subject(mail))).collect()
    }
}

fn mail(to: &str, subject: &str) -> Vec<(String, String)> {
    vec![(to.to_owned(), subject.to_owned())]
}

#[tokio::test]
async fn only_the_mail_tells_whether_somebody_has_an_address() {
    let service = Service::start().await;
    let ada = service.signed_in(OLD, Role::Member).await;
    service.signed_in("eve@example.com", Role::Member).await;
    let free = service.change_email(&ada, NEW, PASSWORD).await;
    assert_eq!(service.sent().await, mail(NEW, "Confirm your new address"));
    let taken = service.change_email(&ada, "eve@example.com", PASSWORD).await;
    let told = mail("eve@example.com", "This is the address of your account already");
    assert_eq!(service.sent().await, told);
    assert_eq!((free.status, free.json()), (taken.status, taken.json()));
    let asked = free.json();
    assert_eq!(
        (free.status, &asked["mailSent"], &asked["link"]),
        (202, &json!(true), &Value::Null)
    );
}

#[tokio::test]
async fn the_link_of_the_mail_changes_the_address_by_its_button() {
    let service = Service::start().await;
    let ada = service.signed_in(OLD, Role::Member).await;
    service.change_email(&ada, NEW, PASSWORD).await;
    let path = service.link().await;
    let token = path.split_once("/verify?token=").unwrap().1;
    let me =
        async |cookie: &str| service.with_cookie(cookie, "GET", "/api/auth/me", &Value::Null).await;
    // Whoever looks at every link, signed in or not, changes nothing.
    for (cookie, wants) in [("", true), (ada.as_str(), false)] {
        let page = service.with_cookie(cookie, "GET", &path, &Value::Null).await;
        let (status, html) = (page.status, String::from_utf8(page.body).unwrap());
        assert_eq!((status, html.contains("type=\"password\"")), (200, wants), "{html}");
        assert!(
            html.contains("Change the address of your account") && html.contains(NEW),
            "{html}"
        );
        let asked = format!("/api/auth/link?token={token}");
        let asked = service.with_cookie(cookie, "GET", &asked, &Value::Null).await.json();
        assert_eq!((&asked["purpose"], &asked["email"]), (&json!("new_address"), &json!(NEW)));
        assert_eq!((&asked["wantsPassword"], &asked["hasPassword"]), (&json!(wants), &json!(true)));
    }
    assert_eq!(me(&ada).await.json()["person"]["email"], OLD);
    // A page of another site does not press it.
    let use_it = json!({ "token": token });
    let mut foreign = request(None, "POST", "/api/auth/link", &use_it);
    foreign.headers_mut().insert("cookie", ada.parse().unwrap());
    foreign.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert_eq!(service.ask(foreign).await.code(), (403, "cross_site".to_owned()));
    let refused = service.ask(request(None, "POST", "/api/auth/link", &use_it)).await;
    assert_eq!((refused.status, &refused.json()["issues"][0]["path"]), (400, &json!("password")));

    let used = service.with_cookie(&ada, "POST", "/api/auth/link", &use_it).await;
    assert_eq!((used.status, &used.json()["person"]["email"]), (200, &json!(NEW)), "{used:?}");
    assert!(used.json()["person"]["verifiedAt"].is_string(), "{used:?}");
    assert_eq!(me(&ada).await.code(), (401, "session_over".to_owned()));
    assert_eq!(me(&cookie_of(&used)).await.status, 200);
    assert_eq!(service.sent().await, mail(OLD, "Your address was changed"));
    let again = service.with_cookie(&ada, "POST", "/api/auth/link", &use_it).await;
    assert_eq!(again.status, 404);
    assert_eq!(service.sign_in(OLD, PASSWORD).await.status, 401);
    assert_eq!(service.sign_in(NEW, PASSWORD).await.status, 200);
}

/// The page of the API itself, for whoever has no console.
#[tokio::test]
async fn the_page_of_the_link_takes_the_password() {
    let service = Service::start().await;
    let ada = service.signed_in(OLD, Role::Member).await;
    service.change_email(&ada, NEW, PASSWORD).await;
    let path = service.link().await;
    let send = async |form: &'static str| {
        let mut sent = request(None, "POST", &path, &Value::Null);
        let kind = "application/x-www-form-urlencoded".parse().unwrap();
        sent.headers_mut().insert("content-type", kind);
        *sent.body_mut() = Body::from(form);
        let answer = service.ask(sent).await;
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    let (status, page) = send("password=a+wrong+one").await;
    assert!(status == 400 && page.contains("is not your password"), "{page}");
    let (status, page) = send("password=correct+horse").await;
    assert!(status == 200 && page.contains("You are signed in as ada@example.org"), "{page}");
}

#[tokio::test]
async fn without_a_relay_the_answer_has_the_link() {
    let service = Service::without_relay().await;
    let ada = service.signed_in(OLD, Role::Member).await;
    service.signed_in("eve@example.com", Role::Member).await;
    for (email, status) in [("eve@example.com", 400), (NEW, 200)] {
        let asked = service.change_email(&ada, email, PASSWORD).await;
        assert_eq!((asked.status, &asked.json()["mailSent"]), (202, &json!(false)));
        let link = asked.json()["link"].as_str().unwrap().to_owned();
        let token = link.strip_prefix("http://trapline.test/verify?token=").unwrap();
        let body = json!({ "token": token });
        let used = service.with_cookie(&ada, "POST", "/api/auth/link", &body).await;
        assert_eq!(used.status, status, "{used:?}");
        let person = &used.json()["person"];
        assert!(status == 400 || (person["email"] == NEW && person["verifiedAt"].is_null()));
    }
}

#[tokio::test]
async fn bad_input_is_named() {
    let service = Service::start().await;
    let ada = service.signed_in(OLD, Role::Member).await;
    let long = format!("{}@example.org", "x".repeat(250));
    for (body, path) in [
        (json!({ "email": "ada", "password": PASSWORD }), "email"),
        (json!({ "email": long, "password": PASSWORD }), "email"),
        (json!({ "email": OLD, "password": PASSWORD }), "email"),
        (json!({ "password": PASSWORD }), "email"),
        (json!({ "email": NEW }), "password"),
        (json!({ "email": NEW, "password": "a wrong one" }), "password"),
        (json!({ "email": NEW, "password": "" }), "password"),
        (json!({ "email": NEW, "password": PASSWORD, "name": "Ada" }), "name"),
    ] {
        let refused = service.with_cookie(&ada, "POST", "/api/auth/email", &body).await;
        let found = &refused.json()["issues"][0]["path"];
        assert_eq!((refused.status, found), (400, &json!(path)), "{body}");
    }
    assert!(service.sent().await.is_empty());
}

#[tokio::test]
async fn the_first_owner_sets_address_and_password_later() {
    let service = Service::without_relay().await;
    let link = service.app.installation().start(None).await.unwrap().owners_link.unwrap();
    let path = link.strip_prefix("http://trapline.test").unwrap();
    let token = path.split_once("?token=").unwrap().1;
    let page = service.ask(request(None, "GET", path, &Value::Null)).await;
    let page = String::from_utf8(page.body).unwrap();
    assert!(page.contains("Address and password can wait") && !page.contains("required"), "{page}");
    let asked =
        service.ask(request(None, "GET", &format!("/api/auth/link?token={token}"), &Value::Null));
    let asked = asked.await.json();
    assert_eq!((&asked["isOptional"], &asked["wantsPassword"]), (&json!(true), &json!(true)));
    let use_it =
        async |body: Value| service.ask(request(None, "POST", "/api/auth/link", &body)).await;
    // One of both is neither.
    for (half, path) in [("email", "password"), ("password", "email")] {
        let value = if half == "email" { OLD } else { PASSWORD };
        let refused = use_it(json!({ "token": token, half: value })).await;
        assert_eq!((refused.status, &refused.json()["issues"][0]["path"]), (400, &json!(path)));
    }
    let used = use_it(json!({ "token": token })).await;
    assert_eq!((used.status, &used.json()["person"]["email"]), (200, &json!("")), "{used:?}");
    let cookie = cookie_of(&used);
    let set = async |cookie: &str, body: Value| {
        service.with_cookie(cookie, "POST", "/api/auth/account", &body).await
    };
    for (body, path) in [
        (json!({ "email": OLD }), "password"),
        (json!({ "password": PASSWORD }), "email"),
        (json!({ "email": "ada", "password": PASSWORD }), "email"),
        (json!({ "email": OLD, "password": "short" }), "password"),
        (json!({ "email": OLD, "password": PASSWORD, "name": "x".repeat(101) }), "name"),
        (json!({ "email": OLD, "password": PASSWORD, "role": "owner" }), "role"),
    ] {
        let refused = set(&cookie, body.clone()).await;
        let found = &refused.json()["issues"][0]["path"];
        assert_eq!((refused.status, found), (400, &json!(path)), "{body}");
    }
    let done = set(&cookie, json!({ "email": OLD, "password": PASSWORD })).await;
    assert_eq!((done.status, &done.json()["person"]["email"]), (200, &json!(OLD)), "{done:?}");
    assert_eq!(set(&cookie, json!({ "email": NEW, "password": PASSWORD })).await.status, 401);
    let again = set(&cookie_of(&done), json!({ "email": NEW, "password": PASSWORD })).await;
    assert_eq!((again.status, &again.json()["issues"][0]["code"]), (400, &json!("set_already")));
    assert_eq!(service.sign_in(OLD, PASSWORD).await.status, 200);
}
