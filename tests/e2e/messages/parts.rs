//! The raw message and its attachments, as downloads.

use serde_json::json;
use trapline_tests::{Mail, deliver, sha256_hex, shared};

#[tokio::test]
async fn the_raw_message_can_be_shown_and_saved() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mail = Mail::new("raw/../\"of\" it", "x");
    let id = deliver(&server, &inbox, &mail).await;
    let shown = rest.get(&format!("/api/messages/{id}/raw")).await.expect(200);
    assert_eq!(shown.body, mail.bytes());
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert!(!shown.header("content-type").starts_with("text/html"), "{:?}", shown.headers);
    let saved = rest.get(&format!("/api/messages/{id}/raw?download=1")).await.expect(200);
    assert_eq!(saved.body, mail.bytes());
    assert!(saved.header("content-type").starts_with("message/rfc822"), "{:?}", saved.headers);
    let disposition = saved.header("content-disposition");
    assert!(disposition.starts_with("attachment"), "{disposition}");
    assert!(disposition.contains(".eml") && !disposition.contains('/'), "{disposition}");
}

/// File names as senders write them, how the record shows them, and a word of the download's name.
const NAMES: [(&str, &str, &str); 5] = [
    ("filename=\"../../etc/passwd\"", "../../etc/passwd", "passwd"),
    ("filename=\"C:\\\\temp\\\\evil.exe\"", "C:\\temp\\evil.exe", "evil.exe"),
    ("filename*=utf-8''r%C3%A9sum%C3%A9.pdf", "résumé.pdf", "r%C3%A9sum%C3%A9.pdf"),
    ("filename=\"a\\\"b;c.txt\"", "a\"b;c.txt", "c.txt"),
    ("filename*=utf-8''x%0D%0ASet-Cookie%3A%20a%3Db.txt", "x\r\nSet-Cookie: a=b.txt", "b.txt"),
];

#[tokio::test]
async fn hostile_file_names_do_no_harm() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    for (parameter, shown, saved) in NAMES {
        let part = format!(
            "Content-Type: text/html\nContent-Disposition: attachment; {parameter}\n\n<script>1</script>"
        );
        let mail = Mail::new("names", "").multipart("mixed", &["\ntext", &part]);
        let id = deliver(&server, &inbox, &mail).await;
        let attachment = &rest.message(&id).await["attachments"][0];
        assert_eq!(attachment["filename"], shown);
        assert_eq!(attachment["contentType"], "text/html");
        let part = attachment["id"].as_str().unwrap();
        let answer = rest.get(&format!("/api/messages/{id}/attachments/{part}")).await.expect(200);
        let disposition = answer.header("content-disposition");
        assert!(disposition.starts_with("attachment"), "{disposition}");
        assert!(disposition.contains(saved), "{disposition}");
        assert!(
            !disposition.contains(['/', '\\', '\r', '\n']) || !disposition.contains(".."),
            "{disposition}"
        );
        assert!(!disposition.contains("etc") && !disposition.contains("temp"), "{disposition}");
        // HTML is never shown from the service's own origin.
        assert_eq!(answer.header("content-type"), "application/octet-stream");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-security-policy").contains("sandbox"));
        assert!(answer.headers.get("set-cookie").is_none());
    }
}

#[tokio::test]
async fn attachments_are_decoded_and_described() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mail = Mail::new("parts", "").multipart(
        "mixed",
        &[
            "\ntext",
            "Content-Type: image/png; name=p.png\nContent-ID: <p@x>\nContent-Disposition: inline\n\
         Content-Transfer-Encoding: base64\n\niVBORw0KGgo=",
            "Content-Type: message/rfc822\n\nSubject: inner\n\ninner text",
        ],
    );
    let id = deliver(&server, &inbox, &mail).await;
    let message = rest.message(&id).await;
    let png = b"\x89PNG\r\n\x1a\n";
    let attachments = message["attachments"].as_array().unwrap();
    assert_eq!(attachments.len(), 2, "{attachments:?}");
    let expected = json!({
        "id": attachments[0]["id"], "filename": "p.png", "contentType": "image/png", "size": 8,
        "contentId": "p@x", "inline": true, "sha256": sha256_hex(png),
    });
    assert_eq!(attachments[0], expected);
    let part = attachments[0]["id"].as_str().unwrap();
    let answer = rest.get(&format!("/api/messages/{id}/attachments/{part}")).await.expect(200);
    assert_eq!(answer.body, &png[..]);
    assert_eq!(answer.header("content-type"), "image/png");
    assert_eq!(attachments[1]["contentType"], "message/rfc822");
    for missing in ["99", "x", "..%2F..", "%00"] {
        rest.get(&format!("/api/messages/{id}/attachments/{missing}")).await.error(404);
    }
}
