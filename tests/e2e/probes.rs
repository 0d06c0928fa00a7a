//! What an orchestrator asks every process.

use serde_json::json;
use trapline_tests::{
    Deployment, Mail, Rest, Smtp, deliver, eventually, guarded, is_cluster, shared,
};

#[tokio::test]
async fn every_process_lives_and_is_ready() {
    let server = shared();
    let probes = server.probes();
    assert_eq!(probes.len(), if is_cluster() { 6 } else { 1 });
    for address in probes {
        let rest = Rest::new(&address, None);
        assert_eq!(rest.get("/livez").await.expect(200).json()["ok"], true, "{address}");
        let report = rest.get("/readyz").await.expect(200).json();
        assert_eq!(report["ok"], true, "{address}: {report}");
        let services = report["services"].as_object().unwrap();
        assert_eq!(services.len(), if is_cluster() { 4 } else { 1 }, "{report}");
        assert!(services.values().all(|answers| answers == true), "{report}");
        let report = rest.get("/readyz?services=false").await.expect(200).json();
        assert_eq!(report, json!({ "ok": true }), "{address}: whatever the services do");
        rest.get("/readyz?services=no").await.expect(400);
        let url = format!("{address}/readyz?services=false");
        assert_eq!(server.command(&["probe", "--url", &url]).trim_end(), "{\"ok\":true}");
        assert!(server.command(&["probe", "--url", &address]).contains("\"services\""));
    }
}

#[tokio::test]
async fn a_process_that_is_to_end_is_not_ready_long_before_it_refuses_anybody() {
    let mut server = Deployment::with(&["--shutdown-delay", "5m"]);
    let inbox = server.rest().inbox().await;
    let mut idle = Smtp::hello(server.smtp()[0]).await;
    server.terminate();
    for address in server.probes() {
        let rest = Rest::new(&address, None);
        eventually("that a process is not ready", async || {
            (rest.get("/readyz").await.status == 503).then_some(())
        })
        .await;
        let report = rest.get("/readyz?services=false").await.expect(503).json();
        assert_eq!(report, json!({ "ok": false }), "{address}");
        rest.get("/livez").await.expect(200);
        let probed = server.refused_command(&["probe", "--url", &address]);
        assert!(probed.contains("is not ready: 503"), "{probed}");
    }
    idle.ask("NOOP", 250).await;
    let id = deliver(&server, &inbox, &Mail::new("late", "x")).await;
    assert_eq!(server.rest().message(&id).await["subject"], "late");
    // Another signal cuts the delay short.
    server.terminate();
    assert_eq!(idle.closed().await, [421]);
    let status = tokio::task::spawn_blocking(move || server.ended()).await.unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn a_process_without_an_api_shows_its_metrics_to_the_operator_only() {
    let server = shared();
    for address in server.probes() {
        let anonymous = Rest::new(&address, None);
        guarded("an answer", anonymous.get("/api/metrics")).await.expect(401);
    }
}
