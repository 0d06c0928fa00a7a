//! What receivers do, well and badly.

use std::{sync::Mutex, time::Duration};

use bytes::Bytes;
use tokio::{io::AsyncWriteExt as _, net::TcpListener, sync::mpsc};
use trapline_worker::outbound::{
    Client, Guard, HeaderName, HeaderValue, OutboundFailure, RetryAfter, Url,
};

use super::{
    Fixed, LONG, SHORT, allowing, local_client, post,
    receiver::{Receiver, read_request},
};

#[tokio::test]
async fn the_request_arrives_as_it_was_meant() {
    let (send, mut requests) = mpsc::unbounded_channel();
    let receiver = Receiver::new(move |mut stream| {
        let send = send.clone();
        async move {
            send.send(read_request(&mut stream).await.unwrap()).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
        }
    })
    .await;
    let headers = [
        (HeaderName::from_static("content-type"), HeaderValue::from_static("application/json")),
        (HeaderName::from_static("x-signature"), HeaderValue::from_static("abc")),
    ];
    let url = Url::parse(&receiver.url()).unwrap();
    let answer = local_client().post(&url, &headers, Bytes::from_static(b"{}"), LONG).await;
    assert_eq!(answer.status(), Some(200));
    let expected = format!(
        "POST /hook?a=b HTTP/1.1\r\ncontent-type: application/json\r\nx-signature: abc\r\n\
         host: hook.example.com:{}\r\ncontent-length: 2\r\n\r\n{{}}",
        receiver.address.port()
    );
    assert_eq!(requests.recv().await.unwrap(), expected);
}

