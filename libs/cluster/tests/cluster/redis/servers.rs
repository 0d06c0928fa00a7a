//! Servers that can be killed.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use tempfile::TempDir;
use trapline_cluster::redis::{Redis, RedisOptions};
use trapline_model::InboxId;
use trapline_store::{Bus, Clock, LiveEvent, Signal, SignalStream};
use uuid::Uuid;

/// A server in a folder of its own.
pub(crate) struct Server {
    child: Option<Child>,
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
    arguments: Vec<String>,
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Server {
    /// Starts a server on a free port.
    pub(crate) fn start() -> Self {
        let port = free_port();
        Self::with(port, TempDir::new().unwrap(), &["--port", &port.to_string()])
    }

    /// Starts a server that listens on `port` by these arguments.
    pub(crate) fn with(port: u16, folder: TempDir, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut server = Self { child: None, port, folder, arguments };
        server.restart();
        server
    }

    /// Starts it again, empty.
    pub(crate) fn restart(&mut self) {
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"])
            .arg(self.folder.path())
            .args(&self.arguments)
            .stdout(Stdio::null())
            .spawn();
        self.child = Some(child.expect("the program redis-server (7.0 or later)"));
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("redis-server does not listen");
    }

    /// Ends it without notice.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Runs a command, and returns what the server says.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli").args(["-p", &port]).args(command).output();
        String::from_utf8(output.expect("the program redis-cli").stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) async fn connect(url: &str, clock: Clock) -> Redis {
    let options = RedisOptions { url: url.to_owned(), namespace: "test".to_owned(), clock };
    Redis::connect(&options).await.unwrap()
}

pub(crate) fn inbox(number: u128) -> InboxId {
    InboxId(Uuid::from_u128(number))
}

pub(crate) fn event(number: u128) -> LiveEvent {
    LiveEvent::MessageUpdated { id: Uuid::from_u128(number), marked: None }
}

/// Publishes as soon as that works.
pub(crate) async fn publish(bus: &dyn Bus, inbox: InboxId, event: LiveEvent) {
    for _ in 0..100 {
        if bus.publish(inbox, event.clone()).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("publishing does not work again");
}

pub(crate) async fn next(signals: &mut SignalStream) -> Signal {
    use futures_util::StreamExt as _;
    let signal = tokio::time::timeout(Duration::from_secs(20), signals.next()).await;
    signal.expect("a signal in time").expect("a stream that goes on")
}

pub(crate) async fn hears(signals: &mut SignalStream, event: &LiveEvent) {
    assert_eq!(next(signals).await, Signal::Event(std::sync::Arc::new(event.clone())));
}
