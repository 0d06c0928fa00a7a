//! Mail clients of other languages sign in and deliver. Each prints what it sent, one message a
//! line, and that is what the API must show.

mod compare;
mod lettre;

use std::ffi::OsString;

use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::process::Command;
use trapline_tests::{Inbox, Shared, shared};

use crate::tools::{node, run, source, tool};

/// A new inbox on the shared server, and what a client needs to deliver into it.
struct Scene {
    deployment: Shared,
    inbox: Inbox,
    /// The server's own CA.
    ca: NamedTempFile,
}

impl Scene {
    async fn new() -> Self {
        let deployment = shared();
        let inbox = deployment.rest().inbox().await;
        let pem = deployment.anonymous().get("/api/smtp/ca.pem").await.expect(200);
        let ca = NamedTempFile::new().unwrap();
        std::fs::write(ca.path(), &pem.body).unwrap();
        Self { deployment, inbox, ca }
    }

    fn environment(&self) -> [(&'static str, OsString); 6] {
        let (smtp, smtps) = (self.deployment.smtp()[0], self.deployment.smtps()[0]);
        [
            ("SMTP_HOST", smtp.ip().to_string().into()),
            ("SMTP_PORT", smtp.port().to_string().into()),
            ("SMTPS_PORT", smtps.port().to_string().into()),
            ("SMTP_USER", self.inbox.username.clone().into()),
            ("SMTP_PASSWORD", self.inbox.password.clone().into()),
            ("SMTP_CA", self.ca.path().into()),
        ]
    }

    /// Checks that the inbox holds these messages and no others.
    async fn holds(&self, sent: &[Value]) {
        compare::inbox_holds(&self.deployment.rest(), &self.inbox, sent).await;
    }
}

/// Runs a client, and checks that what it sent arrived, and nothing else.
async fn delivers(mut client: Command, messages: usize) {
    let scene = Scene::new().await;
    client.envs(scene.environment());
    let report = run(client).await;
    let sent: Vec<Value> =
        report.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(sent.len(), messages, "{report}");
    scene.holds(&sent).await;
}

fn python(script: &str) -> Command {
    let mut python = Command::new(tool("python/bin/python"));
    python.arg(source(script));
    python
}

#[tokio::test]
async fn python_smtplib() {
    delivers(python("python/smtplib_client.py"), 61).await;
}

#[tokio::test]
async fn python_aiosmtplib() {
    delivers(python("python/aiosmtplib_client.py"), 66).await;
}

#[tokio::test]
async fn swaks() {
    delivers(Command::new(source("swaks/send.sh")), 7).await;
}

#[tokio::test]
async fn nodemailer() {
    delivers(node("node/nodemailer.cjs"), 67).await;
}

#[tokio::test]
async fn go_net_smtp() {
    delivers(Command::new(tool("netsmtp")), 5).await;
}

#[tokio::test]
async fn jakarta_mail() {
    let jars = tool("jakarta").join("*");
    let path = std::env::join_paths([tool("jakarta/classes"), jars]).unwrap();
    let mut java = Command::new("java");
    java.arg("-cp").arg(path).arg("Client");
    delivers(java, 6).await;
}
