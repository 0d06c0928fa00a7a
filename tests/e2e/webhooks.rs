//! Mail that arrives reaches an endpoint, signed, and what becomes of it is told.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    sync::mpsc,
};
use trapline_tests::{Inbox, Mail, Rest, deliver, eventually, guarded, shared};

/// A request as the receiver got it.
#[derive(Debug)]
struct Request {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }
}

/// Answers requests with these statuses in turn, the last one for ever, and hands them over.
async fn receiver(statuses: &'static [u16]) -> (String, mpsc::UnboundedReceiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answered = 0;
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let request = read(&mut stream).await;
            let status = statuses[answered.min(statuses.len() - 1)];
            answered += 1;
            let answer =
                format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            // The test may be over.
            sender.send(request).ok();
        }
    });
    (url, requests)
}

async fn read(stream: &mut BufReader<tokio::net::TcpStream>) -> Request {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim().split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut request = Request { headers, body: Vec::new() };
    request.body = vec![0; request.header("content-length").parse().unwrap()];
    stream.read_exact(&mut request.body).await.unwrap();
    request
}

async fn hooked(rest: &Rest, url: &str) -> (Inbox, Value) {
    let inbox = rest.inbox().await;
    let hook = json!({ "url": url, "inboxId": inbox.id });
    (inbox, rest.post("/api/webhooks", hook).await.expect(201).json())
}

async fn deliveries(rest: &Rest, hook: &Value) -> Vec<Value> {
    let path = format!("/api/webhooks/{}/deliveries", hook["id"].as_str().unwrap());
    rest.get(&path).await.expect(200).json().as_array().unwrap().clone()
}

#[tokio::test]
async fn a_mail_reaches_the_endpoint_once_and_signed() {
    let server = shared();
    let rest = server.rest();
    let (url, mut requests) = receiver(&[204]).await;
    let (inbox, hook) = hooked(&rest, &url).await;
    let id = deliver(&server, &inbox, &Mail::new("hooked", "x")).await;
    let request = guarded("a call", requests.recv()).await.unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert!(body.to_string().contains(&id), "{body}");
    let secret = hook["secret"].as_str().unwrap();
    let mac = |text: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(text);
        data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes())
    };
    let signature = request.header("x-webhook-signature");
    let timestamp = request.header("x-webhook-timestamp");
    let signed = [timestamp.as_bytes(), b".", &request.body].concat();
    assert!(signature.ends_with(&mac(&signed)), "{request:?}");
    let delivery = eventually("the delivery", async || {
        deliveries(&rest, &hook).await.into_iter().find(|one| one["status"] == "succeeded")
    })
    .await;
    assert_eq!((&delivery["httpStatus"], &delivery["attempts"]), (&json!(204), &json!(1)));
    let again = tokio::time::timeout(Duration::from_millis(300), requests.recv()).await;
    assert!(again.is_err(), "a second call: {again:?}");
}

#[tokio::test]
async fn a_client_error_is_final_and_a_server_error_is_tried_again_later() {
    let server = shared();
    let rest = server.rest();
    for (status, state) in [(&[404_u16], "failed"), (&[500], "retrying")] {
        let (url, _requests) = receiver(status).await;
        let (inbox, hook) = hooked(&rest, &url).await;
        deliver(&server, &inbox, &Mail::new("hooked", "x")).await;
        let delivery = eventually("an attempt", async || {
            deliveries(&rest, &hook).await.into_iter().find(|one| one["attempts"] == 1)
        })
        .await;
        assert_eq!(delivery["status"], state, "{delivery}");
        assert_eq!(delivery["httpStatus"], status[0], "{delivery}");
        assert_eq!(delivery["nextAttemptAt"].is_null(), state == "failed", "{delivery}");
    }
}
