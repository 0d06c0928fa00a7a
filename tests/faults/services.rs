//! The services behind the cluster, as child processes of `tests/services/run.py`.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::Ipv4Addr,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;
use trapline_tests::Services;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/services/run.py");

/// Three CQL nodes and three NATS servers, and one each of Redis and S3.
pub(crate) struct Backing {
    program: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    settings: BTreeMap<String, String>,
}

/// One of the services, as a network cut sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Service {
    Cql,
    Nats,
    Redis,
    S3,
}

impl Service {
    pub(crate) const ALL: [Self; 4] = [Self::Cql, Self::Nats, Self::Redis, Self::S3];

    fn setting(self) -> &'static str {
        match self {
            Self::Cql => "TRAPLINE_CQL",
            Self::Nats => "TRAPLINE_NATS",
            Self::Redis => "TRAPLINE_REDIS",
            Self::S3 => "TRAPLINE_BLOBS",
        }
    }
}

impl Backing {
    /// Starts them, and waits until all serve.
    pub(crate) fn start() -> Self {
        let mut program = Command::new(PROGRAM)
            .args(["up", "--cassandra", "3", "--nats", "3"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = program.stdin.take();
        let mut answers = BufReader::new(program.stdout.take().unwrap());
        let started = read(&mut answers);
        let settings = serde_json::from_value(started["env"].clone()).unwrap();
        Self { program, orders, answers, settings }
    }

    /// Their URLs, with three copies of everything that can have them.
    pub(crate) fn urls(&self) -> Services {
        let setting = |service: Service| self.settings[service.setting()].clone();
        Services {
            cql: format!("cql://{}?replication=3", setting(Service::Cql)),
            nats: format!("{}?replicas=3", setting(Service::Nats)),
            redis: setting(Service::Redis),
            blobs: setting(Service::S3),
        }
    }

    /// The addresses of a service's servers.
    pub(crate) fn addresses(&self, service: Service) -> Vec<Ipv4Addr> {
        let setting = &self.settings[service.setting()];
        let words = setting.split(|c: char| !c.is_ascii_digit() && c != '.');
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// Obeys a line such as `kill redis-1`.
    pub(crate) fn order(&mut self, line: &str) {
        let mut orders = self.orders.as_ref().unwrap();
        writeln!(orders, "{line}").unwrap();
        let answer = read(&mut self.answers);
        assert!(answer["error"].is_null(), "{line}: {answer}");
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // The end of its orders is the end of the services.
        drop(self.orders.take());
        drop(self.program.wait());
    }
}

fn read(answers: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("run.py said {line:?}"))
}
