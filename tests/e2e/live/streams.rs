//! `GET /api/inboxes/:id/events`

use serde_json::{Value, json};
use trapline_tests::{Events, Mail, deliver, shared};

#[tokio::test]
async fn every_change_of_an_inbox_is_an_event() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut events = rest.events(&inbox.path("/events"), None).await;
    assert_eq!(events.status(), 200);
    assert!(events.header("content-type").starts_with("text/event-stream"));
    assert_eq!(events.header("x-accel-buffering"), "no");
    let summary =
        async || rest.get(&inbox.path("/messages")).await.expect(200).json()["messages"][0].clone();

    let id = deliver(&server, &inbox, &Mail::new("one", "x")).await;
    let created = events.next().await;
    assert_eq!(created.name, "message.created");
    assert_eq!(created.data, json!({ "inboxId": inbox.id, "message": summary().await }));
    assert!(!created.id.is_empty());

    rest.patch(&format!("/api/messages/{id}"), json!({ "isRead": true })).await.expect(200);
    let updated = events.next().await;
    assert_eq!(updated.name, "message.updated");
    assert_eq!(updated.data, json!({ "inboxId": inbox.id, "message": summary().await }));
    assert_eq!(updated.data["message"]["isRead"], true);

    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    let deleted = events.next().await;
    assert_eq!(deleted.name, "message.deleted");
    assert_eq!(deleted.data, json!({ "inboxId": inbox.id, "ids": [id] }));

    rest.delete(&inbox.path("/messages")).await.expect(204);
    let emptied = events.next().await;
    assert_eq!((emptied.name.as_str(), &emptied.data["all"]), ("message.deleted", &json!(true)));

    let changed =
        rest.patch(&inbox.path(""), json!({ "name": "New name" })).await.expect(200).json();
    let renamed = events.next().await;
    assert_eq!(
        (renamed.name.as_str(), &renamed.data),
        ("inbox.updated", &json!({ "inbox": changed }))
    );
    rest.post(&inbox.path("/credentials"), Value::Null).await.expect(200);
    assert_eq!(events.next().await.name, "inbox.updated");
    rest.patch(&inbox.path("/messages"), Value::Null).await.expect(200);
    assert_eq!(events.next().await.name, "inbox.updated");
    rest.delete(&inbox.path("")).await.expect(204);
    assert_eq!(events.rest().await, []);
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_it_missed_exactly_once() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/events");
    let mut events = rest.events(&path, None).await;
    deliver(&server, &inbox, &Mail::new("0", "x")).await;
    deliver(&server, &inbox, &Mail::new("1", "x")).await;
    let subject = |event: &trapline_tests::Event| {
        event.data["message"]["subject"].as_str().unwrap().to_owned()
    };
    let first = events.next().await;
    let second = events.next().await;
    assert_eq!([subject(&first), subject(&second)], ["0", "1"]);
    drop(events);
    for n in 2..8 {
        deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await;
    }
    for (last, missed) in [(&second, 2..8), (&first, 1..8)] {
        let mut events = rest.events(&path, Some(&last.id)).await;
        let mut seen = Vec::new();
        for _ in missed.clone() {
            let event = events.next().await;
            assert_eq!(event.name, "message.created");
            seen.push(subject(&event));
        }
        assert_eq!(seen, missed.map(|n| n.to_string()).collect::<Vec<_>>());
        // Nothing twice: the next event is the next change.
        rest.patch(&inbox.path(""), json!({ "name": "next" })).await.expect(200);
        assert_eq!(events.next().await.name, "inbox.updated");
    }
    // As a parameter too, for clients that cannot set a header.
    let query = format!("{path}?lastEventId={}", second.id);
    assert_eq!(subject(&rest.events(&query, None).await.next().await), "2");
    // What is no id of this inbox's events stands before everything that is kept.
    let query = format!("{path}?lastEventId=nonsense");
    assert_eq!(subject(&rest.events(&query, None).await.next().await), "0");
}

#[tokio::test]
async fn a_stream_that_is_lost_before_its_first_event_misses_nothing() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/events");
    let opened = rest.events(&path, None).await.comment().await;
    assert!(!opened.id.is_empty());
    deliver(&server, &inbox, &Mail::new("missed", "x")).await;
    let mut events = rest.events(&path, Some(&opened.id)).await;
    assert_eq!(events.next().await.data["message"]["subject"], "missed");
}

