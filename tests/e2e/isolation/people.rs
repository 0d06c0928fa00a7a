//! The same for whoever is signed in, who can call routes for people alone too: keys, members,
//! invitations, sessions, and what a body names.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use trapline_tests::{Deployment, Person, Relayed, Rest, eventually, relay_flags, shared_relay};

use super::{ADDRESSES, Fixture, Operation, operations};
use crate::people::PASSWORD;

const OWNER: &str = "our-owner@example.com";
/// The walk signs in more often than people do.
const FLAGS: [&str; 4] = ["--sign-up", "true", "--sign-in-rate", "0"];

/// What the people of a team have.
struct Ours {
    team: String,
    member: String,
    key: String,
    invitation: String,
    session: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The link of the mail that an address gets, by which somebody signs up or joins.
async fn mailed_link(email: &str) -> String {
    let of_mail = |mail: &Relayed| ["/verify?", "/invite?"].iter().find_map(|path| mail.link(path));
    let link = || shared_relay().mails(email).iter().find_map(of_mail);
    eventually("a mail with a link", async || link()).await
}

/// An address that nobody had.
fn new_email() -> String {
    format!("somebody{}@example.com", ADDRESSES.fetch_add(1, Ordering::Relaxed))
}

/// Owner of a team of their own.
async fn stranger(rest: &Rest) -> Person {
    let email = new_email();
    let wish = json!({ "email": email, "name": "Eve", "password": PASSWORD });
    rest.post("/api/auth/sign-up", wish).await.expect(202);
    Person::by_link(rest, &mailed_link(&email).await, None, "").await
}

impl Ours {
    async fn of(rest: &Rest, owner: &Person) -> Self {
        let make = async |path: &str, body: Value| {
            owner.ask(rest, "POST", path, body).await.expect(201).json()
        };
        let key = make("/api/api-keys", json!({ "name": "Our key", "access": "read" })).await;
        let invitation = make("/api/team/invitations", json!({ "email": new_email() })).await;
        let email = new_email();
        make("/api/team/invitations", json!({ "email": email })).await;
        let member = Person::by_link(rest, &mailed_link(&email).await, None, PASSWORD).await;
        let me = member.ask(rest, "GET", "/api/auth/me", Value::Null).await.expect(200).json();
        let other = Person::sign_in(rest, OWNER, PASSWORD).await;
        let sessions = other.ask(rest, "GET", "/api/auth/sessions", Value::Null).await.expect(200);
        let sessions = sessions.json();
        let mut sessions = sessions.as_array().unwrap().iter();
        let session = sessions.find(|session| session["isCurrent"] == true).unwrap();
        Self {
            team: text(&me["team"]["id"]),
            member: text(&me["person"]["id"]),
            key: text(&key["id"]),
            invitation: text(&invitation["id"]),
            session: text(&session["id"]),
        }
    }

    fn fill(&self, path: &str) -> String {
        let id = match path.split("/{").next() {
            Some("/api/api-keys") => &self.key,
            Some("/api/team/invitations") => &self.invitation,
            Some("/api/team/members") => &self.member,
            Some("/api/auth/sessions") => &self.session,
            other => panic!("{path}: give the walk an id for {other:?}"),
        };
        path.replace("{id}", id)
    }

    /// What the owner sees of it, but for when it was last used.
    async fn state(rest: &Rest, owner: &Person) -> Value {
        let mut state = Vec::new();
        for list in ["api-keys", "team/members", "team/invitations", "auth/sessions"] {
            let path = format!("/api/{list}");
            let mut all = owner.ask(rest, "GET", &path, Value::Null).await.expect(200).json();
            for one in all.as_array_mut().unwrap() {
                let one = one.as_object_mut().unwrap();
                one.retain(|field, _| !field.starts_with("last"));
            }
            state.push(all);
        }
        json!(state)
    }
}

#[tokio::test]
async fn whoever_is_signed_in_to_another_team_finds_nothing_of_ours() {
    let relay = relay_flags(shared_relay().address());
    let flags: Vec<_> = relay.iter().map(String::as_str).chain(FLAGS).collect();
    let server = Deployment::alone(&flags);
    let rest = &server.anonymous();
    let owner = Person::by_link(rest, server.owners_link(), Some(OWNER), PASSWORD).await;
    let eve = stranger(rest).await;
    let program = server.rest();
    let fixture = Fixture::of(&server, &program, "/api/idps/").await;
    let ours = Ours::of(rest, &owner).await;
    let fill = |operation: &Operation| {
        let path = &operation.path;
        if operation.for_people { ours.fill(path) } else { fixture.fill(path) }
    };
    let operations = operations(&program).await;
    let (with_id, lists): (Vec<_>, Vec<_>) = operations.iter().partition(|it| it.has_id());
    assert!(with_id.iter().filter(|it| it.for_people).count() >= 5, "{with_id:?}");

    let before = (fixture.state(&program).await, Ours::state(rest, &owner).await);
    for operation in &with_id {
        let (method, body) = (&operation.method, operation.body.clone());
        let status = eve.ask(rest, method, &fill(operation), body).await.status;
        assert_eq!(status, 404, "{operation:?}");
        let after = (fixture.state(&program).await, Ours::state(rest, &owner).await);
        assert_eq!(after, before, "{operation:?}");
    }
    for (path, body) in [
        ("/api/auth/team", json!({ "teamId": ours.team })),
        ("/api/team/transfer", json!({ "personId": ours.member })),
        ("/api/inboxes", json!({ "name": "Theirs", "projectId": fixture.project })),
        ("/api/webhooks", json!({ "url": "http://hooks.invalid/", "inboxId": fixture.inbox.id })),
    ] {
        let status = eve.ask(rest, "POST", path, body).await.status;
        assert!([400, 404].contains(&status), "{path}: {status}");
    }

    // Whatever is listed has ids and names of their own team only.
    let secrets = [OWNER, "Ours", "Our key", &ours.team, &ours.member, &ours.invitation];
    for operation in lists.iter().filter(|it| it.method == "GET") {
        let answer = eve.ask(rest, "GET", &operation.path, Value::Null).await;
        for secret in secrets {
            assert!(!answer.text().contains(secret), "{secret} in {answer}");
        }
    }

    // The requests themselves are good ones: the owner gets answers.
    for operation in with_id.iter().filter(|it| it.for_people) {
        let ours = Ours::of(rest, &owner).await;
        let (method, body) = (&operation.method, operation.body.clone());
        let path = ours.fill(&operation.path);
        let status = owner.ask(rest, method, &path, body).await.status;
        assert!((200..300).contains(&status), "{operation:?} of the owner got {status}");
    }
}
