//! Spam engines beside the built-in one, as servers that speak their protocols.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use trapline_tests::{Deployment, Mail, deliver, eventually};

/// As spamd 4.0 answers `REPORT`.
const REPORT: &str = "SPAMD/1.1 0 EX_OK\r\nContent-length: 320\r\nSpam: True ; 1002.1 / 5.0\r\n\r\n\
    Content analysis details:   (1002.1 points, 5.0 required)\n\n\
    \x20pts rule name              description\n\
    ---- ---------------------- --------------------------------------------------\n\
    1000 GTUBE                  BODY: Generic Test for Unsolicited Bulk Email\n\
    \x202.1 MISSING_HEADERS        Missing To:\n\
    \x20                           header\n";
const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>";
/// More than any report has.
const LONG: usize = 10 << 20;
const SCAN: &str = "HTTP/1.1 200 OK\r\nServer: rspamd/3.4\r\nContent-Type: application/json\r\n";

/// How an engine answers.
#[derive(Clone)]
enum EngineAnswer {
    Whole(Vec<u8>),
    /// A byte a second.
    Dripping(Vec<u8>),
    Silence,
}

impl EngineAnswer {
    fn whole(bytes: impl AsRef<[u8]>) -> Self {
        Self::Whole(bytes.as_ref().to_vec())
    }

    async fn send(self, stream: &mut TcpStream) -> std::io::Result<()> {
        match self {
            Self::Whole(bytes) => stream.write_all(&bytes).await,
            Self::Dripping(bytes) => {
                for byte in bytes {
                    stream.write_u8(byte).await?;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Ok(())
            }
            Self::Silence => std::future::pending().await,
        }
    }
}

/// An engine that keeps what it is asked, and answers each request as it is told.
struct Engine {
    address: SocketAddr,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Engine {
    async fn answering(answer: impl Fn(&str) -> EngineAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (send, requests) = mpsc::unbounded_channel();
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (send, answer) = (send.clone(), answer.clone());
                tokio::spawn(async move { talk(stream, &send, &*answer).await });
            }
        });
        Self { address, requests }
    }
}

/// An engine that answers as it is told last.
async fn told_engine() -> (Engine, Arc<Mutex<EngineAnswer>>) {
    let next = Arc::new(Mutex::new(EngineAnswer::Silence));
    let said = next.clone();
    let engine = Engine::answering(move |_| said.lock().unwrap().clone()).await;
    (engine, next)
}

async fn talk(
    mut stream: TcpStream,
    requests: &mpsc::UnboundedSender<String>,
    answer: &(dyn Fn(&str) -> EngineAnswer + Send + Sync),
) {
    let request = request(&mut stream).await;
    requests.send(request.clone()).unwrap_or_default();
    // A client whose patience ends breaks off.
    answer(&request).send(&mut stream).await.unwrap_or_default();
}

/// A request with its body, by the length that its head tells.
async fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |length| length.trim().parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

