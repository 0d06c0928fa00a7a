//! Teams: people who are invited, come, decide and go; and the end of a team.

use serde_json::{Value, json};
use trapline_tests::{
    Deployment, Inbox, Mail, Person, Rest, Smtp, deliver, eventually, path_of, relay_flags, shared,
    token_of,
};

use crate::people::{PASSWORD, SIGN_UP, clients, mailed_link};

const OWNER: &str = "ada@example.com";

/// The role that a person has in the team of their session, as every process tells.
async fn has_role(clients: &[Rest], person: &Person, role: Value) {
    for rest in clients {
        eventually("a role", async || {
            let me = person.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
            (me["team"]["role"] == role).then_some(())
        })
        .await;
    }
}

/// A mail server that looks at what every link leads to, as people's mail servers do.
async fn scan(rest: &Rest, links: &[String]) {
    for link in links {
        for method in ["GET", "HEAD", "GET", "HEAD"] {
            rest.send(method, path_of(link), Value::Null).await.expect(200);
        }
        rest.get(&format!("/api/auth/link?token={}", token_of(link))).await.expect(200);
    }
}

/// Uses a link in a browser that is signed in, and knows no password.
async fn press(rest: &Rest, person: &Person, link: &str) -> Person {
    let body = json!({ "token": token_of(link) });
    Person::of(&person.ask(rest, "POST", "/api/auth/link", body).await.expect(200))
}

/// The mails go through an SMTP server of the product, as those of an application under test do.
#[tokio::test]
async fn people_are_invited_by_the_mails_that_are_really_sent() {
    let sink = shared();
    let relay = relay_flags(sink.smtp()[0]);
    let flags: Vec<_> = relay.iter().map(String::as_str).collect();
    let server = Deployment::alone(&flags);
    let (mails, clients) = (sink.rest(), clients(&server));
    let rest = &clients[0];
    let inbox = mails.inbox().await;
    let ada = Person::by_link(rest, server.owners_link(), Some(OWNER), PASSWORD).await;
    let invite = async || {
        let wish = json!({ "email": inbox.address });
        let made = ada.ask(rest, "POST", "/api/team/invitations", wish).await.expect(201).json();
        assert_eq!((&made["mailSent"], &made["link"]), (&json!(true), &Value::Null));
        let link = mailed_link(&mails, &inbox, "You are invited to a team").await;
        assert!(path_of(&link).starts_with("/invite?"), "{link}");
        link
    };
    let open = async || {
        let open = ada.ask(rest, "GET", "/api/team/invitations", Value::Null).await.expect(200);
        open.json().as_array().unwrap().len()
    };
    let link = invite().await;
    scan(rest, std::slice::from_ref(&link)).await;
    assert_eq!(open().await, 1, "a scanner accepts nothing");
    let eve = Person::by_link(rest, &link, None, PASSWORD).await;
    assert_eq!(open().await, 0);
    has_role(&clients, &eve, json!("member")).await;
    rest.get(path_of(&link)).await.expect(404);

    let me = eve.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    assert!(me["person"]["verifiedAt"].is_string(), "{me}");
    // What a member may, and may not, is what `can` says.
    let can = |right: &str| me["can"].as_array().unwrap().contains(&json!(right));
    for (right, path) in [
        ("usage.read", "/api/team/usage"),
        ("audit.read", "/api/audit"),
        ("keys.manage", "/api/api-keys"),
    ] {
        let status = if can(right) { 200 } else { 403 };
        assert_eq!(eve.ask(rest, "GET", path, Value::Null).await.status, status, "{right}");
    }
    assert!(can("usage.read") && !can("audit.read"), "{me}");
    for (right, path, new) in [
        ("idps.manage", "/api/idps", json!({ "name": "Ours" })),
        ("mocks.manage", "/api/mocks", json!({ "name": "Ours", "provider": "stripe" })),
    ] {
        let status = if can(right) { 201 } else { 403 };
        assert_eq!(eve.ask(rest, "POST", path, new).await.status, status, "{right}");
    }
    assert!(can("idps.manage") && can("mocks.manage"), "{me}");
    let path = format!("/api/team/members/{}", me["person"]["id"].as_str().unwrap());
    eve.ask(rest, "PATCH", &path, json!({ "role": "admin" })).await.error(403);
    ada.ask(rest, "PATCH", &path, json!({ "role": "admin" })).await.expect(200);
    has_role(&clients, &eve, json!("admin")).await;
    eve.ask(rest, "GET", "/api/audit", Value::Null).await.expect(200);
    eve.ask(rest, "POST", "/api/team/leave", Value::Null).await.expect(204);
    has_role(&clients, &eve, Value::Null).await;
    let refused = eve.ask(rest, "GET", "/api/inboxes", Value::Null).await.error(403);
    assert_eq!(refused.json()["code"], "team_required");

    // Eve is signed in still, so that the button is enough; and nobody else may press it.
    let link = invite().await;
    scan(rest, std::slice::from_ref(&link)).await;
    let body = json!({ "token": token_of(&link) });
    ada.ask(rest, "POST", "/api/auth/link", body).await.error(400);
    has_role(&clients, &eve, Value::Null).await;
    let eve = press(rest, &eve, &link).await;
    has_role(&clients, &eve, json!("member")).await;
}

