//! What a client says it sent, against what the API shows.

use std::collections::HashMap;

use serde_json::Value;
use trapline_tests::{Inbox, Rest, sha256_hex};

/// Checks that the inbox holds these messages, each as it was sent, and no others.
pub(super) async fn inbox_holds(rest: &Rest, inbox: &Inbox, sent: &[Value]) {
    let list = rest.get(&inbox.path("/messages?limit=200")).await.expect(200).json();
    assert_eq!(list["total"], sent.len(), "{list:#}");
    let messages = list["messages"].as_array().unwrap();
    let ids: HashMap<_, _> =
        messages.iter().map(|message| (text(&message["subject"]), text(&message["id"]))).collect();
    for sent in sent {
        let id = ids.get(text(&sent["subject"])).unwrap_or_else(|| panic!("no {sent}: {ids:?}"));
        message_is(rest, id, sent).await;
    }
}

/// Clients leave out what they do not know.
async fn message_is(rest: &Rest, id: &str, sent: &Value) {
    let message = rest.message(id).await;
    assert_eq!(message["envelope"]["from"], sent["from"], "{sent}");
    assert_eq!(message["envelope"]["to"], sent["to"], "{sent}");
    for body in ["text", "html"] {
        if let Some(expected) = sent[body].as_str() {
            assert_eq!(lines(text(&message[body])), lines(expected), "{body} of {sent}");
        }
    }
    if let Some(expected) = sent["raw"].as_str() {
        let raw = rest.raw(id).await;
        assert_eq!(sha256_hex(&raw), expected, "{sent}: {}", String::from_utf8_lossy(&raw));
    }
    let parts = message["attachments"].as_array().unwrap();
    let expected = sent["attachments"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(parts.len(), expected.len(), "{sent}: {parts:#?}");
    for (part, expected) in parts.iter().zip(expected) {
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&part[field], value, "{field} of {expected}");
        }
        let path = format!("/api/messages/{id}/attachments/{}", text(&part["id"]));
        let bytes = rest.get(&path).await.expect(200).body;
        assert_eq!(sha256_hex(&bytes), text(&expected["sha256"]), "{expected}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Clients differ in how they end lines, and in whether they end the last one.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}
