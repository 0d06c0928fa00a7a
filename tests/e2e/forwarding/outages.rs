//! A relay that goes away, or says nothing, and comes back.

use serde_json::{Value, json};
use trapline_tests::{Deployment, Mail, Relay, deliver, eventually, relay_flags};

use super::{
    Team,
    gate::{Gate, State},
};

const ADA: &str = "ada@outage.example";
const BOB: &str = "bob@outage.example";

/// A deployment whose relay is behind a gate.
async fn gated() -> (Deployment, Relay, Gate) {
    let relay = Relay::start();
    let gate = Gate::before(relay.address()).await;
    let flags = relay_flags(gate.address());
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    (Deployment::alone(&flags), relay, gate)
}

#[tokio::test]
async fn a_relay_that_was_away_gets_what_waited() {
    let (server, relay, gate) = gated().await;
    let team = Team { server: &server, rest: server.rest(), relay };
    team.agreed(&[ADA]).await;
    let inbox = team.inbox(&[ADA], Value::Null).await;
    gate.turn(State::Closed).await;
    let message = deliver(&server, &inbox, &Mail::new("meanwhile", "x")).await;
    let waiting = team.when(&message, ADA, "retrying").await;
    assert_eq!(waiting["error"], "connect_failed", "{waiting}");
    team.add(BOB).await;
    gate.turn(State::Open).await;
    // Letters are tried again after 15 seconds, forwards after a minute, or when somebody asks.
    let link = team.link(BOB).await;
    server.anonymous().post(&link, Value::Null).await.expect(200);
    for email in [ADA, BOB] {
        team.forward(&message, &[email]).await;
        team.when(&message, email, "sent").await;
    }
    assert_eq!(team.forwards(&message).await.len(), 3);
}

#[tokio::test]
async fn a_silent_relay_is_in_nobodys_way() {
    let (server, relay, gate) = gated().await;
    let team = Team { server: &server, rest: server.rest(), relay };
    team.agreed(&[ADA]).await;
    let inbox = team.inbox(&[ADA], Value::Null).await;
    gate.turn(State::Silent).await;
    let mut messages = Vec::new();
    for number in 0..12 {
        messages.push(deliver(&server, &inbox, &Mail::new(&format!("n{number}"), "x")).await);
    }
    // Forwards have at most three connections of each worker, the rest waits for its turn.
    eventually("silent connections", async || (gate.held() >= 3).then_some(())).await;
    for message in &messages {
        assert_eq!(team.rest.message(message).await["id"], json!(message));
    }
    let states = team.forwards(&messages[0]).await;
    assert!(states.iter().all(|forward| forward["status"] == "pending"), "{states:?}");
    gate.turn(State::Open).await;
    // Connections that were lost are tried again in a minute; what had none is sent now.
    let settled = async |message: &String| {
        eventually("an attempt", async || {
            let forward = team.forwards(message).await.pop()?;
            (forward["status"] != "pending").then_some(forward)
        })
        .await
    };
    let mut sent = 0;
    for message in &messages {
        let forward = settled(message).await;
        sent += usize::from(forward["status"] == "sent");
        if forward["status"] == "retrying" {
            assert_eq!(forward["error"], "connection_lost", "{forward}");
        }
    }
    assert!(sent > 0, "nothing was sent after the silence");
    assert_eq!(team.forwarded(ADA).len(), sent);
}
