//! The HTML preview, its headers, and the signed URLs that need no key.

use std::fmt::Write;

use futures_util::future::join_all;
use trapline_tests::{Answer, Mail, Smtp, altered, deliver, guarded, shared};

const HOSTILE: &str = "<html><head><base href=\"https://evil.test/\">\
    <meta http-equiv=\"refresh\" content=\"0;url=https://evil.test/\"><script>alert(1)</script></head>\
    <body onload=\"alert(2)\"><img src=\"cid:logo%40x\"><img src=\"https://evil.test/pixel.gif\">\
    <iframe src=\"https://evil.test/\"></iframe><a href=\"javascript:alert(3)\">x</a>\
    <a href=\"https://example.test/\">y</a></body></html>";

fn hostile() -> Mail {
    Mail::new("hostile", "").multipart("related", &[
        &format!("Content-Type: text/html; charset=utf-8\n\n{HOSTILE}"),
        "Content-Type: image/png\nContent-ID: <logo@x>\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=",
    ])
}

fn check_headers(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    for part in
        ["sandbox allow-popups", "default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    for never in ["allow-scripts", "allow-same-origin", "script-src"] {
        assert!(!policy.contains(never), "{policy}");
    }
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-dns-prefetch-control", "off"),
        ("cache-control", "private, no-store"),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
}

/// The first URL of a message's page that leads to an attachment. It is relative to the page, which
/// may be opened under any name, and behind a proxy at any path.
fn image_url(id: &str, page: &str) -> String {
    let at = page.find("\"attachments/").unwrap_or_else(|| panic!("no image in {page}")) + 1;
    let relative = page[at..].split('"').next().unwrap().replace("&amp;", "&");
    format!("/api/messages/{id}/{relative}")
}

#[tokio::test]
async fn a_preview_runs_nothing_and_loads_only_its_own_images() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &hostile()).await;
    let path = format!("/api/messages/{id}/html");
    let answer = rest.get(&path).await.expect(200);
    check_headers(&answer);
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("img-src 'self' data:;"), "{policy}");
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    let page = answer.text();
    for gone in ["<script", "onload", "<base", "refresh", "<iframe", "javascript:", "cid:"] {
        assert!(!page.contains(gone), "{gone} in {page}");
    }
    assert!(page.contains("rel=\"noopener noreferrer\""), "{page}");
    let with_images = rest.get(&format!("{path}?images=1")).await.expect(200);
    assert!(with_images.header("content-security-policy").contains("https:"));

    // The sandboxed page sends neither key nor cookie for its images.
    let image = server.anonymous().get(&image_url(&id, page)).await.expect(200);
    assert_eq!(image.body, &b"\x89PNG\r\n\x1a\n"[..]);
    assert_eq!(image.header("content-type"), "image/png");
    assert_eq!(image.header("cross-origin-resource-policy"), "cross-origin");
}

#[tokio::test]
async fn a_text_message_has_a_preview_too() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("text", "1 < 2 <script>alert(1)</script>")).await;
    let answer = rest.get(&format!("/api/messages/{id}/html")).await.expect(200);
    check_headers(&answer);
    assert!(answer.text().contains("1 &lt; 2 &lt;script&gt;"), "{}", answer.text());
}

#[tokio::test]
async fn a_signed_url_needs_no_key_and_stands_no_change() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &hostile()).await;
    let other = deliver(&server, &inbox, &hostile()).await;
    let answer = rest.get(&format!("/api/messages/{id}/preview-url")).await.expect(200).json();
    let url = answer["url"].as_str().unwrap();
    assert!(answer["expiresAt"].as_str().unwrap().ends_with('Z'), "{answer}");
    let anybody = server.anonymous();
    let page = anybody.get(url).await.expect(200);
    check_headers(&page);
    assert!(page.header("content-security-policy").contains("frame-ancestors *"));

    let (place, query) = url.split_once('?').unwrap();
    let value = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.unwrap_or_else(|| panic!("no {name} in {query}")).to_owned()
    };
    let (expires, signature) = (value("exp"), value("sig"));
    let later: i64 = expires.parse::<i64>().unwrap() + 1;
    let tampered = altered(&signature);
    for (what, url) in [
        ("a later end", format!("{place}?exp={later}&sig={signature}")),
        ("an end that is over", format!("{place}?exp=1700000000&sig={signature}")),
        ("another signature", format!("{place}?exp={expires}&sig={tampered}")),
        ("half a signature", format!("{place}?exp={expires}&sig={}", &signature[..8])),
        ("another message", url.replace(&id, &other)),
        ("the raw message", url.replace("/html", "/raw")),
        ("the record", url.replace("/html", "")),
    ] {
        let answer = anybody.get(&url).await;
        assert!([401, 403].contains(&answer.status), "{what}: {answer}");
    }
    for (what, query) in [
        ("no signature", format!("exp={expires}")),
        ("no end", format!("sig={signature}")),
        ("no number", format!("exp=x&sig={signature}")),
    ] {
        let answer = anybody.get(&format!("{place}?{query}")).await;
        assert!([400, 401, 403].contains(&answer.status), "{what}: {answer}");
    }
    let image = image_url(&id, page.text());
    anybody.get(&image.replace("/attachments/", "/attachments/9")).await.error(403);
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    anybody.get(url).await.error(404);
    anybody.get(&image).await.error(404);
}

