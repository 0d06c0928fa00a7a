//! Single sign-on over REST, with a provider that says what it is told to.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use trapline_api::Client;
use trapline_app::{
    Authorization, ExternalAccount, IdentityProvider, ProviderAnswer, ProviderClient,
    ProviderFailure, SsoSettings,
};
use trapline_model::{Principal, Role};

use crate::{Answer, Service, minutes, request};

pub(crate) const ISSUER: &str = "https://login.example.com";
const EMAIL: &str = "carol@example.com";

/// Knows one person, who always brings the code `good`.
struct Provider;

#[async_trait]
impl IdentityProvider for Provider {
    fn check(&self, issuer: &str) -> Result<(), String> {
        if issuer.starts_with("https://") { Ok(()) } else { Err("must be https".to_owned()) }
    }

    async fn discover(&self, issuer: &str) -> Result<(), ProviderFailure> {
        match issuer {
            "https://gone.example" => Err(ProviderFailure::Unreachable("connect_refused")),
            _ => Ok(()),
        }
    }

    async fn authorize(
        &self,
        client: &ProviderClient,
        _: &str,
    ) -> Result<Authorization, ProviderFailure> {
        Ok(Authorization {
            url: format!("{}/authorize?state=st4te", client.issuer),
            state: "st4te".to_owned(),
            nonce: "n0nce".to_owned(),
            verifier: "verifier".to_owned(),
        })
    }

    async fn account(
        &self,
        client: &ProviderClient,
        answer: &ProviderAnswer,
    ) -> Result<ExternalAccount, ProviderFailure> {
        assert_eq!((&*client.client_secret, &*answer.nonce), ("s3cret", "n0nce"));
        if answer.code != "good" {
            return Err(ProviderFailure::Refused("invalid_grant".to_owned()));
        }
        Ok(ExternalAccount {
            subject: "1".to_owned(),
            email: Some(EMAIL.to_owned()),
            is_email_verified: true,
            name: "Carol".to_owned(),
        })
    }
}

impl Service {
    /// Sets up the team's single sign-on, for a domain that is verified.
    pub(crate) async fn single_sign_on(&self) {
        self.app.sso().set_provider(Arc::new(Provider));
        let settings = SsoSettings {
            issuer: ISSUER.to_owned(),
            client_id: "client".to_owned(),
            client_secret: Some("s3cret".to_owned()),
            domains: vec!["example.com".to_owned()],
            enforced: false,
        };
        let owner = self.member(self.team, "sets-up@example.com", Role::Member).await;
        let by = Principal::of_person(self.team, owner, Role::Owner);
        self.app.sso().put(&by, settings).await.unwrap();
        self.app.sso().verify_domain(self.team, "example.com").await.unwrap();
    }

    async fn page(&self, path: &str, cookie: Option<&str>) -> Answer {
        let mut request = request(None, "GET", path, &Value::Null);
        if let Some(cookie) = cookie {
            request.headers_mut().insert("cookie", cookie.parse().unwrap());
        }
        self.ask(request).await
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).unwrap()
}

