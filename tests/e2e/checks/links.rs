//! Where links lead, and unsubscribing by one click.

use serde_json::{Value, json};
use trapline_tests::{Mail, deliver, shared};

use crate::webhooks::receiver::{Act, Receiver};

#[tokio::test]
async fn links_and_images_are_asked_and_redirects_followed() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let gone = Receiver::start(&[Act::answer(404)]).await;
    let location = format!("Location: {}\r\n", gone.url());
    let moved = Receiver::start(&[Act::Answer(301, location)]).await;
    let image = Receiver::start(&[Act::answer(200)]).await;
    let html = format!(
        "<a href='{}'>News</a> <a href='{}?token=1'>Here</a> <a href='mailto:a@example.com'>Us</a>\
         <img src='{}'>",
        moved.url(),
        gone.url(),
        image.url()
    );
    let id = deliver(&server, &inbox, &Mail::new("Links", "").html(&html)).await;
    let path = format!("/api/messages/{id}/link-check");
    let report = rest.post(&path, json!({})).await.expect(200).json();
    let counts = ["checked", "failed", "skipped"].map(|name| report[name].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 2], "{report}");
    let links = report["links"].as_array().unwrap();
    assert_eq!((&links[0]["status"], &links[0]["kind"]), (&json!(404), &json!("link")));
    assert_eq!(links[0]["redirects"], json!([{ "url": gone.url(), "status": 301 }]));
    let skipped: Vec<_> = links.iter().map(|link| link["skipped"].as_str()).collect();
    assert_eq!(skipped, [None, Some("action"), Some("scheme"), None]);
    assert_eq!((&links[3]["status"], &links[3]["kind"]), (&json!(200), &json!("image")));
    assert_eq!(image.requests()[0].header("user-agent"), "trapline-link-check/1");
    let all = rest.post(&path, json!({ "actions": true })).await.expect(200).json();
    assert_eq!(all["checked"], 3);
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    rest.post(&path, json!({})).await.expect(404);
}

#[tokio::test]
async fn what_is_out_of_bounds_is_told_and_not_asked() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let html =
        "<a href='http://169.254.169.254/latest/'>A</a><a href='http://user@example.com/'>B</a>";
    let id = deliver(&server, &inbox, &Mail::new("Links", "").html(html)).await;
    let path = format!("/api/messages/{id}/link-check");
    let report = rest.post(&path, json!({})).await.expect(200).json();
    assert_eq!(report["failed"], 2);
    for link in report["links"].as_array().unwrap() {
        assert_eq!(link["error"], "address_not_allowed", "{report}");
    }
    let refused = rest.post(&path, json!({ "urls": ["https://example.org/"] })).await;
    assert_eq!(refused.expect(400).json()["issues"][0]["code"], "unknown_link");
    server.reader().post(&path, json!({})).await.expect(403);
}

#[tokio::test]
async fn one_click_is_sent_only_where_it_is_announced() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let receiver = Receiver::self_signed(&[Act::answer(200)]).await;
    let field = format!("List-Unsubscribe: <{}>", receiver.url());
    let mail = Mail::new("News", "Hello").field(&field);
    let id = deliver(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/unsubscribe");
    let report = rest.post(&path, Value::Null).await.expect(200).json();
    assert_eq!((&report["error"], &report["url"]), (&json!("no_one_click"), &Value::Null));
    let mail = mail.field("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    let id = deliver(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/unsubscribe");
    let report = rest.post(&path, Value::Null).await.expect(200).json();
    // Nobody vouches for the certificate, which a mailbox provider would not take either.
    assert_eq!((&report["error"], &report["url"]), (&json!("tls_error"), &json!(receiver.url())));
    assert_eq!(report["unsubscribed"], false);
    assert!(receiver.requests().is_empty());
}
