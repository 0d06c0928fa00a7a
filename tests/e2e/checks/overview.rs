//! What checks are made with, and that reports are kept.

use trapline_tests::{Mail, deliver, shared};

#[tokio::test]
async fn engines_data_and_clients_are_told() {
    let rest = shared().rest();
    let overview = rest.get("/api/checks").await.expect(200).json();
    let engine = &overview["spam"]["engines"][0];
    assert_eq!((&engine["name"], engine["available"].as_bool()), (&"builtin".into(), Some(true)));
    assert_eq!(overview["html"]["dataset"]["features"], 307);
    let clients = overview["html"]["clients"].as_array().unwrap();
    let weighted = clients.iter().filter(|client| client["weight"].as_f64() > Some(0.0)).count();
    assert_eq!((clients.len(), weighted), (48, 41));
}

#[tokio::test]
async fn a_report_is_the_same_until_its_message_is_gone() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "").html("<video></video>")).await;
    for check in ["spam", "html-check", "unsubscribe"] {
        let path = format!("/api/messages/{id}/{check}");
        let report = rest.get(&path).await.expect(200).json();
        let again = rest.get(&path).await.expect(200).json();
        let without_time = |mut report: serde_json::Value| {
            report.as_object_mut().unwrap().remove("checkedAt");
            report
        };
        assert_eq!(without_time(report), without_time(again));
    }
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    for check in ["spam", "html-check", "unsubscribe"] {
        rest.get(&format!("/api/messages/{id}/{check}")).await.expect(404);
    }
}
