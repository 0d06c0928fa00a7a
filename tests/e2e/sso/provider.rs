//! A real identity provider, and a browser that goes through its pages.

use std::{collections::BTreeMap, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout},
    time::timeout,
};
use trapline_tests::GUARD;

use crate::tools::{source, tool};

/// Pages and redirects of one sign-in.
const MAX_STEPS: usize = 20;

/// A process of the provider, which ends with the test.
pub(super) struct Provider {
    pub(super) issuer: String,
    process: Child,
    /// It ends when nobody reads what it prints.
    _output: Lines<BufReader<ChildStdout>>,
    http: reqwest::Client,
}

impl Provider {
    /// Starts one that may send people back to these addresses.
    pub(super) async fn start(addresses: &[String]) -> Self {
        let mut node = tokio::process::Command::new("node");
        node.env("NODE_PATH", tool("identity/node_modules"));
        node.arg(source("identity/provider.mjs")).args(addresses);
        // What it says of a runtime that it would rather have goes nowhere.
        node.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = node.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let issuer = timeout(4 * GUARD, lines.next_line()).await.expect("the provider starts");
        let issuer = issuer.unwrap().expect("the provider says where it is");
        let stay = reqwest::redirect::Policy::none();
        let http = reqwest::Client::builder().redirect(stay).build().unwrap();
        Self { issuer, process, _output: lines, http }
    }

    /// Ends it, and tells where it was.
    pub(super) async fn stop(mut self) -> String {
        self.process.kill().await.unwrap();
        self.issuer.clone()
    }

    /// Follows the provider's pages from `url`, logs in as somebody and consents; where the provider sends
    /// the browser in the end.
    pub(super) async fn sign_in(&self, url: &str, login: &str) -> String {
        let (mut url, mut form, mut jar) = (url.to_owned(), None, BTreeMap::new());
        for _ in 0..MAX_STEPS {
            if !url.starts_with(&self.issuer) {
                return url;
            }
            let cookies: Vec<_> =
                jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let request = match form.take() {
                None => self.http.get(&url),
                Some(form) => {
                    let kind = "application/x-www-form-urlencoded";
                    self.http.post(&url).header("content-type", kind).body::<String>(form)
                }
            };
            let answer = request.header("cookie", cookies.join("; ")).send().await.unwrap();
            for cookie in answer.headers().get_all("set-cookie") {
                let (name, value) = cookie.to_str().unwrap().split_once('=').unwrap();
                let value = value.split(';').next().unwrap();
                jar.insert(name.to_owned(), value.to_owned());
            }
            if let Some(location) = answer.headers().get("location") {
                let location = location.to_str().unwrap();
                let is_path = location.starts_with('/');
                url = if is_path {
                    format!("{}{location}", self.issuer)
                } else {
                    location.to_owned()
                };
                continue;
            }
            let page = answer.text().await.unwrap();
            form = Some(if page.contains("name=\"login\"") {
                format!("prompt=login&password=any&login={}", login.replace('@', "%40"))
            } else {
                assert!(page.contains("consent"), "{page}");
                "prompt=consent".to_owned()
            });
        }
        panic!("{url}: the provider has no end")
    }
}
