//! People: the first owner, sessions over all processes, and an operator's links.

use serde_json::{Value, json};
use trapline_tests::{
    Answer, Deployment, Inbox, Person, Rest, eventually, is_cluster, path_of, relay_flags, shared,
    token_of,
};

/// Left out, a cluster lets nobody sign up.
pub(crate) const SIGN_UP: [&str; 2] = ["--sign-up", "true"];
const EMAIL: &str = "ada@example.com";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A client of each process, without a key.
pub(crate) fn clients(server: &Deployment) -> Vec<Rest> {
    server.api().iter().map(|api| Rest::new(api, None)).collect()
}

async fn is_over(clients: &[Rest], person: &Person) {
    for rest in clients {
        eventually("the end of a session", async || {
            let answer = person.ask(rest, "GET", "/api/auth/me", Value::Null).await;
            (answer.status == 401).then(|| assert_eq!(answer.json()["code"], "session_over"))
        })
        .await;
    }
}

#[tokio::test]
async fn the_operator_becomes_the_owner_and_uses_every_process() {
    let server = Deployment::alone(&[]);
    let clients = clients(&server);
    let rest = &clients[0];
    let link = server.owners_link().to_owned();

    // Whoever opens every link, such as a scanner, changes nothing.
    for _ in 0..2 {
        let page = rest.get(path_of(&link)).await.expect(200);
        assert!(page.text().contains("<form method=\"post\">"), "{page}");
        let asked = rest.get(&format!("/api/auth/link?token={}", token_of(&link))).await;
        assert_eq!(asked.expect(200).json()["purpose"], "first_owner");
        // A browser gets the console instead, which asks the same.
        let page = rest.request("GET", path_of(&link)).header("accept", "text/html");
        let page = Answer::to(page).await.expect(200);
        assert!(page.text().contains("<div id=\"app\">"), "{page}");
    }
    let ada = Person::by_link(rest, &link, Some(EMAIL), PASSWORD).await;
    rest.get(path_of(&link)).await.expect(404);
    for rest in &clients {
        let me = ada.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
        assert_eq!((&me["person"]["email"], &me["team"]["role"]), (&json!(EMAIL), &json!("owner")));
        let inboxes = ada.ask(rest, "GET", "/api/inboxes", Value::Null).await.expect(200).json();
        assert_eq!(inboxes[0]["id"], server.default_inbox());
        // The inbox of a key's team is the same one.
        server.rest().get(&format!("/api/inboxes/{}", server.default_inbox())).await.expect(200);
    }

    // Ada takes another name; every process knows it, and the team's log has it.
    let name = json!({ "name": "Ada Lovelace" });
    ada.ask(rest, "PATCH", "/api/auth/me", name.clone()).await.expect(200);
    for rest in &clients {
        let members = ada.ask(rest, "GET", "/api/team/members", Value::Null).await.expect(200);
        assert_eq!(members.json()[0]["name"], name["name"]);
        let told = ada.ask(rest, "GET", "/api/audit", Value::Null).await.expect(200).json();
        assert_eq!(told[0]["action"], "member.renamed");
        assert_eq!(told[0]["target"]["name"], name["name"]);
    }
    Answer::to(server.rest().request("PATCH", "/api/auth/me").json(&name)).await.error(403);

    let again = Person::sign_in(rest, EMAIL, PASSWORD).await;
    again.ask(rest, "POST", "/api/auth/sign-out", Value::Null).await.expect(204);
    is_over(&clients, &again).await;
    ada.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200);

    // Somebody forgot the password; this server sends no mail, but its operator makes links.
    let refused = server.refused_command(&["link", "--email", "eve@example.com"]);
    assert!(refused.contains("nobody has this address"), "{refused}");
    let link = server.command(&["link", "--email", EMAIL]);
    let new = "another horse battery";
    let by_link = Person::by_link(rest, &link, None, new).await;
    is_over(&clients, &ada).await;
    by_link.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200);
    let old = json!({ "email": EMAIL, "password": PASSWORD });
    rest.post("/api/auth/sign-in", old).await.error(401);
    Person::sign_in(rest, EMAIL, new).await;
}

