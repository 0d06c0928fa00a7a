//! People: the first owner, sessions over all processes, and an operator's links.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Person, Rest, eventually, path_of, token_of};

const EMAIL: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";

/// A client of each process, without a key.
fn clients(server: &Deployment) -> Vec<Rest> {
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
        assert_eq!(asked.expect(200).json(), json!({ "email": null, "isNew": true }));
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
