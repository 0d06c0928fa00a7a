//! Relays that are not there, and relays that refuse.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Mail, deliver, shared};

use super::Team;

#[tokio::test]
async fn without_a_relay_what_needs_one_says_so() {
    let server = Deployment::start();
    let rest = server.rest();
    let status = rest.get("/api/forwarding-status").await.expect(200).json();
    assert_eq!(status, json!({ "outboundEnabled": false, "maxRecipients": 10 }));
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("stays", "x")).await;
    let email = "ada@nowhere.example";
    let requests = [
        ("POST", "/api/forward-addresses".to_owned(), json!({ "email": email })),
        ("POST", format!("/api/messages/{message}/forward"), json!({ "to": [email] })),
        ("PUT", inbox.path("/forwarding"), json!({ "enabled": true, "to": [email] })),
    ];
    for (method, path, body) in requests {
        let answer = rest.send(method, &path, body).await.error(409);
        assert_eq!(answer.json()["code"], "outbound_disabled", "{answer}");
    }
    let off = json!({ "enabled": false, "to": [], "match": null });
    rest.send("PUT", &inbox.path("/forwarding"), off.clone()).await.expect(200);
    assert_eq!(rest.get(&inbox.path("/forwarding")).await.expect(200).json(), off);
}

#[tokio::test]
async fn only_whom_the_relay_refuses_is_left_out() {
    let server = shared();
    let team = Team::on(&server);
    let status = team.rest.get("/api/forwarding-status").await.expect(200).json();
    assert_eq!(status["outboundEnabled"], true);
    let [ada, bob, eve] = ["ada@refusal.example", "bob@refusal.example", "eve@refusal.example"];
    team.agreed(&[ada, bob, eve]).await;
    let inbox = team.inbox(&[ada, bob, eve], Value::Null).await;
    team.relay.refuse(bob, 450);
    team.relay.refuse(eve, 550);
    let message = deliver(&server, &inbox, &Mail::new("to three", "x")).await;
    assert_eq!(team.when(&message, ada, "sent").await["error"], Value::Null);
    assert_eq!(team.when(&message, bob, "retrying").await["error"], "smtp_4xx");
    assert_eq!(team.when(&message, eve, "failed").await["error"], "smtp_5xx");
    assert_eq!(team.forwarded(ada).len(), 1);
    // What is asked for by hand is a forward of its own, and has not to wait.
    team.relay.relent(bob);
    team.forward(&message, &[bob]).await;
    team.when(&message, bob, "sent").await;
    let standing: Vec<_> = team.forwards(&message).await;
    assert_eq!(standing.len(), 4, "{standing:?}");
}
