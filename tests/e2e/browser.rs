//! What a browser does with a hostile mail, and with the page that documents the API.

mod access;
mod areas;
mod console;
mod forwarding;
mod hostile;
mod identity;
mod journeys;
mod live;
mod mail;
mod nginx;
mod people;
mod pictures;
mod providers;
mod remote;
mod shell;
mod states;
mod team;

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use trapline_tests::{Deployment, Mail, Shared, TestClock, deliver, shared};

use crate::tools::{converse, node, run};
use hostile::{CANARY, Kind, PROBES};
use remote::{PIXEL, Remote};

/// All name the mail's own images: in percent-encoding (RFC 2392), in other letters, and one that is
/// an SVG document.
const OWN_IMAGES: &str = "<img id='plain' src='cid:logo@app.test'>
    <img id='encoded' src='cid:lo%67o%40app.test'>
    <img id='cased' src='cid:LOGO@App.test'>
    <img id='drawn' src='cid:drawn@app.test'>
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
    /// The page that a webhook names, with the preview's signature.
    page: String,
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
        let drawing = format!(
            "Content-Type: image/svg+xml\nContent-ID: <drawn@app.test>\n\n\
             <svg xmlns='http://www.w3.org/2000/svg' width='5' height='5'>\
             <image href='{0}/in-svg' width='5' height='5'/>\
             <script>fetch('{0}/svg-ran')</script></svg>",
            remote.url()
        );
        let html = format!("Content-Type: text/html; charset=utf-8\n\n{html}");
        let mail = Mail::new("Hostile", "").multipart("related", &[&html, &image, &drawing]);
        let rest = deployment.rest();
        let inbox = rest.inbox().await;
        let id = deliver(&deployment, &inbox, &mail).await;
        let path = format!("/api/messages/{id}/preview-url");
        let signed = rest.get(&path).await.expect(200).json();
        let preview = signed["url"].as_str().unwrap().to_owned();
        let (place, query) = preview.split_once('?').unwrap();
        let home = place.split("/api/").next().unwrap();
        let page = format!("{home}/inboxes/{}?message={id}&{query}", inbox.id);
        Self { deployment, remote, preview, page }
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
    for (image, width) in [("plain", 1), ("encoded", 1), ("cased", 1), ("drawn", 5)] {
        assert_eq!(mail["images"][image], width, "{image} of {mail}");
    }
    let looked_up: Vec<_> = lookups(report).collect();
    assert!(looked_up.is_empty(), "{looked_up:?} were looked up");
}

/// The names of [`hostile`] that the browser looked up.
fn lookups(report: &Value) -> impl Iterator<Item = &str> {
    let names = report["lookups"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    names.filter(|name| name.contains(CANARY))
}

/// What went over the network.
fn requests(report: &Value) -> impl Iterator<Item = &str> {
    let urls = report["requests"].as_array().unwrap().iter().map(|url| url.as_str().unwrap());
    urls.filter(|url| !url.starts_with("data:"))
}

/// What the browser saw on a journey of `clients/node` through the web console, where nothing went wrong and
/// nothing was asked of anybody else.
async fn walk(server: &Deployment, journey: &str, arguments: &[&str]) -> Value {
    let mut browser = node(&format!("node/{journey}.cjs"));
    browser.args(arguments);
    let report = checked(&run(browser).await);
    let home = &server.api()[0];
    for request in requests(&report) {
        assert!(request.starts_with(home), "{request}");
    }
    report
}

/// One process that keeps its address when it starts again, and whose clock moves.
async fn lasting(flags: &[&str]) -> (Deployment, TestClock) {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    Deployment::with_clock(&[&["--http", &address], flags].concat())
}

/// The same for a journey that has things done to a [`lasting`] server on its way: `@stop`, `@start`, `@jump` with
/// the seconds by which its clock is put ahead, and `@run` with an operator's command as JSON, to which the flags
/// of the team are added.
async fn walk_through(
    (mut server, clock): (Deployment, TestClock),
    journey: &str,
    arguments: &[&str],
) -> Value {
    let mut browser = node(&format!("node/{journey}.cjs"));
    browser.args(arguments).arg(server.here(server.owners_link()));
    let report = converse(browser, |question| {
        match question.split_once(' ') {
            None if question == "stop" => server.kill(),
            None if question == "start" => server.restart(),
            Some(("jump", seconds)) => clock.jump(Duration::from_secs(seconds.parse().unwrap())),
            Some(("run", command)) => {
                let command: Vec<String> = serde_json::from_str(command).unwrap();
                let words = command.iter().map(String::as_str).chain(server.team().flags());
                server.command(&words.collect::<Vec<_>>());
            }
            _ => panic!("nobody knows how to {question}"),
        }
        "done".to_owned()
    });
    checked(&report.await)
}

/// What a journey reports, in which nothing went wrong.
fn checked(report: &str) -> Value {
    let report: Value = serde_json::from_str(report).expect(report);
    for nothing in ["errors", "violations"] {
        assert_eq!(report[nothing], json!([]), "{nothing}");
    }
    report
}

/// Without a fence the probes do what they are for, so that the other tests could fail.
#[tokio::test]
async fn hostile_page_works_where_nothing_holds_it_back() {
    let remote = Remote::start(|url| hostile::page(url, "")).await;
    let report = open(&format!("{}/page", remote.url())).await;
    for name in ["plain", "connect-plain"] {
        let name = format!("{name}{CANARY}");
        assert!(lookups(&report).any(|found| found.starts_with(&name)), "{name}: {report:#}");
    }
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

/// Under another name than the one in its settings the server is another origin to the browser.
#[tokio::test]
async fn preview_under_another_name_shows_its_own_images() {
    let scene = Scene::new().await;
    let url = scene.preview.replace("127.0.0.1", "localhost");
    assert_ne!(url, scene.preview);
    let home = url.split("/api/").next().unwrap();
    let report = open(&url).await;
    shows_the_mail(&report);
    for request in requests(&report) {
        assert!(request.starts_with(home), "{request}");
    }
}

#[tokio::test]
async fn page_that_webhooks_name_shows_the_mail_by_a_signed_link() {
    let scene = Scene::new().await;
    let report = open(&scene.page).await;
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