#[tokio::test]
async fn without_a_relay_the_inviter_hands_the_link_on_and_the_team_over() {
    let server = Deployment::alone(&SIGN_UP);
    let clients = clients(&server);
    let rest = &clients[0];
    let ada = Person::by_link(rest, server.owners_link(), Some(OWNER), PASSWORD).await;
    let wish = json!({ "email": "eve@example.com", "password": PASSWORD });
    let eve = Person::of(&rest.post("/api/auth/sign-up", wish).await.expect(201));
    let wish = json!({ "email": "eve@example.com", "role": "admin" });
    let made = ada.ask(rest, "POST", "/api/team/invitations", wish).await.expect(201).json();
    assert_eq!(made["mailSent"], false);
    let link = made["link"].as_str().unwrap().to_owned();
    scan(rest, std::slice::from_ref(&link)).await;
    let eve = press(rest, &eve, &link).await;
    has_role(&clients, &eve, json!("admin")).await;

    let me = eve.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    let (ours, teams) = (me["team"]["id"].clone(), me["teams"].as_array().unwrap());
    let own = teams.iter().find(|team| team["id"] != ours).unwrap();
    let switched = eve.ask(rest, "POST", "/api/auth/team", json!({ "teamId": own["id"] })).await;
    assert_eq!(switched.expect(200).json()["team"]["role"], "owner");
    ada.ask(rest, "POST", "/api/auth/team", json!({ "teamId": own["id"] })).await.error(404);
    eve.ask(rest, "POST", "/api/auth/team", json!({ "teamId": ours })).await.expect(200);

    let to = json!({ "personId": me["person"]["id"] });
    eve.ask(rest, "POST", "/api/team/transfer", to.clone()).await.error(403);
    ada.ask(rest, "POST", "/api/team/transfer", to).await.expect(200);
    has_role(&clients, &eve, json!("owner")).await;
    has_role(&clients, &ada, json!("admin")).await;
    // Who had it may leave now.
    ada.ask(rest, "POST", "/api/team/leave", Value::Null).await.expect(204);
    let members = eve.ask(rest, "GET", "/api/team/members", Value::Null).await.expect(200).json();
    assert_eq!(members.as_array().unwrap().len(), 1, "{members}");
}

#[tokio::test]
async fn a_deleted_team_is_refused_by_every_process_and_its_rows_go() {
    let server = Deployment::alone(&SIGN_UP);
    let clients = clients(&server);
    let rest = &clients[0];
    let wish = json!({ "email": OWNER, "name": "Ada", "password": PASSWORD });
    let ada = Person::of(&rest.post("/api/auth/sign-up", wish).await.expect(201));
    let team = ada.ask(rest, "GET", "/api/team", Value::Null).await.expect(200).json();
    let team = team["id"].as_str().unwrap().to_owned();
    let key = json!({ "name": "CI", "access": "write" });
    let key = ada.ask(rest, "POST", "/api/api-keys", key).await.expect(201).json();
    let key = key["key"].as_str().unwrap().to_owned();
    let program = server.client(&key);
    let inbox: Inbox = program.inbox().await;
    deliver(&server, &inbox, &Mail::new("secret", "of the team")).await;
    let backstage = server.backstage().await;
    let rows = async || {
        let messages = backstage.docs_of_inbox("message", &inbox.id).await.len();
        messages + backstage.docs_of_inbox("inbox_by_id", &inbox.id).await.len()
    };
    assert_eq!(rows().await, 2);

    let wrong = ada.ask(rest, "DELETE", "/api/team", json!({ "name": "Ada" })).await;
    assert_eq!(wrong.error(400).issues(), ["name"]);
    program.send("DELETE", "/api/team", json!({ "name": "Ada's team" })).await.error(403);
    ada.ask(rest, "DELETE", "/api/team", json!({ "name": "Ada's team" })).await.expect(204);
    for api in server.api() {
        let program = Rest::new(&api, Some(&key));
        eventually("a key that is refused", async || {
            let answer = program.get("/api/inboxes").await;
            (answer.status == 401).then(|| assert_eq!(answer.json()["code"], "unknown_api_key"))
        })
        .await;
    }
    has_role(&clients, &ada, Value::Null).await;
    for smtp in server.smtp() {
        eventually("credentials that are refused", async || {
            let mut smtp = Smtp::hello(smtp).await;
            let whole = format!("\0{}\0{}", inbox.username, inbox.password);
            let whole = data_encoding::BASE64.encode(whole.as_bytes());
            (smtp.command(&format!("AUTH PLAIN {whole}")).await.code == 535).then_some(())
        })
        .await;
    }
    eventually("rows that are gone", async || (rows().await == 0).then_some(())).await;
    // Only the operator reads what happened in the team.
    let log = server.command(&["audit", "--team", &team]);
    let actions =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["action"].clone());
    let actions: Vec<_> = actions.collect();
    for action in ["team.deleted", "api_key.created"] {
        assert!(actions.contains(&json!(action)), "{action} is not in {log}");
    }
    assert!(!log.contains(&key), "{log}");
    let nobodys = "00000000000000000000000000";
    let refused = server.refused_command(&["audit", "--team", nobodys]);
    assert!(refused.contains("no audit log is kept of such a team"), "{refused}");
    // Whoever deleted it makes nothing for it any more, and the installation goes on.
    ada.ask(rest, "POST", "/api/inboxes", json!({ "name": "More" })).await.error(403);
    server.rest().inbox().await;
}

#[tokio::test]
async fn the_first_team_stays() {
    let server = Deployment::alone(&[]);
    let rest = server.anonymous();
    let ada = Person::by_link(&rest, server.owners_link(), Some(OWNER), PASSWORD).await;
    let me = ada.ask(&rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
    let name = json!({ "name": me["team"]["name"] });
    let refused = ada.ask(&rest, "DELETE", "/api/team", name).await.error(403);
    assert_eq!(refused.json()["code"], "first_team");
}