/// The `Cookie` of the first `Set-Cookie`.
fn kept(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_goes_to_the_provider_and_comes_back_signed_in() {
    let service = Service::without_relay().await;
    service.single_sign_on().await;
    let asked = service.page("/api/auth/sso", None).await;
    assert!(asked.status == 200 && text(&asked).contains("<form>"), "{asked:?}");
    let begun = service.page("/api/auth/sso?email=carol%40example.com", None).await;
    let there = format!("{ISSUER}/authorize?state=st4te");
    assert_eq!((begun.status, begun.header("location")), (303, there.as_str()));
    let cookie = begun.header("set-cookie").to_owned();
    let (name, sealed) =
        kept(&begun).split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    assert!(
        name.ends_with("-sso") && cookie.contains("Max-Age=600; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    assert!(!cookie.contains("n0nce") && !cookie.contains("verifier"), "{cookie}");

    let back = format!("/api/auth/sso/{}/callback", service.team);
    let good = format!("{back}?code=good&state=st4te&session_state=of-the-provider");
    let kept = format!("{name}={sealed}");
    let other = service.app.access().create_team("Other").await.unwrap();
    for (path, cookie, status, words) in [
        (good.clone(), None, 400, "not begun in this browser"),
        (good.replace("st4te", "other"), Some(&*kept), 400, "not begun in this browser"),
        (
            good.replace(&service.team.to_string(), &other.to_string()),
            Some(&*kept),
            400,
            "not begun",
        ),
        (format!("{good}&iss=https://evil.example"), Some(&*kept), 400, "not begun"),
        (format!("{back}?state=st4te&error=access_denied"), Some(&*kept), 403, "access_denied"),
        (format!("{back}?state=st4te&error=%3Cb%3E"), Some(&*kept), 403, "no code"),
        (format!("{back}?state=st4te"), Some(&*kept), 403, "no code"),
        (good.replace("good", "bad"), Some(&*kept), 502, "invalid_grant"),
        ("/api/auth/sso/none/callback".to_owned(), Some(&*kept), 404, "no team here"),
        (format!("{good}&pad={}", "x".repeat(9000)), Some(&*kept), 414, "too long"),
        ("/api/auth/sso?email=x".to_owned(), None, 400, "such as ada@example.com"),
        ("/api/auth/sso?email=x@nowhere.example".to_owned(), None, 404, "no team here"),
    ] {
        let answer = service.page(&path, cookie).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert!(text(&answer).contains(words), "{path}: {}", text(&answer));
        assert!(answer.header("set-cookie").is_empty(), "{path}");
    }
    let signed_in = service.page(&good, Some(&kept)).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "http://trapline.test/"));
    let session = self::kept(&signed_in);
    let me = service.with_cookie(&session, "GET", "/api/auth/me", &Value::Null).await.json();
    assert_eq!((&me["person"]["email"], &me["person"]["name"]), (&json!(EMAIL), &json!("Carol")));
    assert_eq!((&me["team"]["id"], &me["team"]["role"]), (&json!(service.team), &json!("member")));
    // The provider speaks for its own team: it does not let the person join another one.
    let grace = service.member(other, "inviter@example.com", Role::Admin).await;
    let by = Principal::of_person(other, grace, Role::Admin);
    let invited = service.app.teams().invite(&by, EMAIL, Role::Member).await.unwrap();
    let token = invited.link.as_deref().unwrap().split_once("?token=").unwrap().1.to_owned();
    let body = json!({ "token": token });
    let joined = service.with_cookie(&session, "POST", "/api/auth/link", &body).await;
    assert_eq!(joined.status, 404, "{joined:?}");
}

/// Each of these ends what a browser shows, so none may be for programs.
#[tokio::test]
async fn too_many_tries_and_what_else_goes_wrong_are_told_by_a_page() {
    let service = Service::without_relay().await;
    service.single_sign_on().await;
    let back = format!("/api/auth/sso/{}/callback?code=good&state=st4te", service.team);
    let start = "/api/auth/sso?email=carol%40example.com";
    let shown = |answer: &Answer| {
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{answer:?}");
        assert_eq!(answer.header("cache-control"), "private, no-store", "{answer:?}");
        text(answer)
    };
    let refused = service.page("/api/auth/sso/%FF/callback", None).await;
    assert_eq!(refused.status, 400);
    assert!(shown(&refused).contains("not right"), "{refused:?}");
    for _ in 0..20 {
        service.page(start, None).await;
    }
    for path in [start, &back] {
        let refused = service.page(path, None).await;
        assert_eq!(refused.status, 429, "{path}");
        let wait = refused.header("retry-after").to_owned();
        assert!(wait.parse::<u32>().unwrap() > 0, "{path}");
        assert!(shown(&refused).contains(&format!("Try again in {wait} s")), "{path}");
    }
    service.clock.advance(minutes(1));
    assert_eq!(service.page(start, None).await.status, 303);
    // A link of a mail is opened by people, too.
    let opened = async |token: usize| {
        let path = format!("/link?token={token}");
        let mut request = request(None, "GET", &path, &Value::Null);
        let (address, share) = ([192, 0, 2, 7].into(), service.app.body_memory().share());
        request.extensions_mut().insert(Client { address, share });
        service.ask(request).await
    };
    for token in 0..50 {
        assert_eq!(opened(token).await.status, 404);
    }
    let refused = opened(50).await;
    assert_eq!(refused.status, 429);
    assert!(shown(&refused).contains("Too many requests"), "{refused:?}");
}

#[tokio::test]
async fn the_owner_sets_it_up_and_nobody_sees_the_secret() {
    let service = Service::start().await;
    service.single_sign_on().await;
    let owner = service.signed_in("ada@example.com", Role::Owner).await;
    let ask = async |method: &str, body: Value| {
        service.with_cookie(&owner, method, "/api/team/sso", &body).await
    };
    let mut shown = ask("GET", Value::Null).await.json();
    assert_eq!(shown["clientId"], "client");
    assert!(shown["domains"][0]["verifiedAt"].is_string(), "{shown}");
    assert!(!shown.to_string().contains("s3cret"), "{shown}");
    let back = format!("http://trapline.test/api/auth/sso/{}/callback", service.team);
    assert_eq!(shown["redirectUri"], json!(back));
    let settings = |changes: Value| {
        let mut all = json!({ "issuer": ISSUER, "clientId": "client", "domains": ["example.com"] });
        all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        all
    };
    for (changes, path) in [
        (json!({ "issuer": "http://login.example.com" }), "issuer"),
        (json!({ "issuer": "https://gone.example" }), "issuer"),
        (json!({ "issuer": "" }), "issuer"),
        (json!({ "clientId": "another" }), "clientSecret"),
        (json!({ "domains": [] }), "domains"),
        (json!({ "domains": ["no domain"] }), "domains"),
        (json!({ "enforced": true }), "enforced"),
    ] {
        let answer = ask("PUT", settings(changes.clone())).await;
        assert_eq!(answer.status, 400, "{changes}: {answer:?}");
        assert_eq!(answer.json()["issues"][0]["path"], path, "{changes}");
    }
    // Without a secret the one that there is stays.
    let domains = json!({ "domains": ["EXAMPLE.com", "example.com", "other.example"] });
    let changed = ask("PUT", settings(domains)).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    shown = changed.json();
    assert_eq!(shown["domains"][1], json!({ "name": "other.example", "verifiedAt": null }));
    assert_eq!(ask("DELETE", Value::Null).await.status, 204);
    assert_eq!(ask("GET", Value::Null).await.status, 404);
    assert_eq!(ask("DELETE", Value::Null).await.status, 404);
}
