//! What a browser does with a hostile mail, and with the page that documents the API.

mod hostile;
mod remote;

use std::collections::BTreeSet;

use serde_json::Value;
use trapline_tests::{Mail, Shared, deliver, shared};

use crate::tools::{node, run};
use hostile::{Kind, PROBES};
use remote::{PIXEL, Remote};

/// Both name the mail's own image; the second in percent-encoding (RFC 2392).
const OWN_IMAGES: &str = "<img id='plain' src='cid:logo@app.test'>
    <img id='encoded' src='cid:lo%67o%40app.test'>
    <p id='styled' style='background-image: url(cid:logo@app.test)'>Hello</p>";

/// Opens a page in Chromium, clicks what there is to click, and tells what happened.
async fn open(url: &str) -> Value {
    let mut browser = node("node/browser.cjs");
    browser.arg(url);
    let report = run(browser).await;
    serde_json::from_str(&report).expect(&report)
}

fn names(kinds: &[Kind]) -> BTreeSet<String> {
    let chosen = PROBES.iter().filter(|(_, kind, _)| kinds.contains(kind));
    chosen.map(|(name, ..)| (*name).to_owned()).collect()
}

/// A mail with all probes and an inline image, on the shared server.
struct Scene {
    deployment: Shared,
    remote: Remote,
    preview: String,
}

impl Scene {
    async fn new() -> Self {
        let deployment = shared();
        let remote = Remote::start(|_| String::new()).await;
        let html = hostile::page(&remote.url(), OWN_IMAGES);
        let image = format!(
            "Content-Type: image/png\nContent-ID: <logo@app.test>\n\
             Content-Disposition: inline\nContent-Transfer-Encoding: base64\n\n{PIXEL}"
        );
        let html = format!("Content-Type: text/html; charset=utf-8\n\n{html}");
        let mail = Mail::new("Hostile", "").multipart("related", &[&html, &image]);
        let rest = deployment.rest();
        let inbox = rest.inbox().await;
        let id = deliver(&deployment, &inbox, &mail).await;
        let path = format!("/api/messages/{id}/preview-url");
        let signed = rest.get(&path).await.expect(200).json();
        let preview = signed["url"].as_str().unwrap().to_owned();
        Self { deployment, remote, preview }
    }

    /// Checks that the browser asked nobody but the server.
    fn stays_at_home(&self, report: &Value, but_for: &[&Remote]) {
        let mut homes = self.deployment.api();
        homes.extend(but_for.iter().map(|remote| remote.url()));
        for request in requests(report) {
            assert!(homes.iter().any(|home| request.starts_with(home)), "{request}");
        }
    }
}

/// Checks that the frame shows the mail with its own images, and that nothing ran in it.
fn shows_the_mail(report: &Value) {
    let frames = report["frames"].as_array().unwrap();
    let is_mail = |frame: &&Value| frame["url"].as_str().unwrap().contains("/api/messages/");
    let mail: Vec<_> = frames.iter().filter(is_mail).collect();
    let [mail] = mail[..] else { panic!("not one frame of the mail: {report:#}") };
    assert!(mail["text"].as_str().unwrap().contains("Hello"), "{mail}");
    assert_eq!((&mail["title"], &mail["ran"]), (&"Hostile".into(), &"".into()));
    for image in ["plain", "encoded"] {
        assert_eq!(mail["images"][image], 1, "{image} of {mail}");
    }
}

/// What went over the network.
fn requests(report: &Value) -> impl Iterator<Item = &str> {
    let urls = report["requests"].as_array().unwrap().iter().map(|url| url.as_str().unwrap());
    urls.filter(|url| !url.starts_with("data:"))
}

/// Without a fence the probes do what they are for, so that the other tests could fail.
#[tokio::test]
async fn hostile_page_works_where_nothing_holds_it_back() {
    let remote = Remote::start(|url| hostile::page(url, "")).await;
    open(&format!("{}/page", remote.url())).await;
    let expected = names(&[Kind::Script, Kind::Image, Kind::Other]);
    let missing: Vec<_> = expected.difference(&remote.names()).cloned().collect();
    assert!(missing.is_empty(), "{missing:?} did nothing");
}

#[tokio::test]
async fn preview_runs_nothing_and_reaches_nobody() {
    let scene = Scene::new().await;
    let report = open(&scene.preview).await;
    shows_the_mail(&report);
    scene.stays_at_home(&report, &[]);
    assert_eq!((scene.remote.names(), scene.remote.connections()), (BTreeSet::new(), 0));
}

#[tokio::test]
async fn preview_in_a_frame_runs_nothing_and_reaches_nobody() {
    let scene = Scene::new().await;
    let preview = scene.preview.replace('&', "&amp;");
    let app = Remote::start(|_| {
        format!(
            "<!doctype html><iframe sandbox='allow-popups allow-popups-to-escape-sandbox' \
             referrerpolicy='no-referrer' src='{preview}'></iframe>"
        )
    })
    .await;
    let report = open(&format!("{}/page", app.url())).await;
    shows_the_mail(&report);
    scene.stays_at_home(&report, &[&app]);
    assert_eq!((scene.remote.names(), scene.remote.connections()), (BTreeSet::new(), 0));
}

#[tokio::test]
async fn preview_with_images_loads_images_and_nothing_else() {
    let scene = Scene::new().await;
    let report = open(&format!("{}&images=1", scene.preview)).await;
    shows_the_mail(&report);
    scene.stays_at_home(&report, &[&scene.remote]);
    let loaded = scene.remote.names();
    let images = names(&[Kind::Image]);
    let missing: Vec<_> = images.difference(&loaded).collect();
    assert!(missing.is_empty(), "{missing:?} were not loaded");
    let more: Vec<_> = loaded.difference(&images).collect();
    assert!(more.is_empty(), "{more:?} were loaded too");
}

#[tokio::test]
async fn documentation_shows_every_path_and_loads_nothing_from_elsewhere() {
    let deployment = shared();
    let home = deployment.api().remove(0);
    let document = deployment.anonymous().get("/api/openapi.json").await.expect(200).json();
    let report = open(&format!("{home}/docs")).await;
    let text = report["frames"][0]["text"].as_str().unwrap().replace('\u{200b}', "");
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(text.contains(path.as_str()), "{path} is not in {text}");
    }
    for request in requests(&report) {
        assert!(request.starts_with(&home), "{request}");
    }
}
