//! Single sign-on of a team, with a real identity provider.

mod provider;

use provider::Provider;
use serde_json::{Value, json};
use trapline_tests::{Answer, Deployment, Person, Rest, eventually, token_of};

const PASSWORD: &str = "correct horse battery";
/// The tests sign in more often than people do, and somebody signs up.
const FLAGS: [&str; 4] = ["--sign-in-rate", "1000", "--sign-up", "true"];

/// A server, its owner, and the provider of the team, which speaks for `corp.example`.
struct Setting {
    server: Deployment,
    clients: Vec<Rest>,
    owner: Person,
    provider: Provider,
    settings: Value,
}

impl Setting {
    async fn new() -> Self {
        let server = Deployment::alone(&FLAGS);
        let clients: Vec<_> = server.api().iter().map(|api| Rest::new(api, None)).collect();
        let rest = &clients[0];
        let link = server.owners_link();
        let owner = Person::by_link(rest, link, Some("ada@corp.example"), PASSWORD).await;
        let team = owner.ask(rest, "GET", "/api/team", Value::Null).await.expect(200).json();
        let back = format!("/api/auth/sso/{}/callback", team["id"].as_str().unwrap());
        let addresses: Vec<_> = server.api().iter().map(|api| format!("{api}{back}")).collect();
        let provider = Provider::start(&addresses).await;
        let settings = json!({
            "issuer": provider.issuer, "clientId": "trapline",
            "clientSecret": "a secret of the client", "domains": ["corp.example"]
        });
        let made = owner.ask(rest, "PUT", "/api/team/sso", settings.clone()).await.expect(200);
        assert_eq!(made.json()["redirectUri"], json!(addresses[0]), "{made}");
        Self { server, clients, owner, provider, settings }
    }

    /// A server that has verified the domain, and whose owner has signed in by the provider.
    async fn proven() -> Self {
        let setting = Self::new().await;
        let told = setting.server.command(&["sso", "verify-domain", "corp.example"]);
        assert!(told.starts_with("corp.example is verified"), "{told}");
        setting.sign_in(&setting.clients[0], "ada@corp.example").await;
        setting
    }

    async fn set(&self, changes: Value) -> Value {
        let mut settings = self.settings.clone();
        settings.as_object_mut().unwrap().remove("clientSecret");
        settings.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let rest = &self.clients[0];
        self.owner.ask(rest, "PUT", "/api/team/sso", settings).await.expect(200).json()
    }

    /// Begins at the server and goes through the provider's pages, as somebody with this address there. What
    /// the browser keeps, and where it is sent back to.
    async fn come_back(&self, rest: &Rest, login: &str) -> (String, String) {
        let begun = rest.query("/api/auth/sso", &[("email", "somebody@corp.example")]).await;
        let begun = begun.expect(303);
        let cookie = begun.header("set-cookie").split(';').next().unwrap().to_owned();
        let back = self.provider.sign_in(begun.header("location"), login).await;
        (cookie, back)
    }

    async fn sign_in(&self, rest: &Rest, login: &str) -> Person {
        let (cookie, back) = self.come_back(rest, login).await;
        let answer = Answer::to(rest.request("GET", &back).header("cookie", cookie));
        Person::of(&answer.await.expect(303))
    }

    /// The page that somebody gets who does not come in.
    async fn refused(&self, rest: &Rest, cookie: &str, back: &str, status: u16, words: &str) {
        let request = rest.request("GET", back).header("cookie", cookie);
        let answer = Answer::to(request).await.expect(status);
        assert!(answer.text().contains(words), "{answer}");
        assert!(answer.header("set-cookie").is_empty(), "{answer}");
    }
}

async fn me(rest: &Rest, person: &Person) -> Value {
    person.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json()
}

