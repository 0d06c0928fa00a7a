//! A full disk: mail is refused, the service says so, and whoever makes room gets it going again.

use std::{path::PathBuf, process::Command};

use serde_json::json;
use tempfile::TempDir;
use trapline_tests::{Deployment, Inbox, Mail, Rest, Smtp, eventually, is_cluster};

/// A file system of 24 MiB.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None` where this user may not make one, or nothing is kept in a folder.
    pub(crate) fn new() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=24m,mode=700", "trapline-test"];
        let mounted = Command::new("mount").args(mount).arg(folder.path()).output();
        if !is_cluster() && mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        println!("skipped: it takes a superuser and one process to try a full disk");
        None
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.0.path()).status().unwrap();
    }
}

fn mail(number: usize) -> Vec<u8> {
    let lines = format!("{}\n", "x".repeat(70)).repeat(1_400);
    Mail::new(&format!("number {number}"), &lines).bytes()
}

/// Sends until mail is refused; how much was taken before.
async fn until_full(server: &Deployment, inbox: &Inbox) -> usize {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    for number in 0..1_000 {
        let reply = smtp.attempt("a@x.test", &["b@x.test"], &mail(number)).await.unwrap();
        if reply.code != 250 {
            let text = reply.to_string();
            assert!(text.contains("452") && text.contains("4.3.1"), "{text}");
            return number;
        }
    }
    panic!("the disk is larger than it is")
}

async fn takes_mail(server: &Deployment, inbox: &Inbox) -> bool {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    smtp.login(&inbox.username, &inbox.password).await;
    let reply = smtp.attempt("a@x.test", &["b@x.test"], &mail(0)).await.unwrap();
    assert!([250, 452].contains(&reply.code), "{reply}");
    reply.code == 250
}

async fn again(server: &Deployment, inbox: &Inbox) {
    eventually("mail is taken again", async || takes_mail(server, inbox).await.then_some(())).await;
    eventually("health", async || {
        let health = server.rest().get("/api/health?deep=true").await;
        (health.status == 200).then_some(())
    })
    .await;
}

/// What a client sees of a full disk.
async fn is_told(rest: &Rest, inbox: &Inbox) {
    for path in ["/api/health", "/api/health?deep=true"] {
        let health = rest.get(path).await.expect(503).json();
        assert_eq!((&health["ok"], &health["reason"]), (&json!(false), &json!("storage_full")));
    }
    let created = rest.post("/api/inboxes", json!({ "name": "More" })).await.expect(503);
    assert_eq!(created.json()["code"], "storage_full");
    assert!(!created.header("retry-after").is_empty());
    let list = rest.get(&inbox.path("/messages?limit=1")).await.expect(200).json();
    let id = list["messages"][0]["id"].as_str().unwrap();
    assert!(rest.raw(id).await.len() > 90_000);
    rest.delete(&format!("/api/messages/{id}")).await.expect(204);
}

/// Whoever empties an inbox has room again.
async fn filled_and_emptied(server: &Deployment) -> (Inbox, Inbox, usize) {
    let (first, second) = (server.rest().inbox().await, server.rest().inbox().await);
    let taken = until_full(server, &first).await;
    assert!(taken > 80, "most of the disk is for mail: {taken}");
    is_told(&server.rest(), &first).await;
    server.rest().delete(&first.path("/messages")).await.expect(204);
    again(server, &second).await;
    (first, second, taken)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_has_a_way_out() {
    let Some(disk) = SmallDisk::new() else { return };
    let data = disk.path().join("data");
    let mut server = Deployment::with(&["--data", data.to_str().unwrap()]);
    let (first, second, taken) = filled_and_emptied(&server).await;
    // So has whoever deletes one, after a crash and after a good end.
    until_full(&server, &first).await;
    server.kill();
    server.restart();
    assert!(until_full(&server, &first).await < taken / 2, "it is full still");
    server.terminate();
    assert!(server.ended().success());
    server.restart();
    server.rest().delete(&first.path("")).await.expect(204);
    again(&server, &second).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_that_the_log_is_on_too_has_a_way_out() {
    let Some(disk) = SmallDisk::new() else { return };
    filled_and_emptied(&Deployment::in_folder(&disk.path(), &[])).await;
}
