//! The inbox that mail to unknown addresses lands in.

use trapline_tests::{Deployment, Mail, Smtp};

/// Sends a mail to nobody, and returns the inbox it is in.
async fn caught(server: &Deployment) -> String {
    let mut smtp = Smtp::hello(server.smtp()[0]).await;
    let raw = Mail::new("caught", "x").bytes();
    let ids = smtp.transact("a@example.test", &["nobody@example.test"], &raw).await;
    server.rest().message(&ids[0]).await["inboxId"].as_str().unwrap().to_owned()
}

async fn name(server: &Deployment, inbox: &str) -> String {
    let record = server.rest().get(&format!("/api/inboxes/{inbox}")).await.expect(200).json();
    record["name"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn deleting_it_empties_it() {
    let mut server = Deployment::alone(&["--catch-all", "true"]);
    let first = caught(&server).await;
    assert_eq!(first, server.default_inbox());
    server.rest().delete(&format!("/api/inboxes/{first}")).await.expect(204);
    let second = caught(&server).await;
    assert_ne!(second, first);
    assert_eq!(name(&server, &second).await, "Default");
    server.rest().delete(&format!("/api/inboxes/{second}")).await.expect(204);
    server.terminate();
    assert!(server.ended().success());
    server.restart_with(&["--catch-all", "true", "--catch-all-inbox", "CI"]);
    let third = caught(&server).await;
    assert_eq!(name(&server, &third).await, "CI");
    assert_eq!(caught(&server).await, third);
}
