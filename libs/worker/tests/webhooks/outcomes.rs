//! What each kind of receiver leads to.

use std::time::Duration;

use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::TcpListener};
use trapline_model::{Delivery, DeliveryStatus};
use trapline_worker::outbound::GuardOptions;

use crate::{
    bench::{Bench, signature},
    receiver::{Act, Receiver},
};

const DEADLINE: Duration = Duration::from_millis(400);

#[tokio::test]
async fn an_accepted_delivery_is_signed_and_over() {
    let bench = Bench::new(Duration::from_secs(10)).await;
    let receiver = Receiver::start(&[Act::Answer(204, "")]).await;
    let (inbox, hook) = bench.hook(&receiver.url()).await;
    bench.deliver(&inbox).await;
    let delivery = bench.after(&hook, 1).await;
    assert_eq!((delivery.status, delivery.http_status), (DeliveryStatus::Succeeded, Some(204)));
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!(request.line, "POST /hook HTTP/1.1");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("user-agent"), "service-webhooks/1");
    assert_eq!(request.header("x-webhook-event"), "message.received");
    assert_eq!(request.header("x-webhook-delivery"), delivery.id.to_string());
    let signed =
        signature(&hook.secret.unwrap(), request.header("x-webhook-timestamp"), &request.body);
    assert_eq!(request.header("x-webhook-signature"), signed);
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["message"]["subject"], "Grüße");
    assert_eq!(body["message"]["id"], delivery.message_id.unwrap().to_string());
}

#[tokio::test]
async fn a_receiver_that_recovers_gets_it_in_the_end() {
    let bench = Bench::new(Duration::from_secs(10)).await;
    let receiver = Receiver::start(&[Act::Answer(500, ""), Act::Reset, Act::Answer(200, "")]).await;
    let (inbox, hook) = bench.hook(&receiver.url()).await;
    bench.deliver(&inbox).await;
    let first = bench.after(&hook, 1).await;
    assert_eq!(
        (first.status, first.error.as_deref()),
        (DeliveryStatus::Retrying, Some("http_5xx"))
    );
    bench.clock.advance(Duration::from_secs(33));
    let second = bench.after(&hook, 2).await;
    assert_eq!((second.http_status, second.error.as_deref()), (None, Some("reset")));
    bench.clock.advance(Duration::from_secs(132));
    let third = bench.after(&hook, 3).await;
    assert_eq!((third.status, third.error), (DeliveryStatus::Succeeded, None));
    let requests = receiver.requests();
    let bodies: Vec<_> = requests.iter().map(|request| &request.body).collect();
    assert_eq!(bodies, [bodies[0]; 3]);
    let secret = hook.secret.unwrap();
    for request in &requests {
        let timestamp = request.header("x-webhook-timestamp");
        let signed = signature(&secret, timestamp, &request.body);
        assert_eq!(request.header("x-webhook-signature"), signed);
    }
    assert_ne!(
        requests[0].header("x-webhook-signature"),
        requests[1].header("x-webhook-signature")
    );
}

/// What one attempt at a receiver leads to.
async fn attempt(url: &str) -> Delivery {
    let bench = Bench::new(DEADLINE).await;
    let (inbox, hook) = bench.hook(url).await;
    bench.deliver(&inbox).await;
    bench.after(&hook, 1).await
}

#[tokio::test]
async fn each_kind_of_receiver_has_its_outcome() {
    use DeliveryStatus::{Failed, Retrying, Succeeded};
    let slow = Duration::from_millis(20);
    let cases = [
        (Act::Answer(200, ""), Succeeded, Some(200), None),
        (Act::Answer(404, ""), Failed, Some(404), Some("http_4xx")),
        (Act::Answer(408, ""), Retrying, Some(408), Some("http_4xx")),
        (Act::Answer(503, ""), Retrying, Some(503), Some("http_5xx")),
        (Act::Hang, Retrying, None, Some("timeout")),
        (Act::Reset, Retrying, None, Some("reset")),
        (Act::Babble, Retrying, None, Some("reset")),
        // Once there is a status, the body is nobody's business.
        (Act::Endless(slow), Succeeded, Some(200), None),
        (Act::Endless(Duration::ZERO), Succeeded, Some(200), None),
    ];
    for (act, status, http_status, error) in cases {
        let receiver = Receiver::start(std::slice::from_ref(&act)).await;
        let delivery = attempt(&receiver.url()).await;
        assert_eq!((delivery.status, delivery.http_status), (status, http_status), "{act:?}");
        assert_eq!((delivery.error.as_deref(), delivery.attempts), (error, 1), "{act:?}");
        assert_eq!(receiver.requests().len(), 1, "{act:?}");
        if error == Some("timeout") {
            let took = Duration::from_millis(delivery.duration_ms.unwrap());
            assert!(took >= DEADLINE, "{delivery:?}");
        }
    }
}

#[tokio::test]
async fn retry_after_is_heeded() {
    let bench = Bench::new(DEADLINE).await;
    let acts = [Act::Answer(429, "Retry-After: 50\r\n"), Act::Answer(200, "")];
    let receiver = Receiver::start(&acts).await;
    let (inbox, hook) = bench.hook(&receiver.url()).await;
    bench.deliver(&inbox).await;
    let delivery = bench.after(&hook, 1).await;
    assert_eq!((delivery.status, delivery.http_status), (DeliveryStatus::Retrying, Some(429)));
    let pause = delivery.next_attempt_at.unwrap().since(bench.clock.now());
    assert!(pause >= Duration::from_secs(50) && pause <= Duration::from_secs(55), "{pause:?}");
    bench.clock.advance(pause);
    assert_eq!(bench.after(&hook, 2).await.status, DeliveryStatus::Succeeded);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::start(&[Act::Answer(200, "")]).await;
    let location = format!("Location: {}\r\n", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let acts = [Act::Answer(status, location.clone().leak())];
        let delivery = attempt(&Receiver::start(&acts).await.url()).await;
        assert_eq!((delivery.status, delivery.http_status), (DeliveryStatus::Failed, Some(status)));
        assert_eq!(delivery.error.as_deref(), Some("redirect_not_followed"));
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn what_cannot_be_connected_to_has_its_own_word() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let delivery = attempt(&format!("http://127.0.0.1:{port}/")).await;
    assert_eq!(delivery.error.as_deref(), Some("connect_refused"));
    assert_eq!(delivery.status, DeliveryStatus::Retrying);

    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = plain.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = plain.accept().await {
            stream.write_all(b"not TLS at all\r\n").await.unwrap_or_default();
        }
    });
    let delivery = attempt(&format!("https://127.0.0.1:{port}/")).await;
    assert_eq!(delivery.error.as_deref(), Some("tls_error"));
    assert_eq!(delivery.status, DeliveryStatus::Retrying);
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_refused_at_once() {
    let receiver = Receiver::start(&[Act::Answer(200, "")]).await;
    let strict = Bench::guarded(DEADLINE, GuardOptions::default()).await;
    let (inbox, hook) = strict.hook(&receiver.url()).await;
    strict.deliver(&inbox).await;
    let delivery = strict.after(&hook, 1).await;
    assert_eq!((delivery.status, delivery.http_status), (DeliveryStatus::Failed, None));
    assert_eq!(delivery.error.as_deref(), Some("address_not_allowed"));
    assert!(receiver.requests().is_empty());
}
