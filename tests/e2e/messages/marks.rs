//! Read, unread, removed.

use serde_json::{Value, json};
use trapline_tests::{Mail, deliver, shared};

#[tokio::test]
async fn read_marks_are_kept_for_each_message() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut paths = Vec::new();
    for n in 0..3 {
        let id = deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await;
        paths.push(format!("/api/messages/{id}"));
    }
    let unread = async || {
        let list = rest.get(&inbox.path("/messages?unread=true")).await.expect(200).json();
        assert_eq!(list["total"], list["messages"].as_array().unwrap().len());
        list["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["subject"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(unread().await, ["2", "1", "0"]);
    let marked = rest.patch(&paths[1], json!({ "isRead": true })).await.expect(200).json();
    assert_eq!((&marked["isRead"], &marked["subject"]), (&json!(true), &json!("1")));
    assert_eq!(marked, rest.get(&paths[1]).await.expect(200).json());
    assert_eq!(unread().await, ["2", "0"]);
    // To read a message does not mark it.
    rest.get(&paths[2]).await.expect(200);
    assert_eq!(unread().await, ["2", "0"]);
    rest.patch(&inbox.path("/messages"), Value::Null).await.expect(200);
    assert_eq!(unread().await, Vec::<Value>::new());
    rest.patch(&paths[0], json!({ "isRead": false })).await.expect(200);
    assert_eq!(unread().await, ["0"]);
    let all = rest.get(&inbox.path("/messages?unread=false")).await.expect(200).json();
    assert_eq!(all["total"], 3);
}

#[tokio::test]
async fn removed_messages_are_gone_at_once() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await);
    }
    let path = format!("/api/messages/{}", ids[1]);
    rest.delete(&path).await.expect(204);
    rest.get(&path).await.error(404);
    rest.delete(&path).await.error(404);
    rest.patch(&path, json!({ "isRead": true })).await.error(404);
    assert_eq!(rest.subjects(&inbox).await, (2, vec!["2".to_owned(), "0".to_owned()]));
    rest.delete(&inbox.path("/messages")).await.expect(204);
    assert_eq!(rest.subjects(&inbox).await, (0, vec![]));
    rest.get(&format!("/api/messages/{}/raw", ids[0])).await.error(404);
    // What comes afterwards stays.
    deliver(&server, &inbox, &Mail::new("after", "x")).await;
    assert_eq!(rest.subjects(&inbox).await, (1, vec!["after".to_owned()]));
}
