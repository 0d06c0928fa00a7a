//! Inboxes: their records, credentials, bounds and ends.

use std::{net::SocketAddr, time::Duration};

use data_encoding::BASE64;
use futures_util::future::join_all;
use serde_json::{Value, json};
use trapline_tests::{Inbox, Mail, Smtp, deliver, eventually, shared};

#[tokio::test]
async fn an_inbox_record_says_how_to_deliver_into_it() {
    let server = shared();
    let rest = server.rest();
    let record = rest.post("/api/inboxes", json!({ "name": "Sign-up" })).await.expect(201).json();
    let inbox = Inbox::of(&record);
    let ports = server.smtp().into_iter().zip(server.smtps());
    let told = &record["smtp"];
    let is_told = |(smtp, smtps): (SocketAddr, SocketAddr)| {
        told["port"] == smtp.port() && told["tlsPort"] == smtps.port()
    };
    assert!(ports.into_iter().any(is_told), "{told}");
    let expected = json!({
        "id": inbox.id, "name": "Sign-up", "projectId": null, "maxMessages": 1000,
        "expiresAt": null, "createdAt": record["createdAt"], "messageCount": 0, "unreadCount": 0,
        "smtp": {
            "host": "127.0.0.1", "port": told["port"], "tlsPort": told["tlsPort"],
            "username": inbox.username, "password": inbox.password,
        },
        "address": format!("{}@trapline.test", inbox.username),
    });
    assert_eq!(record, expected);
    assert_eq!(rest.get(&inbox.path("")).await.expect(200).json(), expected);
    let list = rest.get("/api/inboxes").await.expect(200).json();
    assert!(list.as_array().unwrap().contains(&expected));
    let change = json!({ "name": "Sign-in", "maxMessages": 7 });
    let changed = rest.patch(&inbox.path(""), change).await.expect(200).json();
    assert_eq!((changed["name"].as_str(), &changed["maxMessages"]), (Some("Sign-in"), &json!(7)));
    assert_eq!(changed["smtp"], expected["smtp"]);
}

#[tokio::test]
async fn counts_follow_what_happens() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let counts = async || {
        let record = rest.get(&inbox.path("")).await.expect(200).json();
        (record["messageCount"].as_u64().unwrap(), record["unreadCount"].as_u64().unwrap())
    };
    assert_eq!(counts().await, (0, 0));
    let first = deliver(&server, &inbox, &Mail::new("1", "x")).await;
    assert_eq!(counts().await, (1, 1));
    deliver(&server, &inbox, &Mail::new("2", "x")).await;
    let path = format!("/api/messages/{first}");
    rest.patch(&path, json!({ "isRead": true })).await.expect(200);
    assert_eq!(counts().await, (2, 1));
    rest.patch(&path, json!({ "isRead": false })).await.expect(200);
    assert_eq!(counts().await, (2, 2));
    rest.patch(&inbox.path("/messages"), Value::Null).await.expect(200);
    assert_eq!(counts().await, (2, 0));
    deliver(&server, &inbox, &Mail::new("3", "x")).await;
    assert_eq!(counts().await, (3, 1));
    rest.delete(&path).await.expect(204);
    assert_eq!(counts().await, (2, 1));
    rest.delete(&inbox.path("/messages")).await.expect(204);
    assert_eq!(counts().await, (0, 0));
}

async fn login_code(server: &trapline_tests::Deployment, user: &str, password: &str) -> u16 {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let response = BASE64.encode(format!("\0{user}\0{password}").as_bytes());
    smtp.command(&format!("AUTH PLAIN {response}")).await.code
}

#[tokio::test]
async fn a_rotated_password_replaces_the_old_one() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    assert_eq!(login_code(&server, &inbox.username, &inbox.password).await, 235);
    let answer = rest.post(&inbox.path("/credentials"), Value::Null).await.expect(200).json();
    let record = rest.get(&inbox.path("")).await.expect(200).json();
    assert_eq!(answer, record);
    let rotated = Inbox::of(&record);
    assert_eq!(rotated.username, inbox.username);
    assert_ne!(rotated.password, inbox.password);
    assert_eq!(login_code(&server, &inbox.username, &inbox.password).await, 535);
    assert_eq!(login_code(&server, &inbox.username, &rotated.password).await, 235);
}

#[tokio::test]
async fn a_deleted_inbox_is_gone_with_all_that_is_in_it() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("1", "x")).await;
    rest.delete(&inbox.path("")).await.expect(204);
    for path in [inbox.path(""), inbox.path("/messages"), format!("/api/messages/{message}")] {
        rest.get(&path).await.error(404);
    }
    rest.get(&format!("/api/messages/{message}/raw")).await.error(404);
    rest.delete(&inbox.path("")).await.error(404);
    assert_eq!(login_code(&server, &inbox.username, &inbox.password).await, 535);
}

#[tokio::test]
async fn the_oldest_messages_give_way() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox_with(json!({ "name": "Small", "maxMessages": 3 })).await;
    let mut events = rest.events(&inbox.path("/events"), None).await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await);
    }
    // At once, not some time later.
    let (total, subjects) = rest.subjects(&inbox).await;
    assert_eq!((total, subjects), (3, ["4", "3", "2"].map(str::to_owned).to_vec()));
    for gone in &ids[..2] {
        for below in ["", "/raw", "/html"] {
            rest.get(&format!("/api/messages/{gone}{below}")).await.error(404);
        }
    }
    let record = rest.get(&inbox.path("")).await.expect(200).json();
    assert_eq!((&record["messageCount"], &record["unreadCount"]), (&json!(3), &json!(3)));
    let mut deleted = Vec::new();
    while deleted.len() < 2 {
        let event = events.next().await;
        if event.name == "message.deleted" {
            deleted.extend(event.data["ids"].as_array().unwrap().clone());
        }
    }
    deleted.sort_by_key(ToString::to_string);
    assert_eq!(deleted, [&ids[0], &ids[1]].map(|id| json!(id)));

    rest.patch(&inbox.path(""), json!({ "maxMessages": 1 })).await.expect(200);
    assert_eq!(rest.subjects(&inbox).await, (1, vec!["4".to_owned()]));
    rest.get(&format!("/api/messages/{}", ids[3])).await.error(404);
}

