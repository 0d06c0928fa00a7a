//! The test message.

use serde_json::Value;
use trapline_tests::shared;

#[tokio::test]
async fn a_test_message_is_a_real_one_and_ten_a_minute_are_enough() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let path = inbox.path("/test-message");
    let message = rest.post(&path, Value::Null).await.expect(201).json();
    assert_eq!(message["inboxId"], inbox.id);
    assert_eq!(message["codes"].as_array().unwrap().len(), 1, "{message}");
    assert_eq!(message["attachments"][0]["contentId"], "mark@trapline");
    assert_eq!(message["warnings"], serde_json::json!([]));
    let id = message["id"].as_str().unwrap();
    assert_eq!(rest.message(id).await, message);
    let page = rest.get(&format!("/api/messages/{id}/html")).await.expect(200);
    // Relative, so that it works under whatever name the page is opened.
    assert!(page.text().contains("src=\"attachments/"), "{page}");

    // The minute may turn once meanwhile: then there are ten more.
    let mut sent = 1;
    let limited = loop {
        let answer = rest.post(&path, Value::Null).await;
        if answer.status == 429 {
            break answer;
        }
        answer.expect(201);
        sent += 1;
        assert!(sent <= 20, "{sent} test messages were taken");
    };
    assert!(sent >= 10, "only {sent} test messages were taken");
    let limited = limited.error(429);
    let seconds: u64 = limited.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(rest.subjects(&inbox).await.0, sent);
    // Each inbox has an allowance of its own.
    let other = rest.inbox().await;
    rest.post(&other.path("/test-message"), Value::Null).await.expect(201);
}