#[tokio::test]
async fn people_of_a_verified_domain_sign_in_at_their_provider() {
    let setting = Setting::new().await;
    let (first, last) = (&setting.clients[0], setting.clients.last().unwrap());
    let options = first.get("/api/auth/options").await.expect(200).json();
    assert_eq!(options["sso"], true, "{options}");
    // Nobody comes in before the operator has verified the domain, which only the team's own can be.
    let email = [("email", "bob@corp.example")];
    first.query("/api/auth/sso", &email).await.expect(404);
    let refused = setting.server.refused_command(&["sso", "verify-domain", "other.example"]);
    assert!(refused.contains("does not name this domain"), "{refused}");
    setting.server.command(&["sso", "verify-domain", "corp.example"]);

    let ada = setting.sign_in(first, "ada@corp.example").await;
    let is = me(first, &ada).await;
    assert_eq!(
        (&is["person"]["email"], &is["team"]["role"]),
        (&json!("ada@corp.example"), &json!("owner"))
    );
    let shown = setting.owner.ask(first, "GET", "/api/team/sso", Value::Null).await.expect(200);
    assert!(shown.json()["provenAt"].is_string(), "{shown}");
    assert!(!shown.text().contains("a secret of the client"), "{shown}");

    // Whoever is new joins as a member, and is the same person the next time, at any process.
    let bob = me(first, &setting.sign_in(first, "bob@corp.example").await).await;
    assert_eq!(
        (&bob["team"]["role"], &bob["person"]["name"]),
        (&json!("member"), &json!("Of the provider"))
    );
    let again = me(last, &setting.sign_in(last, "bob@corp.example").await).await;
    assert_eq!(again["person"]["id"], bob["person"]["id"]);
    // The provider speaks for its own team: by its session nobody joins another one.
    let eve = json!({ "email": "eve@other.example", "password": PASSWORD });
    let eve = Person::of(&first.post("/api/auth/sign-up", eve).await.expect(201));
    let invitation = json!({ "email": "bob@corp.example" });
    let invited = eve.ask(first, "POST", "/api/team/invitations", invitation).await.expect(201);
    let token = token_of(invited.json()["link"].as_str().unwrap()).to_owned();
    let by_provider = setting.sign_in(first, "bob@corp.example").await;
    let body = json!({ "token": token });
    by_provider.ask(first, "POST", "/api/auth/link", body).await.error(404);

    let audit = setting.owner.ask(first, "GET", "/api/audit", Value::Null).await.expect(200).json();
    let did =
        |action: &str| audit.as_array().unwrap().iter().filter(|it| it["action"] == action).count();
    let done = ["sso.updated", "sso.domain_verified", "member.linked"].map(did);
    assert_eq!(done, [1, 1, 2], "{audit}");
}

#[tokio::test]
async fn what_the_provider_does_not_vouch_for_leads_nowhere() {
    let setting = Setting::proven().await;
    let rest = &setting.clients[0];
    let (cookie, back) = setting.come_back(rest, "bob@corp.example").await;
    let other_state = back.replace("state=", "state=x");
    setting.refused(rest, &cookie, &other_state, 400, "not begun in this browser").await;
    setting.refused(rest, "other=1", &back, 400, "not begun in this browser").await;
    let (other_cookie, _) = setting.come_back(rest, "bob@corp.example").await;
    setting.refused(rest, &other_cookie, &back, 400, "not begun in this browser").await;
    // The provider takes a code once.
    let good = rest.request("GET", &back).header("cookie", &cookie);
    Answer::to(good).await.expect(303);
    setting.refused(rest, &cookie, &back, 502, "invalid_grant").await;

    for (login, words) in [
        ("unverified@corp.example", "does not say that your mail address is verified"),
        ("eve@other.example", "a domain that is not verified for this team"),
    ] {
        let (cookie, back) = setting.come_back(rest, login).await;
        setting.refused(rest, &cookie, &back, 403, words).await;
    }

    // The provider is gone while somebody is on the way back.
    let (cookie, back) = setting.come_back(rest, "bob@corp.example").await;
    let Setting { clients, owner, provider, settings, server: _server } = setting;
    let issuer = provider.stop().await;
    let request = clients[0].request("GET", &back).header("cookie", cookie);
    let answer = Answer::to(request).await.expect(502);
    assert!(answer.text().contains("was not reached (connect_refused)"), "{answer}");
    let mut changed = settings;
    changed["issuer"] = json!(format!("{issuer}/other"));
    let refused = owner.ask(&clients[0], "PUT", "/api/team/sso", changed).await.error(400);
    assert_eq!(refused.issues(), ["issuer"]);
    assert!(refused.text().contains("connect_refused"), "{refused}");
}

#[tokio::test]
async fn a_team_that_enforces_its_provider_takes_passwords_of_its_owner_only() {
    let setting = Setting::proven().await;
    let (rest, email) = (&setting.clients[0], "bob@corp.example");
    setting.sign_in(rest, email).await;
    let link = setting.server.command(&["link", "--email", email]);
    let by_password = Person::by_link(rest, &link, None, PASSWORD).await;
    assert_eq!(me(rest, &by_password).await["team"]["role"], "member");

    assert_eq!(setting.set(json!({ "enforced": true })).await["enforced"], true);
    for rest in &setting.clients {
        eventually("the end of access by a password", async || {
            let answer = by_password.ask(rest, "GET", "/api/inboxes", Value::Null).await;
            (answer.status == 403).then(|| assert_eq!(answer.json()["code"], "sso_required"))
        })
        .await;
        let body = json!({ "email": email, "password": PASSWORD });
        let refused = rest.post("/api/auth/sign-in", body).await.error(403);
        assert_eq!(refused.json()["code"], "sso_required");
    }
    let bob = setting.sign_in(rest, email).await;
    bob.ask(rest, "GET", "/api/inboxes", Value::Null).await.expect(200);
    // The owner can mend the settings when the provider is gone.
    let owner = Person::sign_in(rest, "ada@corp.example", PASSWORD).await;
    owner.ask(rest, "DELETE", "/api/team/sso", Value::Null).await.expect(204);
    eventually("access by a password", async || {
        let answer = by_password.ask(rest, "GET", "/api/inboxes", Value::Null).await;
        (answer.status == 200).then_some(())
    })
    .await;
}
