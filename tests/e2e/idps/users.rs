//! Test users of a provider.

use serde_json::{Value, json};
use trapline_tests::{Rest, shared};

use super::{path_of, provider};

async fn add(rest: &Rest, idp: &Value, user: Value) -> Value {
    rest.post(&format!("{}/users", path_of(idp)), user).await.expect(201).json()
}

#[tokio::test]
async fn users_are_added_changed_and_removed() {
    let server = shared();
    let rest = server.rest();
    let idp = provider(&rest, "https://app.example/").await;
    let inbox = rest.inbox().await;
    let email = inbox.address.replace('@', "+signup@");
    let ada = add(&rest, &idp, json!({ "email": email, "name": "Ada" })).await;
    assert_eq!((&ada["subject"], &ada["inboxId"]), (&ada["id"], &json!(inbox.id)));
    assert_eq!((&ada["groups"], &ada["claims"]), (&json!([]), &json!({})));
    let bob = json!({
        "email": "bob@example.com", "name": "Bob", "groups": ["ops"], "subject": "bob",
        "claims": { "role": { "of": ["x", 1] } }
    });
    let bob = add(&rest, &idp, bob).await;
    assert_eq!((&bob["inboxId"], &bob["claims"]["role"]["of"][1]), (&Value::Null, &json!(1)));
    let users = rest.get(&format!("{}/users", path_of(&idp))).await.expect(200).json();
    assert_eq!(users, json!([ada, bob]));

    let of = |user: &Value| format!("{}/users/{}", path_of(&idp), user["id"].as_str().unwrap());
    let change = json!({ "claims": {}, "subject": "robert" });
    let changed = rest.patch(&of(&bob), change).await.expect(200).json();
    assert_eq!((&changed["claims"], &changed["groups"]), (&json!({}), &json!(["ops"])));
    // The subject that nobody has any more is free.
    let carol = json!({ "email": "bob@example.com", "name": "Carol", "subject": "bob" });
    add(&rest, &idp, carol).await;

    let auto = json!({ "autoLoginUserId": bob["id"] });
    rest.patch(&path_of(&idp), auto).await.expect(200);
    rest.delete(&of(&bob)).await.expect(204);
    rest.delete(&of(&bob)).await.error(404);
    let shown = rest.get(&path_of(&idp)).await.expect(200).json();
    assert!(shown["autoLoginUserId"].is_null(), "{shown}");
}

#[tokio::test]
async fn users_that_would_puzzle_are_refused() {
    let server = shared();
    let rest = server.rest();
    let idp = provider(&rest, "https://app.example/").await;
    let users = format!("{}/users", path_of(&idp));
    let wrong = json!({
        "email": "nobody", "name": "x", "groups": ["a", ""],
        "claims": { "iss": "https://other.example", "sub": "me", "role": "x" }
    });
    let issues = rest.post(&users, wrong).await.error(400).issues();
    assert_eq!(issues, ["email", "groups[1]", "claims.iss", "claims.sub"]);
    let ada = json!({ "email": "ada@example.com", "name": "Ada", "subject": "ada" });
    add(&rest, &idp, ada.clone()).await;
    let taken = rest.post(&users, ada.clone()).await.error(400);
    assert_eq!(taken.json()["issues"][0]["code"], "taken");
    // Subjects are of one provider.
    let other = provider(&rest, "https://app.example/").await;
    add(&rest, &other, ada).await;
}

/// Whoever makes the same user at once gets one.
#[tokio::test]
async fn a_subject_is_one_users_however_many_ask() {
    let server = shared();
    let clients: Vec<_> =
        server.api().iter().map(|api| Rest::new(api, Some(server.team().key()))).collect();
    let idp = provider(&clients[0], "https://app.example/").await;
    let users = format!("{}/users", path_of(&idp));
    let ada = json!({ "email": "ada@example.com", "name": "Ada", "subject": "ada" });
    let mut all = tokio::task::JoinSet::new();
    for number in 0..16 {
        let (rest, users, ada) =
            (clients[number % clients.len()].clone(), users.clone(), ada.clone());
        all.spawn(async move { rest.post(&users, ada).await.status });
    }
    let mut made = all.join_all().await;
    made.retain(|status| *status == 201);
    assert_eq!(made, [201]);
    let listed = clients[0].get(&users).await.expect(200).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}
