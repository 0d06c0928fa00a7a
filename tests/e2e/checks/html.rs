//! How mail clients show a message.

use trapline_tests::{Mail, deliver, shared};

const HTML: &str = "Content-Type: text/html; charset=utf-8\n\n<p>Hello</p>\n<video src=\"https://example.com/a.mp4\"></video>\n\
    <!--[if mso]><marquee>Hi</marquee><![endif]-->";

#[tokio::test]
async fn a_message_is_checked_against_mail_clients() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mail = Mail::new("html", "").multipart("alternative", &["\nHello", HTML]);
    let id = deliver(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/html-check");
    let report = rest.get(&path).await.expect(200).json();
    let score = report["score"].as_f64().unwrap();
    assert!((0.0..100.0).contains(&score), "{score}");
    assert_eq!(report["dataset"]["license"], "MIT");
    assert_eq!(report["clients"].as_array().unwrap().len(), 48);
    let issues = report["issues"].as_array().unwrap();
    let video = issues.iter().find(|issue| issue["slug"] == "html-video").unwrap();
    assert_eq!((&video["kind"], &video["category"]), (&"html".into(), &"HTML".into()));
    assert_eq!(
        (video["locations"][0]["line"].as_u64(), video["count"].as_u64()),
        (Some(2), Some(1))
    );
    let narrowed =
        rest.get(&format!("{path}?clients=gmail,outlook.windows")).await.expect(200).json();
    let clients = narrowed["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 5);
    for client in clients {
        let among_all = report["clients"].as_array().unwrap();
        assert!(among_all.contains(client), "{client}");
    }
}

#[tokio::test]
async fn unknown_clients_and_messages_without_html_are_told() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("text", "Hello")).await;
    let path = format!("/api/messages/{id}/html-check");
    let report = rest.get(&path).await.expect(200).json();
    assert!(report["score"].is_null() && report["clients"].as_array().unwrap().is_empty());
    let refused = rest.get(&format!("{path}?clients=lotus")).await.expect(400).json();
    assert_eq!(refused["issues"][0]["code"], "unknown_client");
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    rest.get(&path).await.expect(404);
}
