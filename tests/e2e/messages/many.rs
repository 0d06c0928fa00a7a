//! Many messages of an inbox at once.

use serde_json::json;
use trapline_tests::{Mail, deliver, shared};

#[tokio::test]
async fn many_are_marked_and_removed_by_one_request_each_and_told_of_by_one_event() {
    let server = shared();
    // In a cluster these are two processes.
    let (rest, other) = (server.rest(), server.rest());
    let (inbox, elsewhere) = (rest.inbox().await, rest.inbox().await);
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await);
    }
    let stranger = deliver(&server, &elsewhere, &Mail::new("elsewhere", "x")).await;
    let mut events = other.events(&inbox.path("/events"), None).await;
    let named = json!([ids[0], stranger, ids[2], ids[0]]);

    let body = json!({ "ids": named, "isRead": true });
    let marked = rest.post(&inbox.path("/messages/read"), body.clone()).await.expect(200);
    assert_eq!(marked.json(), json!({ "changed": 2 }));
    let marked = other.post(&inbox.path("/messages/read"), body).await.expect(200);
    assert_eq!(marked.json(), json!({ "changed": 0 }));
    let told = events.next().await;
    let shown = other.get(&inbox.path("")).await.expect(200).json();
    assert_eq!((&shown["messageCount"], &shown["unreadCount"]), (&json!(4), &json!(2)));
    let marked = json!({ "ids": [ids[2], ids[0]], "isRead": true });
    assert_eq!(told.name, "inbox.updated");
    assert_eq!(told.data, json!({ "inbox": shown, "marked": marked }));
    assert_eq!(other.message(&ids[2]).await["isRead"], true);

    let body = json!({ "ids": named });
    let deleted = rest.post(&inbox.path("/messages/delete"), body.clone()).await.expect(200);
    assert_eq!(deleted.json(), json!({ "changed": 2 }));
    let told = events.next().await;
    assert_eq!(told.name, "message.deleted");
    assert_eq!(told.data, json!({ "inboxId": inbox.id, "ids": [ids[2], ids[0]] }));
    other.get(&format!("/api/messages/{}", ids[0])).await.error(404);
    assert_eq!(other.subjects(&inbox).await, (2, vec!["3".to_owned(), "1".to_owned()]));
    let deleted = other.post(&inbox.path("/messages/delete"), body).await.expect(200);
    assert_eq!(deleted.json(), json!({ "changed": 0 }));
    assert_eq!(other.subjects(&elsewhere).await.0, 1);

    for (ids, issue) in
        [(json!([]), "ids"), (json!(vec![&ids[1]; 201]), "ids"), (json!(["x"]), "ids[0]")]
    {
        let refused = rest.post(&inbox.path("/messages/delete"), json!({ "ids": ids })).await;
        assert_eq!(refused.error(400).issues(), [issue]);
    }
}