fn scan(json: &str) -> Vec<u8> {
    format!("{SCAN}Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes()
}

#[tokio::test]
async fn spamd_judges_where_it_is_the_first() {
    let mut spamd = Engine::answering(|request| {
        let answer = if request.starts_with("PING") { "SPAMD/1.5 0 PONG\r\n" } else { REPORT };
        EngineAnswer::whole(answer)
    })
    .await;
    let server = Deployment::with(&["--spam-engine", &format!("spamd://{}", spamd.address)]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
    let path = format!("/api/messages/{id}/spam");
    let report = rest.get(&path).await.expect(200).json();
    assert_eq!(
        (&report["engine"], &report["engineVersion"]),
        (&json!("spamd"), &json!("SPAMD/1.1"))
    );
    assert_eq!((&report["score"], &report["threshold"]), (&json!(1002.1), &json!(5.0)));
    assert_eq!(report["isSpam"], true);
    let rules = json!([
        { "name": "GTUBE", "score": 1000.0, "description": "BODY: Generic Test for Unsolicited Bulk Email" },
        { "name": "MISSING_HEADERS", "score": 2.1, "description": "Missing To: header" },
    ]);
    assert_eq!(report["rules"], rules);
    let request = spamd.requests.recv().await.unwrap();
    let (head, message) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(head, format!("REPORT SPAMC/1.5\r\nContent-length: {}", message.len()));
    assert_eq!(message.as_bytes(), rest.raw(&id).await);
    let again = rest.get(&path).await.expect(200).json();
    assert_eq!(again["rules"], report["rules"]);
    let builtin = rest.get(&format!("{path}?engine=builtin")).await.expect(200).json();
    assert_eq!(builtin["engine"], "builtin");
    let refused = rest.get(&format!("{path}?engine=rspamd")).await.expect(400).json();
    assert_eq!(refused["issues"][0]["code"], "engine_not_configured");
    let engines = rest.get("/api/checks").await.expect(200).json()["spam"]["engines"].clone();
    let told: Vec<_> =
        engines.as_array().unwrap().iter().map(|it| (&it["name"], &it["available"])).collect();
    assert_eq!(told, [(&json!("spamd"), &json!(true)), (&json!("builtin"), &json!(true))]);
}

#[tokio::test]
async fn rspamd_is_told_of_the_envelope_and_of_a_password() {
    let json = r#"{"is_skipped":false,"score":6.5,"required_score":15.0,"action":"add header","symbols":{
        "A_SMALL":{"name":"A_SMALL","score":-0.5,"options":["x"]},
        "A_LARGE":{"name":"A_LARGE","score":7.0,"description":"Large"}}}"#;
    let mut rspamd = Engine::answering(move |_| EngineAnswer::Whole(scan(json))).await;
    let engine = format!("builtin,rspamd://{}?password=a%20secret", rspamd.address);
    let server = Deployment::with(&["--spam-engine", &engine]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
    let path = format!("/api/messages/{id}/spam");
    assert_eq!(rest.get(&path).await.expect(200).json()["engine"], "builtin");
    let report = rest.get(&format!("{path}?engine=rspamd")).await.expect(200).json();
    assert_eq!((&report["engineVersion"], &report["isSpam"]), (&json!("rspamd/3.4"), &json!(true)));
    assert_eq!((&report["score"], &report["threshold"]), (&json!(6.5), &json!(15.0)));
    let rules = json!([
        { "name": "A_LARGE", "score": 7.0, "description": "Large" },
        { "name": "A_SMALL", "score": -0.5, "description": "" },
    ]);
    assert_eq!(report["rules"], rules);
    let request = rspamd.requests.recv().await.unwrap();
    let (head, message) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /checkv2 HTTP/1.1\r\n"), "{head}");
    let envelope = rest.message(&id).await["envelope"].clone();
    let recipient = envelope["to"][0].as_str().unwrap();
    for field in [
        format!("from: {}", envelope["from"].as_str().unwrap()),
        format!("rcpt: {recipient}"),
        format!("queue-id: {id}"),
        "password: a secret".to_owned(),
    ] {
        assert!(head.contains(&field), "{field} is not in {head}");
    }
    assert!(!head.contains("helo: ") && !head.contains("\nip: "), "{head}");
    assert_eq!(message.as_bytes(), rest.raw(&id).await);
    assert!(!server.log().contains("a secret") && !server.log().contains("a%20secret"));
}

#[tokio::test]
async fn an_engine_without_an_answer_is_told_and_found_again() {
    let answers = [
        ("bad_answer", EngineAnswer::whole(HTML)),
        ("bad_answer", EngineAnswer::whole("SPAMD/1.1 74 EX_IOERR\r\n\r\n")),
        ("bad_answer", EngineAnswer::whole("SPAMD/1.1 0 EX_OK\r\nSpam: True ; nan / 5.0\r\n\r\n")),
        ("timeout", EngineAnswer::Silence),
        ("bad_answer", EngineAnswer::whole("")),
    ];
    let (spamd, next) = told_engine().await;
    let server =
        Deployment::alone(&["--spam-engine", &format!("spamd://{}?timeout=1", spamd.address)]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
    let path = format!("/api/messages/{id}/spam");
    for (reason, answer) in answers {
        *next.lock().unwrap() = answer;
        let answer = rest.get(&path).await.expect(503);
        assert_eq!(answer.header("retry-after"), "5");
        let body = answer.json();
        assert_eq!(
            (&body["code"], &body["engine"]),
            (&json!("spam_engine_unavailable"), &json!("spamd"))
        );
        assert_eq!(body["reason"], reason, "{body}");
    }
    *next.lock().unwrap() = EngineAnswer::whole(REPORT);
    assert_eq!(rest.get(&path).await.expect(503).json()["reason"], "bad_answer");
    assert_eq!(
        rest.get(&format!("{path}?engine=builtin")).await.expect(200).json()["engine"],
        "builtin"
    );
    let report = eventually("the engine, ten seconds after it failed", async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let answer = rest.get(&path).await;
        (answer.status == 200).then(|| answer.json())
    })
    .await;
    assert_eq!(report["isSpam"], true);
}

#[tokio::test]
async fn nobody_at_the_engines_address_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let engines = format!("rspamd://{address},spamd://{address}");
    let server = Deployment::with(&["--spam-engine", &engines]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
    for engine in ["spamd", "rspamd"] {
        let path = format!("/api/messages/{id}/spam?engine={engine}");
        assert_eq!(rest.get(&path).await.expect(503).json()["reason"], "unreachable", "{engine}");
    }
    let engines = rest.get("/api/checks").await.expect(200).json()["spam"]["engines"].clone();
    let told: Vec<_> =
        engines.as_array().unwrap().iter().map(|it| it["available"].as_bool()).collect();
    assert_eq!(told, [Some(false), Some(true), Some(false)]);
}

#[tokio::test]
async fn an_engine_that_drips_or_never_ends_is_told_in_time() {
    let scanned = scan(r#"{"score":1,"required_score":15,"action":"no action"}"#);
    let long_scan = scan(&format!(r#"{{"score":1,"name":"{}"}}"#, "x".repeat(LONG)));
    let long_report = [REPORT.as_bytes(), &vec![b'x'; LONG]].concat();
    let answers = [
        ("spamd", "timeout", EngineAnswer::Dripping(REPORT.into())),
        ("rspamd", "timeout", EngineAnswer::Dripping(scanned)),
        ("rspamd", "bad_answer", EngineAnswer::whole(HTML)),
        ("spamd", "bad_answer", EngineAnswer::Whole(long_report)),
        ("rspamd", "bad_answer", EngineAnswer::Whole(long_scan)),
    ];
    let (engine, next) = told_engine().await;
    let engines = ["spamd", "rspamd"].map(|name| format!("{name}://{}?timeout=2", engine.address));
    let server = Deployment::with(&["--spam-engine", &engines.join(",")]);
    let rest = server.rest();
    let inbox = rest.inbox().await;
    let id = deliver(&server, &inbox, &Mail::new("Hello", "A mail like many")).await;
    for (engine, reason, answer) in answers {
        *next.lock().unwrap() = answer;
        let path = format!("/api/messages/{id}/spam?engine={engine}");
        let body = rest.get(&path).await.expect(503).json();
        assert_eq!(body["reason"], reason, "{engine}: {body}");
    }
}
