//! The web console behind nginx, which is set up as docs/proxies.md prints it, and beside another application.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
};

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use trapline_tests::{Deployment, eventually, token_of};

use super::{checked, requests};
use crate::tools::{node, run};

/// What docs/proxies.md calls the address of the server.
const PRINTED: &str = "http://127.0.0.1:8025";
/// An address of documentation (RFC 5737), which no machine has.
const ELSEWHERE: &str = "192.0.2.10";

/// What nginx does with the path that it has before the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    Stripped,
    Kept,
    Absent,
}

/// The text with one thing in another's place, which must be there once.
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    text.replace(from, to)
}

/// The configuration of docs/proxies.md, for this server.
fn printed(prefix: Prefix, upstream: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/proxies.md");
    let page = fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("```nginx\n").unwrap();
    let (printed, _) = rest.split_once("```").unwrap();
    match prefix {
        Prefix::Stripped => replaced(printed, PRINTED, upstream),
        Prefix::Kept => replaced(printed, &format!("{PRINTED}/;"), &format!("{upstream};")),
        Prefix::Absent => {
            let lines = printed.lines().filter(|line| !line.contains("return 308"));
            let printed = lines.collect::<Vec<_>>().join("\n");
            let printed = replaced(&printed, "location /trapline/ {", "location / {");
            replaced(&printed, PRINTED, upstream)
        }
    }
}

/// An address of this machine that nobody has.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// nginx in front of one process, without a worker of its own.
struct Nginx {
    _process: Child,
    _folder: tempfile::TempDir,
}

impl Nginx {
    async fn start(address: SocketAddr, location: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let files = kinds.map(|kind| format!("{kind}_temp_path {place}/{kind};\n")).concat();
        let file = folder.path().join("nginx.conf");
        let config = format!(
            "daemon off;\nmaster_process off;\npid {place}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n\
             {files}server {{\nlisten {address};\n{location}\n}}\n}}\n"
        );
        fs::write(&file, config).unwrap();
        let process = Command::new("nginx")
            .args(["-e", "stderr", "-p"])
            .arg(folder.path())
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("log")).unwrap())
            .kill_on_drop(true)
            .spawn()
            .expect("run tests/setup.sh first");
        eventually("nginx", async || tokio::net::TcpStream::connect(address).await.ok()).await;
        Self { _process: process, _folder: folder }
    }
}

/// Where a browser finds the console, and what is told of that to the server, if anything.
struct Way {
    home: String,
    prefix: Prefix,
    is_told: bool,
}

/// Walks through the console with nginx at this address. A browser that finds it at an address which is not of this
/// machine takes nginx for the proxy that leads there.
async fn walked(nginx: SocketAddr, way: &Way) -> Value {
    let http = free().to_string();
    let told = if way.is_told { vec!["--base-url", &way.home] } else { Vec::new() };
    let folder = tempfile::tempdir().unwrap();
    let flags = [["--http", &http].as_slice(), &told].concat();
    // One process, however the others run.
    let server = Deployment::in_folder(folder.path(), &flags);
    let _nginx = Nginx::start(nginx, &printed(way.prefix, &format!("http://{http}"))).await;
    let mut browser = node("node/proxied.cjs");
    browser.arg(format!("{}/link?token={}", way.home, token_of(server.owners_link())));
    if way.home.contains(ELSEWHERE) {
        browser.arg(format!("http://{nginx}"));
    }
    let report = checked(&run(browser).await);
    let beside = report["beside"].as_str().unwrap_or(&way.home);
    for request in requests(&report) {
        assert!(request.starts_with(&way.home) || request.starts_with(beside), "{request}");
    }
    let is = |name: &str, wanted: Value| assert_eq!(report[name], wanted, "{name} of {report:#}");
    is("listed", json!(0));
    is("pasted", json!("481516"));
    is("image", json!(1));
    is("signedOut", json!(401));
    let url = report["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{}/inboxes/", way.home)), "{url}");
    report
}

/// At a loopback address, where somebody signs in at the application beside it, too.
async fn works_beside_another(host: &str, prefix: Prefix, is_told: bool) {
    let nginx = free();
    let path = if prefix == Prefix::Absent { "" } else { "/trapline" };
    let home = format!("http://{host}:{}{path}", nginx.port());
    let report = walked(nginx, &Way { home, prefix, is_told }).await;
    assert_eq!((&report["isSecure"], &report["neighbour"]), (&json!(true), &json!("grace")));
}

#[tokio::test]
async fn the_console_works_behind_nginx_that_takes_a_path_off() {
    works_beside_another("127.0.0.1", Prefix::Stripped, true).await;
}

/// Nothing needs to be set for the console itself.
#[tokio::test]
async fn the_console_works_under_a_path_of_which_the_server_knows_nothing() {
    works_beside_another("localhost", Prefix::Stripped, false).await;
}

#[tokio::test]
async fn the_console_works_behind_nginx_that_leaves_a_path_on() {
    works_beside_another("127.0.0.1", Prefix::Kept, true).await;
}

#[tokio::test]
async fn the_console_works_behind_nginx_without_a_path() {
    works_beside_another("localhost", Prefix::Absent, false).await;
}

/// Such a page has no clipboard and no locks, and its requests do not say from which site they come.
#[tokio::test]
async fn the_console_works_over_plain_http_by_an_address() {
    let home = format!("http://{ELSEWHERE}:8080");
    let report = walked(free(), &Way { home, prefix: Prefix::Absent, is_told: false }).await;
    assert_eq!(report["isSecure"], false);
}