#[tokio::test]
async fn nothing_is_missed_while_clients_come_and_go() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/events");
    let mut last = deliver(&server, &inbox, &Mail::new("-1", "x")).await;
    let send = async {
        for n in 0..60 {
            deliver(&server, &inbox, &Mail::new(&format!("{n}"), "x")).await;
        }
    };
    let follow = async {
        let mut seen = Vec::new();
        while seen.len() < 60 {
            let mut events = rest.events(&path, Some(&last)).await;
            // A few events, and the connection is lost.
            for _ in 0..7.min(60 - seen.len()) {
                let event = events.next().await;
                seen.push(event.data["message"]["subject"].as_str().unwrap().to_owned());
                last = event.id;
            }
        }
        seen
    };
    let ((), seen) = tokio::join!(send, follow);
    assert_eq!(seen, (0..60).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_comment_keeps_a_silent_stream_open() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut events = rest.events(&inbox.path("/events"), None).await;
    // The first is there at once, to show that the stream is open; the second is the heartbeat.
    events.comment().await;
    events.comment().await;
}

#[tokio::test]
async fn a_stream_counts_other_inboxes_where_asked() {
    let server = shared();
    // In a cluster these are two processes.
    let (rest, other) = (server.rest(), server.rest());
    let (own, one, two) = (rest.inbox().await, rest.inbox().await, rest.inbox().await);
    deliver(&server, &two, &Mail::new("before", "x")).await;
    let path = own.path(&format!("/events?counts={},{}", two.id, one.id));
    let mut events = rest.events(&path, None).await;
    for inbox in [&two, &one] {
        let event = events.next().await;
        let shown = rest.get(&inbox.path("")).await.expect(200).json();
        assert_eq!((event.name.as_str(), event.data), ("inbox.updated", json!({ "inbox": shown })));
    }
    let id = deliver(&server, &one, &Mail::new("one", "x")).await;
    // Whatever comes between, such as after a gap, it ends with what is so.
    let told = async |events: &mut Events, unread: u64| {
        loop {
            let told = events.next().await.data["inbox"].clone();
            assert_eq!(told["id"], one.id);
            if (&told["messageCount"], &told["unreadCount"]) == (&json!(1), &json!(unread)) {
                break;
            }
        }
    };
    told(&mut events, 1).await;
    other.patch(&format!("/api/messages/{id}"), json!({ "isRead": true })).await.expect(200);
    told(&mut events, 0).await;
    deliver(&server, &own, &Mail::new("own", "x")).await;
    let created = events.next().await;
    assert_eq!(
        (created.name.as_str(), &created.data["inboxId"]),
        ("message.created", &json!(own.id))
    );
    // It is resumed as any other, and begins with what is there.
    let mut events = other.events(&path, Some(&created.id)).await;
    let told =
        [events.next().await, events.next().await].map(|event| event.data["inbox"]["id"].clone());
    assert_eq!(told, [json!(two.id), json!(one.id)]);
    drop(events);

    let theirs = server.client(server.second_team().key()).inbox().await;
    let ours = vec![one.id.as_str(); 100].join(",");
    rest.get(&own.path(&format!("/events?counts={},{}", one.id, theirs.id))).await.error(404);
    for wrong in ["", "x", &format!("{},", one.id), &format!("{ours},{}", two.id)] {
        let refused = rest.get(&own.path(&format!("/events?counts={wrong}"))).await.error(400);
        assert_eq!(refused.issues(), ["counts"], "{wrong}");
    }
    assert_eq!(rest.events(&own.path(&format!("/events?counts={ours}")), None).await.status(), 200);
}

#[tokio::test]
async fn a_stream_shows_one_inbox_only() {
    let server = shared();
    let rest = server.rest();
    let (ours, other) = (rest.inbox().await, rest.inbox().await);
    let mut events = rest.events(&ours.path("/events"), None).await;
    deliver(&server, &other, &Mail::new("other", "x")).await;
    deliver(&server, &ours, &Mail::new("ours", "x")).await;
    assert_eq!(events.next().await.data["message"]["subject"], "ours");
}

#[tokio::test]
async fn a_stream_with_a_duration_ends_by_itself_and_goes_on_with_its_last_id() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/events?duration=1");
    let mut events = rest.events(&path, None).await;
    deliver(&server, &inbox, &Mail::new("in time", "x")).await;
    let first = events.next().await;
    assert_eq!(first.data["message"]["subject"], "in time");
    assert_eq!(events.rest().await, []);
    deliver(&server, &inbox, &Mail::new("too late", "x")).await;
    // Read whole, as a client without event streams would.
    let text = rest.get(&format!("{path}&lastEventId={}", first.id)).await.expect(200);
    assert!(text.text().contains("too late") && !text.text().contains("in time"), "{text}");
    for wrong in ["0", "3601", "x"] {
        rest.get(&inbox.path(&format!("/events?duration={wrong}"))).await.error(400);
    }
}
