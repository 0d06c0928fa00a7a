//! An application of another language, and a browser that signs in at it.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::LazyLock,
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};
use trapline_tests::{Answer, Rest};

use super::{Verdict, outcome};
use crate::tools::{source, tool};

pub(in crate::idps) struct WebApp {
    rest: Rest,
    /// Its own address.
    home: String,
    /// The one cookie that it has set.
    cookie: String,
    _child: Child,
}

/// Modules are looked for beside the file that wants them.
static SCRIPT: LazyLock<PathBuf> = LazyLock::new(|| {
    let copy = tool("oidc").join("signin.mjs");
    std::fs::copy(source("oidc/signin.mjs"), &copy).unwrap();
    copy
});

fn command(stack: &str) -> Command {
    let mut command = if stack.starts_with("openid-client") {
        let mut node = Command::new("node");
        node.arg(&*SCRIPT);
        node
    } else if stack.starts_with("Authlib") {
        let mut python = Command::new(tool("oidc/python/bin/python"));
        python.arg(source("oidc/signin.py"));
        python
    } else if stack.starts_with("Spring") {
        let mut java = Command::new("java");
        let jars = tool("spring");
        java.arg("-cp").arg(format!("{0}/classes:{0}/*", jars.display())).arg("app.SignIn");
        java
    } else {
        Command::new(tool("oidc/signin"))
    };
    command.kill_on_drop(true).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl WebApp {
    pub(super) async fn start(stack: &str, idp: &Value) -> Self {
        Self::trusting(stack, idp, None).await
    }

    /// The same where it trusts a certificate authority of this PEM file.
    pub(in crate::idps) async fn trusting(stack: &str, idp: &Value, ca: Option<&Path>) -> Self {
        let mut command = command(stack);
        if let Some(ca) = ca {
            let names = ["NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"];
            command.envs(names.map(|name| (name, ca)));
        }
        let names =
            [("ISSUER", "issuer"), ("CLIENT_ID", "clientId"), ("CLIENT_SECRET", "clientSecret")];
        command.envs(names.map(|(name, of)| (name, idp[of].as_str().unwrap()))).env("PORT", "0");
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("{stack} ended"));
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let port = line.strip_prefix("listening ").unwrap();
        let home = format!("http://localhost:{port}");
        let rest = Rest::new(&home, None);
        Self { rest, home, cookie: String::new(), _child: child }
    }

    pub(in crate::idps) async fn get(&mut self, path: &str) -> Answer {
        let request = self.rest.request("GET", path).header("cookie", &self.cookie);
        let answer = Answer::to(request).await;
        let cookie = answer.header("set-cookie").split(';').next().unwrap_or_default();
        if !cookie.is_empty() {
            cookie.clone_into(&mut self.cookie);
        }
        answer
    }

    pub(in crate::idps) async fn ask(&mut self, path: &str) -> Verdict {
        outcome(&self.get(path).await)
    }

    pub(super) async fn sign_in(&mut self, provider: &Rest) -> Verdict {
        self.cookie.clear();
        let begun = self.visit("/login").await;
        if begun.status != 302 {
            return outcome(&begun);
        }
        let back = provider.get(begun.header("location")).await.expect(303);
        outcome(&self.visit(back.header("location")).await)
    }

    /// The same, and on to where the application sends the browser at its own address.
    async fn visit(&mut self, path: &str) -> Answer {
        let mut answer = self.get(path).await;
        loop {
            let next = answer.header("location").to_owned();
            if !next.starts_with('/') && !next.starts_with(&format!("{}/", self.home)) {
                return answer;
            }
            answer = self.get(&next).await;
        }
    }
}
