//! The status, of a process whose probes are really taken and whose outage is really caused.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use trapline_tests::{Deployment, TestClock, eventually};

use crate::full_disk::SmallDisk;

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

#[tokio::test]
async fn an_api_that_takes_no_connection_is_an_outage_until_it_does() {
    let (server, clock) = Deployment::with_clock(&["--http-per-address", "1"]);
    // Others are served meanwhile.
    let other = Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)));
    let other = reqwest::Client::builder().local_address(other).build().unwrap();
    let url = format!("{}/api/status", server.api()[0]);
    let until = async |what: &str, wanted: &dyn Fn(&Value) -> bool| {
        eventually(what, async || {
            clock.jump(Duration::from_mins(1));
            tokio::time::sleep(Duration::from_millis(150)).await;
            let report = other.get(&url).send().await.unwrap().text().await.unwrap();
            let report = serde_json::from_str(&report).unwrap();
            wanted(&report).then_some(report)
        })
        .await
    };
    let uptime = |report: &Value| component(report, "api")["uptime90d"].clone();
    until("a probe", &|report| uptime(report) == 100.0).await;
    let address = server.api()[0].replace("http://", "");
    let taken = TcpStream::connect(&address).await.unwrap();
    let down = until("an outage", &|report| component(report, "api")["status"] == "outage").await;
    assert_eq!(down["incidents"][0]["component"], "api");
    assert_eq!(component(&down, "smtp")["status"], "operational");
    drop(taken);
    let again = until("its end", &|report| report["incidents"][0]["resolvedAt"].is_string()).await;
    assert_eq!(component(&again, "api")["status"], "operational");
    let uptime = uptime(&again).as_f64().unwrap();
    assert!(uptime < 100.0 && uptime > 0.0, "{uptime}");
}

#[tokio::test]
async fn a_full_disk_is_an_outage_of_the_storage_until_there_is_room() {
    let Some(disk) = SmallDisk::new() else { return };
    let data = disk.path().join("data");
    fs::create_dir(&data).unwrap();
    let (server, clock) = Deployment::with_clock_in(&data, &[]);
    let state = |report: &Value| component(report, "storage")["status"].clone();
    let well = |report: &Value| component(report, "storage")["uptime90d"] == 100.0;
    until(&server, &clock, "a probe", well).await;
    // Somebody else's file, until there is no room for another byte.
    let file = disk.path().join("file");
    assert!(fs::write(&file, vec![0; 32 << 20]).is_err());
    let down = until(&server, &clock, "an outage", |report| state(report) == "outage").await;
    assert_eq!(component(&down, "api")["status"], "operational");
    fs::remove_file(&file).unwrap();
    let again = until(&server, &clock, "its end", |report| report["status"] == "operational").await;
    let of_storage = again["incidents"].as_array().unwrap();
    let of_storage = of_storage.iter().find(|incident| incident["component"] == "storage").unwrap();
    assert!(of_storage["resolvedAt"].is_string(), "{again}");
}
