//! The HTML preview, its headers, and the signed URLs that need no key.

use trapline_tests::{Answer, Mail, deliver, shared};

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
        ("cache-control", "private, no-store"),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
}

/// The first URL of the page that leads to an attachment.
fn image_url(page: &str) -> String {
    let at = page.find("/attachments/").unwrap_or_else(|| panic!("no image in {page}"));
    let start = page[..at].rfind('"').unwrap() + 1;
    page[start..].split('"').next().unwrap().replace("&amp;", "&")
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
    let image = server.anonymous().get(&image_url(page)).await.expect(200);
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
    let flipped = if signature.starts_with('0') { "1" } else { "0" };
    let tampered = format!("{flipped}{}", &signature[1..]);
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
    let image = image_url(page.text());
    anybody.get(&image.replace("/attachments/", "/attachments/9")).await.error(403);
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
    anybody.get(url).await.error(404);
    anybody.get(&image).await.error(404);
}
