//! Outages, logins and TLS, on servers that the tests start themselves.

use std::{
    fmt::Write as _,
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{sleep, timeout},
};
use trapline_cluster::jetstream::{JetStreamError, JetStreamOptions, JetStreamQueue};
use trapline_store::{Clock, Job, Lane, PortError, Queue as _};

/// Longer than any step should take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A NATS server with a folder of its own.
struct Server {
    process: Child,
    folder: TempDir,
    port: u16,
}

impl Server {
    fn start(extra: &str) -> Self {
        Self::start_in(TempDir::new().unwrap(), extra)
    }

    fn start_in(folder: TempDir, extra: &str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let store = folder.path().join("js");
        let store = store.display();
        let config = format!(
            "server_name: one\nlisten: \"127.0.0.1:{port}\"\n\
             jetstream {{ store_dir: \"{store}\" }}\n{extra}\n"
        );
        fs::write(folder.path().join("conf"), config).unwrap();
        Self { process: run(&folder), folder, port }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.process = run(&self.folder);
    }

    /// `before` and `after` stand around host and port.
    fn options(&self, before: &str, after: &str) -> JetStreamOptions {
        let url = format!("{before}127.0.0.1:{}{after}", self.port);
        JetStreamOptions { url, namespace: "own".to_owned(), clock: Clock::system() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn run(folder: &TempDir) -> Child {
    let name = "TRAPLINE_TEST_NATS_SERVER";
    let program = std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} does not name the nats-server program"));
    let log = fs::File::create(folder.path().join("log")).unwrap();
    Command::new(program)
        .arg("-c")
        .arg(folder.path().join("conf"))
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Sets up a stream at a server that may be starting yet.
async fn migrated(options: &JetStreamOptions) {
    let ready = async {
        while let Err(error) = JetStreamQueue::migrate(options).await {
            eprintln!("not yet: {error}");
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, ready).await.unwrap();
}

async fn refusal(options: &JetStreamOptions) -> String {
    let answer = timeout(PATIENCE, JetStreamQueue::connect(options)).await.unwrap();
    let error = answer.err().unwrap();
    let text = format!("{error} {error:?}");
    assert!(!text.contains("hidden"), "{text}");
    error.to_string()
}

fn job(id: &str) -> Job {
    Job { id: id.to_owned(), lane: Lane::Webhook, attempt: 1, body: json!(null) }
}

/// Takes and finishes jobs until all of `wanted` have come; how often each came.
async fn done(queue: &JetStreamQueue, wanted: &[&str]) -> Vec<usize> {
    let mut ids = Vec::new();
    let work = async {
        while !wanted.iter().all(|id| ids.iter().any(|done| done == id)) {
            let wait = Duration::from_millis(500);
            let Ok(leases) = queue.take(Lane::Webhook, 10, wait).await else { continue };
            for lease in leases {
                ids.push(lease.job.id.clone());
                queue.finish(lease).await.unwrap();
            }
        }
    };
    timeout(PATIENCE, work).await.unwrap();
    wanted.iter().map(|id| ids.iter().filter(|done| done == id).count()).collect()
}

fn is_away<T>(answer: &Result<T, PortError>) -> bool {
    matches!(answer, Err(PortError::Unavailable(_) | PortError::Timeout))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_survive_a_killed_server() {
    let mut server = Server::start("");
    let options = server.options("nats://", "");
    migrated(&options).await;
    let queue = JetStreamQueue::connect(&options).await.unwrap();
    let now = options.clock.now();
    queue.publish(&job("ready"), None).await.unwrap();
    queue.publish(&job("overdue"), Some(now.after(Duration::from_secs(2)))).await.unwrap();
    queue.publish(&job("delayed"), Some(now.after(Duration::from_secs(12)))).await.unwrap();
    let waiting = queue.take(Lane::Mail, 1, 2 * PATIENCE);
    let kill = async {
        sleep(Duration::from_millis(200)).await;
        server.kill();
    };
    // Whoever waits is told at once, not when its time is over.
    let (answer, ()) = timeout(PATIENCE, futures_util::future::join(waiting, kill)).await.unwrap();
    assert!(is_away(&answer), "{answer:?}");
    for _ in 0..3 {
        let answer = timeout(PATIENCE, queue.publish(&job("lost"), None)).await.unwrap();
        assert!(is_away(&answer), "{answer:?}");
        let answer = timeout(PATIENCE, queue.take(Lane::Webhook, 1, PATIENCE)).await.unwrap();
        assert!(is_away(&answer), "{answer:?}");
        assert!(is_away(&queue.stats(Lane::Webhook).await));
        assert!(is_away(&queue.ping().await));
    }
    server.restart();
    let again = async {
        while queue.publish(&job("again"), None).await.is_err() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, again).await.unwrap();
    let times = done(&queue, &["ready", "overdue", "delayed", "again"]).await;
    assert_eq!(times, [1, 1, 1, 1]);
}

#[tokio::test]
async fn a_publish_outlasts_a_short_outage() {
    let mut server = Server::start("");
    let options = server.options("", "");
    migrated(&options).await;
    let queue = JetStreamQueue::connect(&options).await.unwrap();
    server.kill();
    let job = job("a");
    let publish = queue.publish(&job, None);
    let restart = async {
        sleep(Duration::from_millis(500)).await;
        server.restart();
    };
    let (answer, ()) =
        timeout(PATIENCE, futures_util::future::join(publish, restart)).await.unwrap();
    answer.unwrap();
    assert_eq!(done(&queue, &["a"]).await, [1]);
}

#[tokio::test]
async fn tls_and_password() {
    rustls::crypto::aws_lc_rs::default_provider().install_default().ok();
    let folder = TempDir::new().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    fs::write(&cert, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut extra = format!("tls {{ cert_file: {cert:?}, key_file: {key:?} }}\n");
    writeln!(extra, "authorization {{ user: joe, password: \"hid:den@1\" }}").unwrap();
    let server = Server::start_in(folder, &extra);
    let ca = format!("?ca={}&tls=true", cert.display());
    let options = server.options("nats://joe:hid%3Aden%401@", &ca);
    migrated(&options).await;
    let queue = JetStreamQueue::connect(&options).await.unwrap();
    queue.publish(&job("a"), None).await.unwrap();
    assert_eq!(done(&queue, &["a"]).await, [1]);
    for (before, after, why) in [
        ("nats://joe:hidden@", ca.as_str(), "authorization violation"),
        ("nats://hidden@", ca.as_str(), "authorization violation"),
        ("nats://", ca.as_str(), "authorization violation"),
        // An authority that nobody vouches for.
        ("tls://joe:hid%3Aden%401@", "", "certificate"),
    ] {
        let text = refusal(&server.options(before, after)).await;
        assert!(text.contains(why), "{before}{after}: {text}");
        assert!(text.contains(&format!("127.0.0.1:{}", server.port)), "{text}");
    }
}

#[tokio::test]
async fn token_and_key() {
    // A key pair of the NATS documentation.
    let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    let public = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    let server = Server::start("authorization { token: \"t0ken\" }");
    migrated(&server.options("nats://t0ken@", "")).await;
    let text = refusal(&server.options("nats://hidden@", "")).await;
    assert!(text.contains("authorization violation"), "{text}");
    let server = Server::start(&format!("authorization {{ users: [ {{ nkey: {public} }} ] }}"));
    let file = server.folder.path().join("seed");
    fs::write(&file, format!("{seed}\n")).unwrap();
    migrated(&server.options("", &format!("?nkey={}", file.display()))).await;
    refusal(&server.options("", "")).await;
}

#[tokio::test]
async fn a_server_without_jetstream_is_refused() {
    let folder = TempDir::new().unwrap();
    let mut server = Server::start_in(folder, "");
    server.kill();
    let config = format!("listen: \"127.0.0.1:{}\"\n", server.port);
    fs::write(server.folder.path().join("conf"), config).unwrap();
    server.restart();
    let options = server.options("", "");
    let said = async {
        loop {
            let text = refusal(&options).await;
            if text.contains("JetStream") {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, said).await.unwrap();
}

#[tokio::test]
async fn nobody_at_home() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("nats://joe:hidden@127.0.0.1:{port}");
    let options = JetStreamOptions { url, namespace: "own".to_owned(), clock: Clock::system() };
    let text = refusal(&options).await;
    assert!(text.contains(&format!("NATS at 127.0.0.1:{port}")), "{text}");
    assert!(!format!("{options:?}").contains("hidden"));
}

#[tokio::test]
async fn an_old_server_is_refused() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let old = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let info = json!({ "server_id": "X", "version": "2.11.9", "max_payload": 1000 });
        socket.write_all(format!("INFO {info}\r\n").as_bytes()).await.unwrap();
        let mut buffer = [0; 4096];
        while let Ok(1..) = socket.read(&mut buffer).await {
            socket.write_all(b"PONG\r\n").await.unwrap();
        }
    });
    let url = format!("127.0.0.1:{port}");
    let options = JetStreamOptions { url, namespace: "own".to_owned(), clock: Clock::system() };
    let error = timeout(PATIENCE, JetStreamQueue::migrate(&options)).await.unwrap().err().unwrap();
    assert!(matches!(&error, JetStreamError::TooOld { found, .. } if found == "2.11.9"), "{error}");
    assert!(error.to_string().contains("2.12 or newer"), "{error}");
    old.abort();
}
