//! The status, of a process whose probes are really taken and whose outage is really caused.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use trapline_tests::{Deployment, TestClock, eventually};

/// Lets minutes pass until the status is so.
async fn until(
    server: &Deployment,
    clock: &TestClock,
    what: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    eventually(what, async || {
        clock.jump(Duration::from_mins(1));
        // The process looks at its clock, and takes its probes.
        tokio::time::sleep(Duration::from_millis(150)).await;
        let report = server.anonymous().get("/api/status").await.expect(200).json();
        wanted(&report).then_some(report)
    })
    .await
}

fn component<'r>(report: &'r Value, id: &str) -> &'r Value {
    let components = report["components"].as_array().unwrap();
    components.iter().find(|component| component["id"] == id).unwrap()
}

#[tokio::test]
async fn an_outage_that_was_really_caused_is_told_with_its_end() {
    let (mut server, clock) = Deployment::with_clock(&["--smtp-per-address", "1"]);
    let fresh = server.anonymous().get("/api/status").await.expect(200).json();
    assert_eq!(fresh["status"], "operational");
    assert_eq!(component(&fresh, "smtp")["uptime90d"], Value::Null);
    let well = until(&server, &clock, "probes", |report| {
        let components = report["components"].as_array().unwrap();
        components.iter().all(|component| component["uptime90d"] == 100.0)
    })
    .await;
    assert_eq!(
        (&well["status"], &well["incidents"]),
        (&"operational".into(), &Value::Array(vec![]))
    );
    assert_eq!(component(&well, "smtp")["days"].as_array().unwrap().len(), 90);
    // The mail of the probe is nobody's.
    let inboxes = server.rest().get("/api/inboxes").await.expect(200).json();
    assert_eq!(inboxes.as_array().unwrap().len(), 1);
    // Whoever has all connections of this machine's address keeps the probe out.
    let mut taken = TcpStream::connect(server.smtp()[0]).await.unwrap();
    let greeted = taken.read(&mut [0; 512]).await.unwrap();
    assert!(greeted > 0);
    let down = until(&server, &clock, "an outage", |report| {
        // A session that says nothing would be ended.
        component(report, "smtp")["status"] == "outage"
    })
    .await;
    assert_eq!(down["status"], "outage");
    assert_eq!(component(&down, "storage")["status"], "operational");
    assert_eq!(down["incidents"][0]["component"], "smtp");
    assert_eq!(down["incidents"][0]["resolvedAt"], Value::Null);
    let page = server.anonymous().get("/status").await.expect(200);
    assert!(page.text().contains("Mail is not received"), "{}", page.text());
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    assert!(!page.text().contains("<script"));
    taken.shutdown().await.unwrap();
    drop(taken);
    let again = until(&server, &clock, "the end of the outage", |report| {
        report["status"] == "operational" && report["incidents"][0]["resolvedAt"].is_string()
    })
    .await;
    let uptime = component(&again, "smtp")["uptime90d"].as_f64().unwrap();
    assert!(uptime < 100.0 && uptime > 0.0, "{uptime}");
    // The next process goes on with what this one knew.
    server.terminate();
    assert!(server.ended().success());
    server.restart();
    let next = server.anonymous().get("/api/status").await.expect(200).json();
    assert_eq!(next["incidents"], again["incidents"]);
    assert!(component(&next, "smtp")["uptime90d"].as_f64().unwrap() < 100.0);
}
