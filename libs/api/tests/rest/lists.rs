//! Lists of inboxes and projects: which, how many at a time, and how many there are.

use serde_json::{Value, json};

use crate::Service;

async fn page(service: &Service, path: &str) -> (Vec<String>, String) {
    let answer = service.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    let names = answer.json().as_array().unwrap().iter().map(name).collect();
    (names, answer.header("x-total-count").to_owned())
}

fn name(entry: &Value) -> String {
    entry["name"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn inboxes_are_listed_by_what_they_are() {
    let service = Service::start().await;
    let project = service.post("/api/projects", json!({ "name": "P" })).await.json();
    let project = project["id"].as_str().unwrap();
    let mut inboxes = Vec::new();
    for new in [
        json!({ "name": "Straße", "projectId": project }),
        json!({ "name": "b", "expiresInMinutes": 5 }),
        json!({ "name": "b" }),
        json!({ "name": "B", "projectId": project, "expiresInMinutes": 5 }),
    ] {
        inboxes.push(service.post("/api/inboxes", new).await.json());
    }
    let address = inboxes[1]["address"].as_str().unwrap();
    let cases: [(String, &[&str]); 13] = [
        (String::new(), &["Straße", "b", "b", "B"]),
        ("?name=b".to_owned(), &["b", "b"]),
        ("?name=B&disposable=true".to_owned(), &["B"]),
        ("?name=nothing".to_owned(), &[]),
        ("?q=STRASSE".to_owned(), &["Straße"]),
        ("?q=".to_owned(), &["Straße", "b", "b", "B"]),
        (format!("?q={}", address.to_uppercase()), &["b"]),
        (format!("?projectId={project}"), &["Straße", "B"]),
        (format!("?projectId={project}&disposable=0"), &["Straße"]),
        ("?disposable=true".to_owned(), &["b", "B"]),
        ("?disposable=false".to_owned(), &["Straße", "b"]),
        (format!("?projectId={}", inboxes[0]["id"].as_str().unwrap()), &[]),
        ("?limit=200".to_owned(), &["Straße", "b", "b", "B"]),
    ];
    for (query, expected) in cases {
        let (names, total) = page(&service, &format!("/api/inboxes{query}")).await;
        assert_eq!((names.len(), total), (expected.len(), expected.len().to_string()), "{query}");
        assert_eq!(names, expected, "{query}");
    }
    let whole = service.get("/api/inboxes").await.json();
    assert_eq!(whole, json!(inboxes));
}

#[tokio::test]
async fn lists_come_in_pages() {
    let service = Service::start().await;
    for path in ["/api/inboxes", "/api/projects"] {
        let mut ids = Vec::new();
        for number in 0..5 {
            let made = service.post(path, json!({ "name": number.to_string() })).await.json();
            ids.push(made["id"].as_str().unwrap().to_owned());
        }
        let mut seen = Vec::new();
        let mut query = "?limit=2".to_owned();
        loop {
            let (names, total) = page(&service, &format!("{path}{query}")).await;
            assert_eq!(total, "5");
            assert!(names.len() <= 2);
            seen.extend(names);
            let Some(last) = seen.len().checked_sub(1).filter(|last| *last < 4) else { break };
            query = format!("?limit=2&after={}", ids[last]);
        }
        assert_eq!(seen, ["0", "1", "2", "3", "4"]);
        assert!(page(&service, &format!("{path}?after={}", ids[4])).await.0.is_empty());
        // The last of a page may be gone before the next one is read.
        service.with_key(&service.key, "DELETE", &format!("{path}/{}", ids[1]), &Value::Null).await;
        let (names, total) = page(&service, &format!("{path}?limit=2&after={}", ids[1])).await;
        assert_eq!((names, &*total), (vec!["2".to_owned(), "3".to_owned()], "4"));
        for wrong in ["?limit=0", "?limit=201", "?limit=x", "?after=x", "?after=", "?page=2"] {
            let answer = service.get(&format!("{path}{wrong}")).await;
            assert_eq!(answer.status, 400, "{path}{wrong}: {answer:?}");
        }
    }
    let wrong = service.get("/api/inboxes?disposable=maybe&projectId=x").await.json();
    assert_eq!(wrong["issues"].as_array().unwrap().len(), 2, "{wrong}");
}

#[tokio::test]
async fn projects_are_listed_by_their_names() {
    let service = Service::start().await;
    for name in ["Straße", "b", "B"] {
        service.post("/api/projects", json!({ "name": name })).await;
    }
    let cases: [(&str, &[&str]); 4] = [
        ("", &["Straße", "b", "B"]),
        ("?name=b", &["b"]),
        ("?q=b", &["b", "B"]),
        ("?q=STRASSE&name=Straße", &["Straße"]),
    ];
    for (query, expected) in cases {
        let query = query.replace('ß', "%C3%9F");
        let (names, total) = page(&service, &format!("/api/projects{query}")).await;
        assert_eq!(names, expected, "{query}");
        assert_eq!(total, expected.len().to_string());
    }
}
