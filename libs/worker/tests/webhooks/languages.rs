//! The receivers that docs/webhooks.md shows, in each language whose runtime is there.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};
use trapline_model::DeliveryStatus;
use trapline_store::Clock;

use crate::bench::{Bench, signature};

#[path = "../../../../tests/clients/webhooks/receiver.rs"]
mod rust;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/webhooks");

/// A receiver's process, which ends with this.
struct Process {
    port: u16,
    _child: Child,
    _folder: tempfile::TempDir,
}

/// Starts a receiver, unless its language is not installed.
async fn start(language: &str, secret: &str) -> Option<Process> {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{free}");
    let program_file = folder.path().join("receiver").to_str().unwrap().to_owned();
    let (program, arguments): (&str, Vec<&str>) = match language {
        "Python" => ("python3", vec!["receiver.py"]),
        "Node" => ("node", vec!["receiver.mjs"]),
        "Ruby" => ("ruby", vec!["receiver.rb"]),
        "PHP" => ("php", vec!["-S", &address, "receiver.php"]),
        _ => {
            let mut build = Command::new("go");
            build.args(["build", "-o", &program_file, "receiver.go"]).current_dir(FOLDER);
            let status = build.status().await.ok()?;
            assert!(status.success(), "the receiver in Go does not build");
            (&program_file, Vec::new())
        }
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(FOLDER)
        .kill_on_drop(true)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.env("WEBHOOK_SECRET", secret).env("PORT", if language == "PHP" { "" } else { "0" });
    let mut child = command.spawn().ok()?;
    let port = if language == "PHP" {
        while TcpStream::connect(&address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        free
    } else {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap();
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        line.strip_prefix("listening ").unwrap().parse().unwrap()
    };
    Some(Process { port, _child: child, _folder: folder })
}

/// The status of a request with these headers.
async fn post(port: u16, timestamp: &str, signature: &str, body: &str) -> u16 {
    let request = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Webhook-Timestamp: {timestamp}\r\n\
         X-Webhook-Signature: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Requests, each with whether a receiver must take it.
fn requests(secret: &str, now: i64) -> Vec<(String, String, String, bool)> {
    let body = "{\"event\":\"webhook.test\",\"message\":{\"id\":\"1\",\"subject\":\"Grüße\"}}";
    let (now, old, early) = (now.to_string(), (now - 310).to_string(), (now + 310).to_string());
    let signed = |timestamp: &str| signature(secret, timestamp, body);
    let bare = secret.trim_start_matches("whsec_");
    let good = signed(&now);
    let case = |timestamp: &str, signature: &str, body: &str, taken: bool| {
        (timestamp.to_owned(), signature.to_owned(), body.to_owned(), taken)
    };
    vec![
        case(&now, &good, body, true),
        case(&old, &signed(&old), body, false),
        case(&early, &signed(&early), body, false),
        case(&now, &good, &body.replace("test", "tost"), false),
        case(&now, &good.replace("sha256=", ""), body, false),
        case(&now, &good[..good.len() - 2], body, false),
        case(&now, &signature(bare, &now, body), body, false),
        case(&now, "sha256=grüße", body, false),
        case(&now, "", body, false),
        case("", &signature(secret, "", body), body, false),
        case("soon", &signature(secret, "soon", body), body, false),
    ]
}

#[tokio::test]
async fn receivers_in_every_language_take_what_is_genuine_and_nothing_else() {
    for language in ["Python", "Node", "Go", "Ruby", "PHP"] {
        let bench = Bench::new(Duration::from_secs(10)).await;
        // The secret is known only once there is an address.
        let (inbox, hook) = bench.hook("http://127.0.0.1:1/").await;
        let secret = hook.secret.clone().unwrap();
        let Some(process) = start(language, &secret).await else {
            println!("SKIPPED {language}: it is not installed");
            continue;
        };
        bench.point(&hook, process.port).await;
        bench.deliver(&inbox).await;
        let delivery = bench.after(&hook, 1).await;
        assert_eq!(delivery.status, DeliveryStatus::Succeeded, "{language}: {delivery:?}");
        let now = Clock::system().now().millis() / 1000;
        for (timestamp, signature, body, taken) in requests(&secret, now) {
            let status = post(process.port, &timestamp, &signature, &body).await;
            assert_eq!(status, if taken { 204 } else { 401 }, "{language} {timestamp} {signature}");
        }
    }
}

#[test]
fn the_check_in_rust_takes_what_is_genuine_and_nothing_else() {
    let (secret, now) = ("whsec_4YkXc2m9QzT7vB1nR8sLw3HdJ6pFa0GeUiOyK5tNxMZ", 1_800_000_000);
    for (timestamp, signature, body, taken) in requests(secret, now) {
        let now = now.unsigned_abs();
        let found = rust::is_genuine(secret, &timestamp, &signature, body.as_bytes(), now);
        assert_eq!(found, taken, "{timestamp} {signature}");
    }
}

#[test]
fn the_documentation_shows_these_receivers_and_vectors() {
    let documentation = include_str!("../../../../docs/webhooks.md");
    for language in ["py", "mjs", "go", "rb", "php", "rs"] {
        let receiver = std::fs::read_to_string(format!("{FOLDER}/receiver.{language}")).unwrap();
        assert!(documentation.contains(&receiver), "receiver.{language}");
    }
    let vectors = std::fs::read_to_string(format!("{FOLDER}/vectors.json")).unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
    for field in ["secret", "timestamp", "body", "signature"] {
        assert!(documentation.contains(vectors[0][field].as_str().unwrap()), "{field}");
    }
    for vector in vectors.as_array().unwrap() {
        let taken = if vector["valid"] == true { "yes" } else { "no" };
        let name = vector["name"].as_str().unwrap();
        assert!(documentation.contains(&format!("| {name} | {taken} |")), "{name}");
    }
}