#[tokio::test]
async fn every_status_is_an_answer() {
    let delay = |seconds| Some(RetryAfter::Delay(Duration::from_secs(seconds)));
    // The answer's first lines, its status, and when to come back.
    let cases = [
        ("200 OK", 200, None),
        ("202 Accepted", 202, None),
        ("204 No Content", 204, None),
        ("299 Fine", 299, None),
        ("301 Moved\r\nLocation: https://example.com/", 301, None),
        ("304 Not Modified", 304, None),
        ("308 Moved\r\nLocation: /other", 308, None),
        ("400 Bad Request", 400, None),
        ("401 Unauthorized", 401, None),
        ("404 Not Found", 404, None),
        ("410 Gone", 410, None),
        ("408 Request Timeout", 408, None),
        ("429 Slow\r\nRetry-After: 7", 429, delay(7)),
        ("429 Slow\r\nRetry-After: 99999999999", 429, delay(86_400)),
        ("429 Slow\r\nRetry-After: never", 429, None),
        ("500 Oops", 500, None),
        ("503 Later\r\nRetry-After: 60", 503, delay(60)),
        ("999 Odd", 999, None),
    ];
    for (head, status, retry_after) in cases {
        let receiver = Receiver::answering(format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n"));
        let answer = post(&local_client(), &receiver.await.url(), LONG).await;
        let response = answer.outcome.unwrap();
        assert_eq!((response.status, response.retry_after), (status, retry_after), "{head}");
    }
}

#[tokio::test]
async fn a_redirect_is_followed_nowhere() {
    let inside = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("Location: http://127.0.0.1:{}/", inside.address.port());
        let head = format!("HTTP/1.1 {status} Found\r\n{location}\r\nContent-Length: 0\r\n\r\n");
        let answer = post(&local_client(), &Receiver::answering(head).await.url(), LONG).await;
        assert_eq!(answer.status(), Some(status));
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_connection_is_used_again_and_the_name_looked_up_only_for_a_new_one() {
    let big = format!("1000\r\n{}\r\n", "x".repeat(0x1000)).repeat(3);
    let bodies = [
        ("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), 1),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(), 1),
        (format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{big}0\r\n\r\n"), 1),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(), 9),
        // More than is read, by a little and by far: the connection goes.
        (format!("HTTP/1.1 200 OK\r\nContent-Length: 17000\r\n\r\n{}", "x".repeat(17_000)), 9),
        (format!("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n{}", "x".repeat(9_000_000)), 9),
    ];
    for (answer, connections) in bodies {
        let fixed = Fixed::new(&["127.0.0.1"]);
        let guard = Guard::with_resolver(allowing(&["127.0.0.1/32"]), fixed.clone());
        let client = Client::new(guard, &[]).unwrap();
        let receiver = Receiver::answering(answer.clone()).await;
        for _ in 0..9 {
            let answer = post(&client, &receiver.url(), LONG).await;
            assert!(answer.outcome.is_ok(), "{answer:?}");
        }
        assert_eq!((receiver.connections(), fixed.asked()), (connections, connections), "{answer}");
    }
}

#[tokio::test]
async fn a_name_that_moved_inside_is_refused_on_the_next_connection() {
    let fixed = Fixed::new(&["127.0.0.1"]);
    let guard = Guard::with_resolver(allowing(&["127.0.0.1/32"]), fixed.clone());
    let client = Client::new(guard, &[]).unwrap();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let receiver = Receiver::answering(head).await;
    assert_eq!(post(&client, &receiver.url(), LONG).await.status(), Some(200));
    fixed.now_answers(&["127.0.0.2"]);
    let moved = post(&client, &receiver.url(), LONG).await;
    assert_eq!(moved.outcome, Err(OutboundFailure::AddressNotAllowed));
    assert_eq!((receiver.connections(), fixed.asked()), (1, 2));
}

#[tokio::test]
async fn a_receiver_that_never_answers_costs_the_deadline() {
    let silent = Receiver::new(|mut stream| async move {
        read_request(&mut stream).await.unwrap();
        while read_request(&mut stream).await.is_some() {}
    });
    let mut silent = silent.await;
    let answer = post(&local_client(), &silent.url(), SHORT).await;
    assert_eq!(answer.outcome, Err(OutboundFailure::Timeout));
    assert!(answer.took >= SHORT);
    silent.ended().await;
    let mut stalled = Receiver::new(|mut stream| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Le").await.unwrap();
        while read_request(&mut stream).await.is_some() {}
    })
    .await;
    let answer = post(&local_client(), &stalled.url(), SHORT).await;
    assert_eq!(answer.outcome, Err(OutboundFailure::Timeout));
    stalled.ended().await;
}

#[tokio::test]
async fn an_accepted_request_stays_accepted_whatever_its_body_does() {
    let slow = Receiver::new(|mut stream| async move {
        read_request(&mut stream).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let breaking = Receiver::new(|mut stream| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").await.unwrap();
    });
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = b"8\r\nxxxxxxxx\r\n8\r\nxxxxxxxx\r\n8\r\nxxxxxxxx\r\n8\r\nxxxxxxxx\r\n";
    let endless = Receiver::endless(chunked, chunk);
    let to_the_end = Receiver::endless("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 4096]);
    for mut receiver in [slow.await, breaking.await, endless.await, to_the_end.await] {
        let client = local_client();
        let answer = post(&client, &receiver.url(), SHORT).await;
        assert_eq!(answer.status(), Some(200));
        receiver.ended().await;
    }
}

#[tokio::test]
async fn what_is_no_bounded_http_answer_is_cut_off() {
    let endless_head = Receiver::endless("HTTP/1.1 200 OK\r\n", b"X-More: of the same\r\n");
    let one_header = Receiver::endless("HTTP/1.1 200 OK\r\nX-Long: ", &[b'x'; 4096]);
    let interim = Receiver::endless("", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    let status = Receiver::endless("HTTP/1.1 200 ", &[b'x'; 4096]);
    let smtp = Receiver::endless("220 mail.example.com ESMTP\r\n", b"500 what?\r\n");
    let mut many: Vec<_> =
        vec![endless_head.await, one_header.await, interim.await, status.await, smtp.await];
    let fields = "X-A: b\r\n".repeat(500);
    let finite = [
        String::new(),
        "HTTP/1.1 2".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 5".to_owned(),
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{fields}\r\n"),
        "\0\0\0\0\0\0\0\0\r\n\r\n".to_owned(),
    ];
    for answer in finite {
        let answer = Mutex::new(Some(answer));
        let once = Receiver::new(move |mut stream| {
            let answer = answer.lock().unwrap().take().unwrap();
            async move {
                read_request(&mut stream).await.unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        many.push(once.await);
    }
    for (case, mut receiver) in many.into_iter().enumerate() {
        let answer = post(&local_client(), &receiver.url(), LONG).await;
        assert_eq!(answer.outcome, Err(OutboundFailure::Reset), "case {case}");
        let failure = answer.outcome.unwrap_err();
        assert_eq!((failure.code(), failure.is_final()), ("reset", false));
        receiver.ended().await;
    }
}

#[tokio::test]
async fn a_connection_that_is_reset_or_refused_is_tried_again_later() {
    let mut resetting = Receiver::new(|mut stream| async move {
        read_request(&mut stream).await.unwrap();
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    })
    .await;
    let answer = post(&local_client(), &resetting.url(), LONG).await;
    assert_eq!(answer.outcome, Err(OutboundFailure::Reset));
    resetting.ended().await;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let answer = post(&local_client(), &format!("http://hook.example.com:{port}/"), LONG).await;
    let failure = answer.outcome.unwrap_err();
    assert_eq!((failure.code(), failure.is_final()), ("connect_refused", false));
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let fixed = Fixed::new(&["127.0.0.9", "127.0.0.8", "127.0.0.1"]);
    let guard = Guard::with_resolver(allowing(&["127.0.0.0/8"]), fixed.clone());
    let client = Client::new(guard, &[]).unwrap();
    assert_eq!(post(&client, &receiver.url(), LONG).await.status(), Some(204));
    assert_eq!(fixed.asked(), 1);
}
