//! Behind a proxy that serves the product under a path of its own: one that takes the path off its
//! requests, and one that leaves it on.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::{IpAddr, Ipv6Addr},
};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use trapline_tests::{Answer, Deployment, Mail, Rest, deliver, is_cluster};

const PREFIX: &str = "/trapline";
/// Longer than any head here.
const HEAD: usize = 16 << 10;

/// Reads a request's head, up to and with its empty line, and what came of the body with it.
async fn head(client: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        if read.len() > HEAD || client.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
    String::from_utf8(read).ok()
}

/// One request a connection, so that each has a head to change.
async fn pass_on(mut client: TcpStream, upstream: String, strips: bool) -> Option<()> {
    let head = head(&mut client).await?;
    let (method, rest) = head.split_once(' ')?;
    let rest = rest.strip_prefix(PREFIX)?;
    let rest = rest.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    let before = if strips { "" } else { PREFIX };
    let slash = if strips && !rest.starts_with('/') { "/" } else { "" };
    let mut server = TcpStream::connect(upstream).await.ok()?;
    server.write_all(format!("{method} {before}{slash}{rest}").as_bytes()).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok().map(drop)
}

async fn proxy(listener: TcpListener, upstream: String, strips: bool) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(pass_on(client, upstream.clone(), strips));
    }
}

/// Where a link or a redirect of a page leads.
fn led(page: &str, to: &str) -> String {
    Url::parse(page).unwrap().join(to).unwrap().to_string()
}

/// A deployment with this base URL, and where its API really is.
async fn serving(base: &str) -> (Deployment, String) {
    if is_cluster() {
        let server = Deployment::with(&["--base-url", base]);
        let upstream = server.probes().remove(0);
        return (server, upstream.trim_start_matches("http://").to_owned());
    }
    // One process tells nobody but its base URL.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = free.local_addr().unwrap().to_string();
    drop(free);
    (Deployment::with(&["--base-url", base, "--http", &upstream]), upstream)
}

async fn everything_is_found_behind_a_proxy(strips: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}{PREFIX}", listener.local_addr().unwrap());
    let (server, upstream) = serving(&base).await;
    tokio::spawn(proxy(listener, upstream, strips));
    let rest = Rest::new(&base, Some(server.team().key()));

    // From the bare address to the page, its files and its document, as a browser goes.
    for start in [base.clone(), format!("{base}/"), format!("{base}/docs")] {
        let redirect = rest.get(&start).await.expect(307);
        assert_eq!(led(&start, redirect.header("location")), format!("{base}/docs/"), "{start}");
    }
    let page = format!("{base}/docs/");
    let html = rest.get(&page).await.expect(200);
    assert!(html.text().contains("<title>Trapline API</title>"), "{html}");
    rest.get(&led(&page, "./swagger-ui.css")).await.expect(200);
    let document = led(&page, "openapi.json");
    let shown = rest.get(&document).await.expect(200).json();
    let called = led(&document, shown["servers"][0]["url"].as_str().unwrap());
    assert_eq!(called, base);

    // What clients are made from says where the API is.
    let document = rest.get("/api/openapi.json").await.expect(200).json();
    assert_eq!(document["servers"], json!([{ "url": base }]));
    rest.get(&format!("{base}/api/projects")).await.expect(200);
    let inbox = rest.inbox().await;
    let message = deliver(&server, &inbox, &Mail::new("s", "t")).await;
    let preview = rest.get(&format!("/api/messages/{message}/preview-url")).await.expect(200);
    let preview = preview.json()["url"].as_str().unwrap().to_owned();
    assert!(preview.starts_with(&base), "{preview}");
    Rest::new(&base, None).get(&preview).await.expect(200);
    // Streams and errors come through as they are.
    let mut events = rest.events(&inbox.path("/events"), None).await;
    rest.post(&inbox.path("/test-message"), Value::Null).await.expect(201);
    assert_eq!(events.next().await.name, "message.created");
    rest.get("/api/inboxes/").await.error(404);
}

#[tokio::test]
async fn everything_is_found_behind_a_proxy_that_takes_its_path_off() {
    everything_is_found_behind_a_proxy(true).await;
}

#[tokio::test]
async fn everything_is_found_behind_a_proxy_that_leaves_its_path_on() {
    everything_is_found_behind_a_proxy(false).await;
}

#[tokio::test]
async fn limits_are_about_the_clients_that_a_proxy_names() {
    let flags = ["--http-proxy-from", "127.0.0.1/32,10.0.0.0/8", "--sign-in-rate", "2"];
    let server = Deployment::with(&flags);
    let proxy = server.anonymous();
    let guess = async |rest: &Rest, client: &str| {
        let body = json!({ "email": "nobody@example.com", "password": "a wrong password" });
        let request = rest.request("POST", "/api/auth/sign-in").header("x-forwarded-for", client);
        Answer::to(request.json(&body)).await.status
    };
    // Addresses of their own, since the limits of a cluster outlive a test.
    let [a, b, c, d, ..] = RandomState::new().hash_one(0).to_be_bytes();
    let network =
        |number| Ipv6Addr::from([0x2001, 0xdb8, u16::from_be_bytes([a, b]), number, 0, 0, 0, 1]);
    let [guesser, other, third] = [1, 2, 3].map(|number| network(number).to_string());
    for status in [401, 401, 429] {
        assert_eq!(guess(&proxy, &guesser).await, status);
    }
    assert_eq!(guess(&proxy, &format!("{other}, {guesser}, 10.1.2.3")).await, 429);
    assert_eq!(guess(&proxy, &other).await, 401);
    // Nobody else is believed.
    let direct = proxy.at(IpAddr::from([127, 3, c, d.max(1)]));
    for status in [401, 401, 429] {
        assert_eq!(guess(&direct, &third).await, status);
    }
    assert_eq!(guess(&proxy, &third).await, 401);
}
