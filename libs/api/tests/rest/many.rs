//! Many messages of an inbox at once, and what strangers send there.

use serde_json::{Value, json};
use trapline_model::Access;

use crate::{Answer, Service};

fn issues(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 400, "{answer:?}");
    let body = answer.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let issues = body["issues"].as_array().unwrap();
    issues.iter().map(|issue| (text(&issue["path"]), text(&issue["code"]))).collect()
}

async fn id_of(service: &Service, inbox: &str) -> String {
    service.message(inbox).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_script_marks_and_deletes_what_it_names() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/messages");
    let (one, two) = (id_of(&service, &inbox).await, id_of(&service, &inbox).await);
    let ids = json!([one, two, one]);
    let marked = service.post(&format!("{path}/read"), json!({ "ids": ids, "isRead": true })).await;
    assert_eq!((marked.status, marked.json()), (200, json!({ "changed": 2 })));
    assert_eq!(service.get(&format!("{path}?unread=true")).await.json()["total"], 0);
    let deleted = service.post(&format!("{path}/delete"), json!({ "ids": ids })).await;
    assert_eq!((deleted.status, deleted.json()), (200, json!({ "changed": 2 })));
    assert_eq!(service.get(&path).await.json()["total"], 0);
    assert_eq!(service.get(&format!("/api/messages/{one}")).await.status, 404);
    let again = service.post(&format!("{path}/delete"), json!({ "ids": ids })).await;
    assert_eq!((again.status, again.json()), (200, json!({ "changed": 0 })));
}

#[tokio::test]
async fn ids_of_other_teams_change_nothing_of_theirs() {
    let service = Service::start().await;
    let path = format!("/api/inboxes/{}/messages", service.inbox().await);
    let (mut ids, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let team = service.app.access().create_team(&format!("Team {number}")).await.unwrap();
        let key = service.new_key(team, Access::Write, None).await;
        let post = async |path: &str, body: Value| {
            let answer = service.with_key(&key, "POST", path, &body).await;
            answer.json()["id"].as_str().unwrap().to_owned()
        };
        let inbox = post("/api/inboxes", json!({ "name": "Theirs" })).await;
        ids.push(post(&format!("/api/inboxes/{inbox}/test-message"), Value::Null).await);
        theirs.push((key, inbox));
    }
    for (below, mut body) in [("delete", json!({})), ("read", json!({ "isRead": true }))] {
        body["ids"] = json!(ids);
        let answer = service.post(&format!("{path}/{below}"), body.clone()).await;
        assert_eq!((answer.status, answer.json()), (200, json!({ "changed": 0 })), "{below}");
        // By the inbox's id in the path it is no other.
        let path = format!("/api/inboxes/{}/messages/{below}", theirs[0].1);
        assert_eq!(service.post(&path, body).await.code(), (404, "not_found".to_owned()));
    }
    for (key, inbox) in &theirs {
        let path = format!("/api/inboxes/{inbox}");
        let shown = service.with_key(key, "GET", &path, &Value::Null).await.json();
        assert_eq!((&shown["messageCount"], &shown["unreadCount"]), (&json!(1), &json!(1)));
    }
}

#[tokio::test]
async fn what_is_no_selection_is_refused_by_name_and_changes_nothing() {
    let service = Service::start().await;
    let inbox = service.inbox().await;
    let path = format!("/api/inboxes/{inbox}/messages");
    let id = id_of(&service, &inbox).await;
    let of = |path: &str, code: &str| vec![(path.to_owned(), code.to_owned())];
    let short = "x".to_owned();
    let nul = format!("\0{}", &id[1..]);
    let marked_up = format!("<script>alert(1)</script>{}", "0".repeat(27));
    let (upper, wide) = (id.to_uppercase(), "\u{ff10}".repeat(52));
    let long = "0".repeat(100_000);
    for (ids, wanted) in [
        (json!([]), of("ids", "too_short")),
        (json!(vec![&id; 201]), of("ids", "too_long")),
        (json!(id), of("ids", "invalid_type")),
        (json!(null), of("ids", "invalid_type")),
        (json!({ "0": id }), of("ids", "invalid_type")),
        (json!([id, 7]), of("ids[1]", "invalid_type")),
        (json!([id, null]), of("ids[1]", "invalid_type")),
        (json!([id, [id]]), of("ids[1]", "invalid_type")),
        (json!([id, short]), of("ids[1]", "too_short")),
        (json!([long, id]), of("ids[0]", "too_long")),
        (json!([nul]), of("ids[0]", "invalid_format")),
        (json!([marked_up]), of("ids[0]", "invalid_format")),
        (json!([upper]), of("ids[0]", "invalid_format")),
        (json!([wide]), of("ids[0]", "invalid_format")),
    ] {
        let answer = service.post(&format!("{path}/delete"), json!({ "ids": ids })).await;
        assert_eq!(
            issues(&answer),
            wanted,
            "{}",
            ids.to_string().chars().take(80).collect::<String>()
        );
        assert!(answer.body.len() < 1_000, "{answer:?}");
        let body = json!({ "ids": ids, "isRead": true });
        assert_eq!(issues(&service.post(&format!("{path}/read"), body).await), wanted);
    }
    let two_hundred = json!({ "ids": vec!["x"; 200], "isRead": 1, "all": true });
    let answer = service.post(&format!("{path}/read"), two_hundred).await;
    assert_eq!(issues(&answer).len(), 50, "the first of them");
    let answer = service.post(&format!("{path}/read"), json!({ "ids": [id] })).await;
    assert_eq!(issues(&answer), of("isRead", "required"));
    for below in ["delete", "read"] {
        let huge = json!({ "ids": ["x".repeat(10 << 20)], "isRead": true });
        let answer = service.post(&format!("{path}/{below}"), huge).await;
        assert_eq!(answer.code(), (413, "payload_too_large".to_owned()));
        let answer = service.post(&format!("{path}/{below}?ids={id}"), Value::Null).await;
        assert_eq!(issues(&answer), of("ids", "unknown"));
    }
    let shown = service.get(&format!("/api/inboxes/{inbox}")).await.json();
    assert_eq!((&shown["messageCount"], &shown["unreadCount"]), (&json!(1), &json!(1)));
}