#[tokio::test]
async fn an_inbox_is_made_to_last_longer_or_for_ever() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox_with(json!({ "name": "Longer", "expiresInMinutes": 1 })).await;
    deliver(&server, &inbox, &Mail::new("1", "x")).await;
    let first = rest.get(&inbox.path("")).await.expect(200).json()["expiresAt"].clone();
    let patch = async |minutes: Value| {
        let body = json!({ "expiresInMinutes": minutes });
        rest.patch(&inbox.path(""), body).await.expect(200).json()["expiresAt"].clone()
    };
    assert!(patch(json!(10_080)).await.as_str() > first.as_str());
    assert_eq!(patch(Value::Null).await, Value::Null);
    deliver(&server, &inbox, &Mail::new("2", "x")).await;
    assert_eq!(rest.subjects(&inbox).await.0, 2);
}

#[tokio::test]
async fn a_read_key_sees_no_password() {
    let server = shared();
    let (rest, reader) = (server.rest(), server.reader());
    let inbox = rest.inbox().await;
    let mut record = rest.get(&inbox.path("")).await.expect(200).json();
    assert_eq!(record["smtp"]["password"], json!(inbox.password));
    record["smtp"].as_object_mut().unwrap().remove("password");
    assert_eq!(reader.get(&inbox.path("")).await.expect(200).json(), record);
    let list = reader.get("/api/inboxes").await.expect(200);
    assert!(!list.text().contains("\"password\""), "{list}");
    let mut events = reader.events(&inbox.path("/events"), None).await;
    rest.patch(&inbox.path(""), json!({ "name": "Changed" })).await.expect(200);
    record["name"] = json!("Changed");
    let event = events.next().await;
    assert_eq!((event.name.as_str(), &event.data["inbox"]), ("inbox.updated", &record));
}

/// A disposable inbox lives for a minute at least, and no test can move the server's clock from
/// outside: so this one takes a minute, beside the others.
#[tokio::test]
async fn a_disposable_inbox_ends_by_itself() {
    let server = shared();
    let rest = server.rest();
    let body = json!({ "name": "Short", "expiresInMinutes": 1 });
    let record = rest.post("/api/inboxes", body).await.expect(201).json();
    assert!(record["expiresAt"].is_string(), "{record}");
    let inbox = Inbox::of(&record);
    let message = deliver(&server, &inbox, &Mail::new("1", "x")).await;
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let events = rest.events(&inbox.path("/events"), None).await;
    let path = inbox.path("/messages/wait?subject=never&timeout=120");
    // Not a timeout: what it waits in is gone.
    rest.get(&path).await.error(404);

    eventually("the end of the inbox", async || {
        let answer = rest.get(&inbox.path("")).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        (answer.status == 404).then_some(())
    })
    .await;
    rest.get(&format!("/api/messages/{message}")).await.error(404);
    rest.get(&format!("/api/messages/{message}/raw")).await.error(404);
    events.rest().await;
    // A session that signed in while the inbox was there, one that signs in now, one without.
    smtp.ask("MAIL FROM:<a@example.test>", 250).await;
    smtp.ask("RCPT TO:<b@example.test>", 550).await;
    assert_eq!(login_code(&server, &inbox.username, &inbox.password).await, 535);
}

/// The list is a copy, spread over parts; each change is in it when the change was answered.
#[tokio::test]
async fn a_list_says_what_its_inboxes_say_while_others_change() {
    let server = shared();
    let rest = server.client(server.second_team().key());
    let mark = format!("L{}", std::process::id());
    let keep = async |number: usize| {
        let body = json!({ "name": format!("{mark}-{number}") });
        let inbox = Inbox::of(&rest.post("/api/inboxes", body).await.expect(201).json());
        if number.is_multiple_of(2) {
            rest.delete(&inbox.path("")).await.expect(204);
            return None;
        }
        let change = json!({ "name": format!("{mark}+{number}"), "maxMessages": 7 });
        Some(rest.patch(&inbox.path(""), change).await.expect(200).json())
    };
    let kept = join_all((0..60).map(keep)).await;
    let mut kept: Vec<_> = kept.into_iter().flatten().collect();
    kept.sort_by_key(|inbox| inbox["id"].as_str().unwrap().to_owned());
    let list = rest.get(&format!("/api/inboxes?q={mark}")).await.expect(200);
    assert_eq!(list.header("x-total-count"), "30");
    let mut listed = list.json().as_array().unwrap().clone();
    listed.sort_by_key(|inbox| inbox["id"].as_str().unwrap().to_owned());
    assert_eq!(listed, kept);
    let page = rest.get(&format!("/api/inboxes?q={mark}&limit=7&disposable=false")).await;
    assert_eq!(page.expect(200).json().as_array().unwrap().len(), 7);
    for inbox in &kept {
        rest.delete(&format!("/api/inboxes/{}", inbox["id"].as_str().unwrap())).await.expect(204);
    }
    assert_eq!(rest.get(&format!("/api/inboxes?q={mark}")).await.expect(200).json(), json!([]));
}
