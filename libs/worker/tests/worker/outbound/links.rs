//! Addresses of a message that are asked: where they lead, and where they may not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{io::AsyncWriteExt as _, sync::Mutex};
use trapline_app::{LinkFailure, LinkVisit, LinkVisitor as _};
use trapline_worker::{
    HttpLinkVisitor,
    outbound::{Client, Url},
};

use super::{
    Fixed, LONG, SHORT, allowing, guard, local_client,
    receiver::{Receiver, read_request},
};
use trapline_worker::outbound::Guard;

async fn visit(client: Client, url: &str) -> LinkVisit {
    let urls = [Url::parse(url).unwrap()];
    HttpLinkVisitor::new(client).visit(&urls, LONG).await.remove(0).unwrap()
}

fn failed(code: &'static str, status: Option<u16>) -> Result<u16, LinkFailure> {
    Err(LinkFailure { code, status })
}

/// Answers `GET` and `HEAD` with two heads.
async fn by_method(head: &'static str, get: &'static str) -> Receiver {
    Receiver::new(move |mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let asked = request.starts_with("GET") && request.contains("range: bytes=0-0\r\n");
            let answer = if asked { get } else { head };
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_head_is_enough_and_get_asks_where_it_is_refused() {
    let fine = by_method("HTTP/1.1 204 No\r\n\r\n", "HTTP/1.1 500 No\r\n\r\n").await;
    assert_eq!(visit(local_client(), &fine.url()).await.answer, Ok(204));
    for refused in ["HTTP/1.1 403 No\r\n\r\n", "HTTP/1.1 405 No\r\n\r\n", "HTTP/1.1 501 No\r\n\r\n"]
    {
        let get = "HTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\nx";
        let receiver = by_method(refused, get).await;
        assert_eq!(visit(local_client(), &receiver.url()).await.answer, Ok(206), "{refused}");
    }
}

#[tokio::test]
async fn redirects_are_followed_and_told() {
    let end = Receiver::answering("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n").await;
    let to = format!("http://other.example.com:{}/there?a=b#part", end.address.port());
    let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    let found = visit(local_client(), &Receiver::answering(head).await.url()).await;
    assert_eq!(found.answer, Ok(404));
    let told: Vec<_> = found.redirects.iter().map(|hop| (hop.url.as_str(), hop.status)).collect();
    assert_eq!(told, [(to.trim_end_matches("#part"), 302)]);
    let round = "HTTP/1.1 307 On\r\nLocation: ./on\r\nContent-Length: 0\r\n\r\n";
    let receiver = Receiver::answering(round).await;
    let found = visit(local_client(), &receiver.url()).await;
    assert_eq!(found.answer, failed("too_many_redirects", Some(307)));
    assert_eq!(found.redirects.len(), 5);
    let nowhere = Receiver::answering("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n").await;
    let found = visit(local_client(), &nowhere.url()).await;
    assert_eq!(found.answer, failed("bad_redirect", Some(301)));
}

#[tokio::test]
async fn nothing_private_is_reached_at_any_hop() {
    let inside = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let port = inside.address.port();
    for target in [
        format!("http://127.0.0.2:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.2]:{port}/"),
        format!("http://2130706434:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        format!("http://user:secret@hook.example.com:{port}/"),
        "http://hook.example.com:22/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://hook.example.com/".to_owned(),
    ] {
        for hops in [0, 1, 4] {
            let url = led_through(hops, &target).await;
            // Names lead to 127.0.0.1, which is allowed, and to nothing else of this machine.
            let client = Client::new(guard(allowing(&["127.0.0.1/32"]), &["127.0.0.1"]), &[]);
            let found = visit(client.unwrap(), &url).await;
            assert_eq!(found.answer, failed("address_not_allowed", None), "{target} after {hops}");
            assert_eq!(found.redirects.len(), hops);
        }
    }
    assert_eq!(inside.connections(), 0);
}

/// An address that leads to `target` by so many redirects.
async fn led_through(hops: usize, target: &str) -> String {
    let mut url = target.to_owned();
    for _ in 0..hops {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n");
        url = Receiver::answering(head).await.url();
    }
    url
}

#[tokio::test]
async fn a_name_that_moves_inside_is_refused_at_the_next_hop() {
    let names = Fixed::new(&["127.0.0.1"]);
    let client =
        Client::new(Guard::with_resolver(allowing(&["127.0.0.1/32"]), names.clone()), &[]).unwrap();
    let inside = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let to = format!("http://moved.example.com:{}/", inside.address.port());
    let receiver = Receiver::new(move |mut stream| {
        let (names, to) = (names.clone(), to.clone());
        async move {
            read_request(&mut stream).await.unwrap();
            names.now_answers(&["10.0.0.1"]);
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
        }
    });
    let found = visit(client, &receiver.await.url()).await;
    assert_eq!(found.answer, failed("address_not_allowed", None));
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_host_gets_two_requests_at_a_time_and_a_message_its_deadline() {
    let (now, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let gate = Arc::new(Mutex::new(()));
    let held = gate.clone().lock_owned().await;
    let (open, peak) = (now.clone(), most.clone());
    let receiver = Receiver::new(move |mut stream| {
        let (open, peak, gate) = (open.clone(), peak.clone(), gate.clone());
        async move {
            while read_request(&mut stream).await.is_some() {
                peak.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                drop(gate.lock().await);
                open.fetch_sub(1, Ordering::SeqCst);
                let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
                if stream.write_all(answer).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let url = |n: usize| Url::parse(&format!("{}&n={n}", receiver.url())).unwrap();
    let urls: Vec<_> = (0..12).map(url).collect();
    let visitor = HttpLinkVisitor::new(local_client());
    let found = visitor.visit(&urls, SHORT).await;
    assert_eq!(found.iter().flatten().count(), 2, "{found:?}");
    drop(held);
    let found = visitor.visit(&urls, LONG).await;
    assert!(found.iter().flatten().all(|visit| visit.answer == Ok(204)), "{found:?}");
    assert_eq!(found.len(), 12);
    assert!(most.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn an_answer_without_end_costs_nothing() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let receiver = Receiver::endless(head, b"4\r\nmore\r\n").await;
    let found = visit(local_client(), &receiver.url()).await;
    assert!(
        found.answer.is_ok() || found.answer.is_err_and(|why| why.code == "reset"),
        "{found:?}"
    );
    assert!(found.took < Duration::from_secs(10), "{found:?}");
}

#[tokio::test]
async fn one_click_is_sent_as_mailbox_providers_send_it() {
    let (send, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let receiver = Receiver::new(move |mut stream| {
        let send = send.clone();
        async move {
            send.send(read_request(&mut stream).await.unwrap()).unwrap();
            let answer = b"HTTP/1.1 302 Found\r\nLocation: /on\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer).await.unwrap();
        }
    })
    .await;
    let url = Url::parse(&receiver.url()).unwrap();
    let found = HttpLinkVisitor::new(local_client()).one_click(&url, LONG).await;
    assert_eq!((found.answer, found.redirects.len()), (Ok(302), 0));
    let expected = format!(
        "POST /hook?a=b HTTP/1.1\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         user-agent: trapline-one-click/1\r\nhost: hook.example.com:{}\r\ncontent-length: 26\r\n\r\n\
         List-Unsubscribe=One-Click",
        receiver.address.port()
    );
    assert_eq!(requests.recv().await.unwrap(), expected);
    let inside = Url::parse("https://10.0.0.1/u").unwrap();
    let refused = HttpLinkVisitor::new(local_client()).one_click(&inside, LONG).await;
    assert_eq!(refused.answer, failed("address_not_allowed", None));
}
