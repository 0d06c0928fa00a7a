//! How one unsubscribes.

use serde_json::json;
use trapline_tests::{Mail, deliver, shared};

#[tokio::test]
async fn what_is_wrong_about_unsubscribing_is_told() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mail = Mail::new("News", "Hello")
        .field("List-Unsubscribe: <https://example.com/u?t=1>, <mailto:u@example.com>");
    let id = deliver(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/unsubscribe");
    let report = rest.get(&path).await.expect(200).json();
    assert_eq!((&report["present"], &report["oneClick"]), (&json!(true), &json!(false)));
    assert_eq!(
        report["uris"][1],
        json!({ "uri": "mailto:u@example.com", "scheme": "mailto", "valid": true })
    );
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["severity"]),
        (&"post_missing".into(), &"warning".into())
    );
    assert_eq!(finding["reference"], "RFC 8058, section 3.1");
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    rest.get(&path).await.expect(404);
}
