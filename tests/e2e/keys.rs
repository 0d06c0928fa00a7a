//! API keys as an operator manages them, beside running processes.

use trapline_tests::{Rest, eventually, shared};

#[tokio::test]
async fn every_process_refuses_a_revoked_key() {
    let server = shared();
    let key = server.command(&["key", "create", "--name", "to be revoked", "--access", "read"]);
    let clients: Vec<_> = server.api().iter().map(|api| Rest::new(api, Some(&key))).collect();
    for client in &clients {
        client.get("/api/inboxes").await.expect(200);
    }
    let listed = server.command(&["key", "list"]);
    let line = listed.lines().find(|line| line.ends_with("to be revoked")).unwrap();
    let prefix = &key[..8];
    assert!(line.contains(prefix) && line.contains(" read ") && !listed.contains(&key), "{listed}");
    let told = server.command(&["key", "revoke", prefix]);
    assert_eq!(told, format!("The key {prefix} (to be revoked) is revoked."));
    for client in &clients {
        eventually("a refusal", async || {
            let answer = client.get("/api/inboxes").await;
            (answer.status == 401).then(|| assert_eq!(answer.json()["code"], "unknown_api_key"))
        })
        .await;
    }
    assert!(!server.command(&["key", "list"]).contains(prefix));
    server.rest().get("/api/inboxes").await.expect(200);
}

#[tokio::test]
async fn another_secret_key_is_refused() {
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for command in [&["key", "list"][..], &["key", "create"], &["team", "create", "Others"]] {
        let refused = shared().refused_command(&[command, &["--secret-key", other]].concat());
        assert!(
            refused.contains("the secret key is not the one that this installation"),
            "{refused}"
        );
    }
}