#[tokio::test]
async fn the_owner_comes_in_with_nothing_typed_and_sets_address_and_password_later() {
    let server = Deployment::alone(&[]);
    let clients = clients(&server);
    let rest = &clients[0];
    let nobody = Person::of(
        &rest.post("/api/auth/link", json!({ "token": token_of(server.owners_link()) })).await,
    );
    for rest in &clients {
        let me = nobody.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
        assert_eq!((&me["person"]["email"], &me["team"]["role"]), (&json!(""), &json!("owner")));
    }
    let form = json!({ "email": EMAIL, "name": "Ada", "password": PASSWORD });
    let sent =
        clients.iter().map(|rest| nobody.ask(rest, "POST", "/api/auth/account", form.clone()));
    let answers = futures_util::future::join_all(sent).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
    is_over(&clients, &nobody).await;
    let ada = Person::sign_in(rest, EMAIL, PASSWORD).await;
    let me = ada.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert_eq!((&me["person"]["name"], &me["team"]["role"]), (&json!("Ada"), &json!("owner")));
    let again = ada.ask(rest, "POST", "/api/auth/account", form).await.error(400);
    assert_eq!(again.issues(), ["email"]);
}

/// The link of the next mail in an inbox with this subject.
pub(crate) async fn mailed_link(sink: &Rest, inbox: &Inbox, subject: &str) -> String {
    let query = [("subject", subject), ("timeout", "55")];
    let answer = sink.query(&inbox.path("/messages/wait"), &query).await.expect(200).json();
    let message = &answer["message"];
    let id = message["id"].as_str().unwrap();
    sink.delete(&format!("/api/messages/{id}")).await.expect(204);
    message["links"][0]["url"].as_str().unwrap().to_owned()
}

/// A mail server that looks at what every link leads to.
async fn scan(rest: &Rest, link: &str) {
    for _ in 0..2 {
        rest.get(path_of(link)).await.expect(200);
        rest.get(&format!("/api/auth/link?token={}", token_of(link))).await.expect(200);
    }
}