/// A URL that is passed on tells nobody whose mail it shows.
#[tokio::test]
async fn a_signature_is_opaque_and_ends_with_its_inbox() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut signatures = Vec::new();
    let mut urls = Vec::new();
    for _ in 0..2 {
        let id = deliver(&server, &inbox, &hostile()).await;
        let answer = rest.get(&format!("/api/messages/{id}/preview-url")).await.expect(200).json();
        let url = answer["url"].as_str().unwrap().to_owned();
        let page = server.anonymous().get(&url).await.expect(200);
        urls.push(image_url(&id, page.text()));
        urls.push(url);
    }
    for url in &urls {
        let signature = url.split_once("sig=").unwrap().1;
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        assert!(signature.bytes().all(is_base64url), "{signature}");
        signatures.push(signature);
    }
    // Team, inbox and time are the same; what they share would show.
    for part in signatures[0].as_bytes().windows(8) {
        let others = &signatures[1..];
        assert!(!others.iter().any(|other| other.as_bytes().windows(8).any(|found| found == part)));
    }
    rest.delete(&inbox.path("")).await.expect(204);
    for url in &urls {
        server.anonymous().get(url).await.error(404);
    }
}

#[tokio::test]
async fn a_webhooks_address_of_a_message_tells_strangers_where_to_look() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &hostile()).await;
    let signed = rest.get(&format!("/api/messages/{id}/preview-url")).await.expect(200).json();
    let query = signed["url"].as_str().unwrap().split_once('?').unwrap().1;
    let anybody = server.anonymous();
    let page = format!("/inboxes/{}?message={id}", inbox.id);
    let answer = anybody.get(&page).await.expect(200);
    for part in [&id, &inbox.id, "$TRAPLINE_API_KEY", &format!("/api/messages/{id}/preview-url")] {
        assert!(answer.text().contains(part), "{part} is not in {answer}");
    }
    assert!(!answer.text().contains("hostile"), "{answer}");
    let shown = answer.text().to_owned();
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("script"), "{policy}");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    anybody.get(&format!("/inboxes/{}", inbox.id)).await.expect(200);

    let frame = format!("src=\"../api/messages/{id}/html?{}\"", query.replace('&', "&amp;"));
    let answer = anybody.get(&format!("{page}&{query}")).await.expect(200);
    assert!(answer.text().contains(&frame), "{frame} is not in {answer}");
    let wrong = anybody.get(&format!("{page}&exp=1700000000&sig=x")).await.expect(403);
    assert!(!wrong.text().contains("<iframe"), "{wrong}");

    for malformed in ["/inboxes/x", "/inboxes/", &format!("/inboxes/{}?message=x", inbox.id)] {
        anybody.get(malformed).await.error(404);
    }
    // Gone, the page is the same to a byte.
    rest.delete(&inbox.path("")).await.expect(204);
    assert_eq!(anybody.get(&page).await.expect(200).text(), shown);
}

/// One tag that fills the body: with a pass over all attributes for each, it would keep a processor
/// busy for minutes.
#[tokio::test]
async fn the_costliest_mail_stops_nobody() {
    let server = shared();
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let mut attributes = String::new();
    for number in 0..60_000 {
        writeln!(attributes, "on{number}=x").unwrap();
    }
    let mail = Mail::new("costly", "").html(&format!("<p {attributes}>After all of them"));
    let id = deliver(&server, &inbox, &mail).await;
    let path = format!("/api/messages/{id}/html");
    // A client's come one after another, and each waits twenty seconds at most.
    let costly = join_all((0..2).map(|_| rest.get(&path)));
    let beside = async {
        for _ in 0..4 {
            rest.get("/api/health").await.expect(200);
            rest.get(&inbox.path("/messages")).await.expect(200);
            drop(Smtp::connect(server.smtp()[0]).await);
        }
    };
    let (pages, ()) =
        guarded("previews and others", futures_util::future::join(costly, beside)).await;
    for page in pages {
        let page = page.expect(200);
        assert!(
            page.text().trim_end().ends_with(">After all of them"),
            "{} bytes",
            page.body.len()
        );
        assert!(!page.text().contains("=\"x"), "a handler is left");
    }
}
