//! What the console answers, over files of a test and over those that were built.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::{
    body::to_bytes,
    http::{Request, StatusCode},
};

use super::*;

static FILES: [File; 3] = [
    File {
        name: "assets/index-1.js",
        plain: b"plain",
        gzip: Some(b"gzip"),
        brotli: Some(b"brotli"),
    },
    File {
        name: "index.html",
        plain: b"<script type=\"module\" src=\"./assets/index-1.js\"></script>",
        gzip: None,
        brotli: None,
    },
    File { name: "licenses.txt", plain: b"MIT", gzip: None, brotli: None },
];

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");

fn ask(method: &str, path: &str, prefix: &str, headers: &[(&str, &str)]) -> Option<Response> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    Console::of(&FILES).unwrap().answer(&parts, prefix)
}

/// The body of the page at a path.
async fn page(path: &str, prefix: &str) -> String {
    let response = ask("GET", path, prefix, &[HTML]).unwrap();
    String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn references_of_the_page_fit_its_path() {
    let cases = [
        ("/", "", "./assets/"),
        ("/sign-in", "", "./assets/"),
        ("/inboxes/1", "", "../assets/"),
        ("/inboxes/1/connect?x=1", "", "../../assets/"),
        ("/inboxes/", "", "../assets/"),
        ("/", "/mail/trap", "/mail/trap/assets/"),
        ("/inboxes/1", "/mail/trap", "../assets/"),
    ];
    for (path, prefix, wanted) in cases {
        let page = page(path, prefix).await;
        assert!(page.contains(&format!("src=\"{wanted}index-1.js\"")), "{path}: {page}");
    }
}

#[test]
fn what_is_not_its_own_is_left_to_others() {
    for path in ["/api", "/api/inboxes", "/docs", "/status", "/assets/gone.js", "/saml/x"] {
        assert!(ask("GET", path, "", &[HTML]).is_none(), "{path}");
    }
    assert!(ask("POST", "/inboxes/1", "", &[HTML]).is_none());
    assert!(ask("GET", "/inboxes/1", "", &[("accept", "*/*")]).is_none());
    assert!(ask("GET", "/", "", &[]).is_none());
    assert!(Console::of(&[]).is_none());
}

#[test]
fn the_page_runs_our_scripts_only_and_is_asked_for_again() {
    let response = ask("GET", "/inboxes/1", "", &[HTML]).unwrap();
    let headers = response.headers();
    let policy = headers["content-security-policy"].to_str().unwrap();
    for part in ["default-src 'none'", "script-src 'self';", "require-trusted-types-for 'script'"] {
        assert!(policy.contains(part), "{part}");
    }
    assert!(!policy.contains("unsafe"));
    assert_eq!(headers["cache-control"], "no-cache");
    let tag = headers["etag"].to_str().unwrap();
    let again = ask("GET", "/inboxes/2", "", &[HTML, ("if-none-match", tag)]).unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    let others = format!("\"x\", W/{tag}");
    for (known, status) in [(others.as_str(), 304), ("*", 304), ("\"x\"", 200)] {
        let again = ask("GET", "/inboxes/2", "", &[HTML, ("if-none-match", known)]).unwrap();
        assert_eq!(again.status(), status, "{known}");
    }
    let deeper = ask("GET", "/inboxes/2/connect", "", &[HTML, ("if-none-match", tag)]).unwrap();
    assert_eq!(deeper.status(), StatusCode::OK);
}

#[tokio::test]
async fn files_come_in_the_form_that_is_taken() {
    let cases = [
        ("", "plain"),
        ("gzip, deflate, br", "brotli"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br;q=x", "plain"),
        ("BR; Q=0.000 , GZIP ;q=0.1", "gzip"),
        ("br;q=NaN, gzip;q=-1", "plain"),
        ("xbr, brx, br x", "plain"),
        ("identity", "plain"),
    ];
    for (takes, wanted) in cases {
        let response = ask("GET", "/assets/index-1.js", "", &[("accept-encoding", takes)]).unwrap();
        assert!(response.headers()["cache-control"].to_str().unwrap().contains("immutable"));
        assert_eq!(response.headers()["content-type"], "text/javascript; charset=utf-8");
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        assert_eq!(body, wanted, "{takes}");
    }
    let notices = ask("GET", "/licenses.txt", "", &[]).unwrap();
    assert_eq!(notices.headers()["cache-control"], "no-cache");
}

/// After an upgrade, or from the other of two builds, a browser asks for a file that is not here: a page
/// in its place would be run as a script, and kept.
#[test]
fn a_file_that_is_missing_is_no_page() {
    for accept in ["*/*", "text/html", "text/html,*/*;q=0.1"] {
        for path in ["/assets/index-2.js", "/assets/", "/assets", "//assets/index-2.js"] {
            assert!(ask("GET", path, "", &[("accept", accept)]).is_none(), "{path} {accept}");
        }
    }
}

#[test]
fn the_head_alone_is_that_of_the_whole() {
    for (path, fields) in [("/inboxes/1", HTML), ("/assets/index-1.js", ("accept", "*/*"))] {
        let [get, head] = ["GET", "HEAD"].map(|method| ask(method, path, "", &[fields]).unwrap());
        assert_eq!((get.status(), get.headers()), (head.status(), head.headers()), "{path}");
    }
}

/// Bytes of all scripts, and of scripts and styles that the page names, each compressed by gzip.
#[test]
fn what_is_built_is_small() {
    let Some(console) = Console::embedded() else { return };
    let index = console.files.iter().find(|file| file.name == "index.html").unwrap();
    let index = str::from_utf8(index.plain).unwrap();
    let sum = |end: &str, first: bool| -> usize {
        let files = console.files.iter().filter(|file| file.name.ends_with(end));
        let files = files.filter(|file| !first || index.contains(file.name));
        files.map(|file| file.gzip.unwrap_or(file.plain).len()).sum()
    };
    let (first, styles, all) = (sum(".js", true), sum(".css", true), sum(".js", false));
    println!("first script {first}, first styles {styles}, all scripts {all} bytes (gzip)");
    assert!((1..=60_000).contains(&first), "{first}");
    assert!((1..=12_000).contains(&styles), "{styles}");
    assert!(all <= 180_000, "{all}");
    let whole: usize = console.files.iter().map(|file| file.plain.len()).sum();
    assert!(whole <= 1_000_000, "{whole}");
    assert!(console.files.iter().any(|file| file.name == "licenses.txt"));
}