/// The mails go through an SMTP server of the product, as those of an application under test do.
#[tokio::test]
async fn from_sign_up_to_the_first_mail_by_the_mails_that_are_really_sent() {
    let sink = shared();
    let relay = relay_flags(sink.smtp()[0]);
    let flags: Vec<_> = relay.iter().map(String::as_str).chain(SIGN_UP).collect();
    let server = Deployment::alone(&flags);
    let (mails, rest) = (sink.rest(), server.anonymous());
    let inbox = mails.inbox().await;
    let email = inbox.address.as_str();

    let wish = json!({ "email": email, "name": "Ada", "password": PASSWORD });
    let answer = rest.post("/api/auth/sign-up", wish.clone()).await.expect(202).json();
    assert_eq!(answer["mailSent"], true);
    let link = mailed_link(&mails, &inbox, "Confirm your address").await;
    assert!(path_of(&link).starts_with("/verify?"), "{link}");
    scan(&rest, &link).await;
    let early = json!({ "email": email, "password": PASSWORD });
    rest.post("/api/auth/sign-in", early).await.error(401);
    let ada = Person::by_link(&rest, &link, None, "").await;
    let me = ada.ask(&rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert_eq!((&me["person"]["email"], &me["team"]["role"]), (&json!(email), &json!("owner")));
    assert!(me["person"]["verifiedAt"].is_string(), "{me}");
    rest.get(path_of(&link)).await.expect(404);

    // Whoever is signed in waits for a mail like a program with a key.
    let own = ada.ask(&rest, "POST", "/api/inboxes", json!({ "name": "Mine" })).await;
    let own = Inbox::of(&own.expect(201).json());
    let test = ada.ask(&rest, "POST", &own.path("/test-message"), Value::Null).await.expect(201);
    let waited = ada.ask(&rest, "GET", &own.path("/messages/wait?timeout=10"), Value::Null).await;
    assert_eq!(waited.expect(200).json()["message"]["id"], test.json()["id"]);

    // The password is forgotten.
    for stranger in ["nobody@trapline.test", email] {
        let answer = rest.post("/api/auth/reset", json!({ "email": stranger })).await.expect(202);
        assert_eq!(answer.json()["mailSent"], true);
    }
    let link = mailed_link(&mails, &inbox, "Choose a new password").await;
    assert!(path_of(&link).starts_with("/reset?"), "{link}");
    scan(&rest, &link).await;
    ada.ask(&rest, "GET", "/api/auth/me", Value::Null).await.expect(200);
    let new = "another horse battery";
    let ada_again = Person::by_link(&rest, &link, None, new).await;
    is_over(std::slice::from_ref(&rest), &ada).await;
    rest.get(path_of(&link)).await.expect(404);
    ada_again.ask(&rest, "GET", &own.path(""), Value::Null).await.expect(200);

    // Signing up again changes nothing, and only the mail tells that there is an account.
    let answer = rest.post("/api/auth/sign-up", wish).await.expect(202).json();
    assert_eq!(answer["mailSent"], true);
    mailed_link(&mails, &inbox, "You have an account already").await;
    Person::sign_in(&rest, email, new).await;
}

/// From one mailbox to another, by the mails that are really sent, with two processes that press at once.
#[tokio::test]
async fn an_address_changes_by_the_mail_to_the_new_one() {
    let sink = shared();
    let relay = relay_flags(sink.smtp()[0]);
    let flags: Vec<_> = relay.iter().map(String::as_str).chain(SIGN_UP).collect();
    let server = Deployment::alone(&flags);
    let clients = clients(&server);
    let (mails, rest) = (sink.rest(), &clients[0]);
    let (old, new, taken) = (mails.inbox().await, mails.inbox().await, mails.inbox().await);
    let sign_up = async |inbox: &Inbox| {
        let wish = json!({ "email": inbox.address, "name": "Ada", "password": PASSWORD });
        rest.post("/api/auth/sign-up", wish).await.expect(202);
        let link = mailed_link(&mails, inbox, "Confirm your address").await;
        Person::by_link(rest, &link, None, "").await
    };
    let (ada, eve) = (sign_up(&old).await, sign_up(&taken).await);
    let ask = async |inbox: &Inbox, password: &str| {
        let wish = json!({ "email": inbox.address, "password": password });
        ada.ask(rest, "POST", "/api/auth/email", wish).await
    };
    assert_eq!(ask(&new, "not the password").await.error(400).issues(), ["password"]);
    let answers = [ask(&taken, PASSWORD).await, ask(&new, PASSWORD).await];
    let [known, unknown] = answers.map(|answer| answer.expect(202).json());
    assert_eq!(known, unknown);
    let query = [("subject", "address of your account already"), ("timeout", "55")];
    let told = mails.query(&taken.path("/messages/wait"), &query).await.expect(200).json();
    assert_eq!(told["message"]["links"], json!([]));

    let link = mailed_link(&mails, &new, "Confirm your new address").await;
    assert!(path_of(&link).starts_with("/verify?"), "{link}");
    scan(rest, &link).await;
    // Somebody else who got the mail is not let in by it.
    let use_it = json!({ "token": token_of(&link) });
    let refused = eve.ask(rest, "POST", "/api/auth/link", use_it.clone()).await;
    assert_eq!(refused.error(400).issues(), ["password"]);
    let me = ada.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert_eq!(me["person"]["email"], old.address);
    let uses = clients
        .iter()
        .chain(&clients)
        .map(|rest| ada.ask(rest, "POST", "/api/auth/link", use_it.clone()));
    let answers = futures_util::future::join_all(uses).await;
    let (done, late): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!(done.len(), 1, "{answers:?}");
    assert!(late.iter().all(|answer| [400, 404].contains(&answer.status)), "{late:?}");
    let person = &done[0].json()["person"];
    assert_eq!(person["email"], new.address);
    assert!(person["verifiedAt"].is_string(), "{person}");
    is_over(&clients, &ada).await;
    let notice = [("subject", "Your address was changed"), ("timeout", "55")];
    let notice = mails.query(&old.path("/messages/wait"), &notice).await.expect(200).json();
    assert!(!notice.to_string().contains(&new.address), "{notice}");
    for (email, status) in [(&old.address, 401), (&new.address, 200)] {
        let form = json!({ "email": email, "password": PASSWORD });
        rest.post("/api/auth/sign-in", form).await.expect(status);
    }
}

#[tokio::test]
async fn a_server_that_sends_no_mail_is_no_dead_end() {
    let server = Deployment::alone(&SIGN_UP);
    let rest = server.anonymous();
    let wish = json!({ "email": EMAIL, "password": PASSWORD });
    let answer = rest.post("/api/auth/sign-up", wish.clone()).await.expect(201);
    let ada = Person::of(&answer);
    assert!(answer.json()["person"]["verifiedAt"].is_null(), "{answer}");
    assert_eq!(rest.post("/api/auth/sign-up", wish).await.error(400).issues(), ["email"]);
    let own = ada.ask(&rest, "POST", "/api/inboxes", json!({ "name": "Mine" })).await.expect(201);
    let own = Inbox::of(&own.json());
    // The team is the person's own; the first team's key sees nothing of it.
    server.rest().get(&own.path("")).await.expect(404);
    ada.ask(&rest, "POST", "/api/auth/verify", Value::Null).await.error(409);
    let answer = rest.post("/api/auth/reset", json!({ "email": EMAIL })).await.expect(202).json();
    assert_eq!(answer["mailSent"], false);
    assert!(answer["message"].as_str().unwrap().contains("trapline link --email"), "{answer}");
    let link = server.command(&["link", "--email", EMAIL]);
    let ada = Person::by_link(&rest, &link, None, "another horse battery").await;
    let me = ada.ask(&rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert!(me["person"]["verifiedAt"].is_string(), "{me}");

    // Another address comes by a link too, which the answer has.
    let wish = json!({ "email": "ada@example.org", "password": "another horse battery" });
    let asked = ada.ask(&rest, "POST", "/api/auth/email", wish).await.expect(202).json();
    assert_eq!(asked["mailSent"], false);
    let link = asked["link"].as_str().unwrap();
    scan(&rest, link).await;
    let used = json!({ "token": token_of(link) });
    let me = ada.ask(&rest, "POST", "/api/auth/link", used).await.expect(200).json();
    assert_eq!(me["person"]["email"], "ada@example.org");
    assert!(me["person"]["verifiedAt"].is_null(), "{me}");
    Person::sign_in(&rest, "ada@example.org", "another horse battery").await;
}

#[tokio::test]
async fn where_nobody_signs_in_whoever_reaches_the_port_is_the_owner() {
    if is_cluster() {
        let refused = Deployment::start().refused_command(&["api", "--sign-in", "none"]);
        assert!(refused.contains("--sign-in"), "{refused}");
        return;
    }
    let server = Deployment::with(&["--sign-in", "none"]);
    let anybody = server.anonymous();
    let options = anybody.get("/api/auth/options").await.expect(200).json();
    assert_eq!((&options["signIn"], &options["signUp"]), (&json!(false), &json!(false)));
    let inbox = anybody.post("/api/inboxes", json!({ "name": "Mine" })).await.expect(201).json();
    let me = anybody.get("/api/auth/me").await.expect(200).json();
    assert_eq!(me["team"]["role"], "owner");
    let shown = server.rest().get(&format!("/api/inboxes/{}", inbox["id"].as_str().unwrap())).await;
    shown.expect(200);
    // A page of another name that was made to lead here, and one that sends what it may send to anybody.
    let rebound = anybody.request("GET", "/api/inboxes").header("host", "evil.example");
    assert_eq!(Answer::to(rebound).await.expect(403).json()["code"], "unknown_host");
    let sent = anybody.request("POST", "/api/inboxes").header("origin", "http://evil.example");
    let sent = Answer::to(sent.json(&json!({ "name": "Theirs" }))).await;
    assert_eq!(sent.expect(403).json()["code"], "cross_site");
}
