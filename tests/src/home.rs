//! What the processes and commands of one installation share.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{clock::TestClock, process::executable};

static INSTALLATIONS: AtomicUsize = AtomicUsize::new(0);

/// A folder for logs and, in one process, data; and the settings that lead to the services of a
/// cluster.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: PathBuf,
    settings: Vec<(&'static str, String)>,
    /// The network namespace that its processes are in; this program's when there is none.
    network: Option<String>,
}

/// `trapline` with its data in this folder, for tests that start it in ways of their own.
pub fn command(folder: &Path) -> Command {
    Home::embedded(folder).command()
}

/// The URLs of the services behind a cluster.
#[derive(Debug, Clone)]
pub struct Services {
    /// The CQL store.
    pub cql: String,
    /// The job queue.
    pub nats: String,
    /// Redis.
    pub redis: String,
    /// The bucket.
    pub blobs: String,
}

impl Home {
    /// One process over its folder.
    pub(crate) fn embedded(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), settings: Vec::new(), network: None }
    }

    /// An installation over the services that the environment names.
    pub(crate) fn cluster(folder: &Path) -> Self {
        let service = |name: &str| {
            std::env::var(name).unwrap_or_else(|_| {
                panic!("{name} is not set: run this through tests/services/run.py exec")
            })
        };
        let services = Services {
            cql: service("TRAPLINE_TEST_CQL"),
            nats: service("TRAPLINE_TEST_NATS"),
            redis: service("TRAPLINE_TEST_REDIS"),
            blobs: service("TRAPLINE_TEST_S3"),
        };
        Self::over(folder, &services)
    }

    /// An installation over these services.
    pub(crate) fn over(folder: &Path, services: &Services) -> Self {
        // Each installation has a keyspace and a folder of the bucket for itself.
        let number = INSTALLATIONS.fetch_add(1, Ordering::Relaxed);
        let keyspace = format!("e2e_{}_{number}", std::process::id());
        let Services { cql, nats, redis, blobs } = services.clone();
        let (bucket, query) = blobs.split_once('?').unwrap_or((&blobs, ""));
        let settings = vec![
            ("TRAPLINE_CQL", cql),
            ("TRAPLINE_NATS", nats),
            ("TRAPLINE_REDIS", redis),
            ("TRAPLINE_BLOBS", format!("{bucket}/{keyspace}?{query}")),
            ("TRAPLINE_CQL_KEYSPACE", keyspace),
            ("TRAPLINE_SECRET_KEY", data_encoding::BASE64.encode(&[7; 32])),
        ];
        Self { folder: folder.to_owned(), settings, network: None }
    }

    /// The same, for processes in a network namespace.
    pub(crate) fn within(&self, network: Option<&str>) -> Self {
        Self { network: network.map(str::to_owned), ..self.clone() }
    }

    /// The same, whose processes have a clock that a test moves.
    pub(crate) fn with_clock(mut self, clock: &TestClock) -> Self {
        self.settings.push((TestClock::VARIABLE, clock.file().display().to_string()));
        self
    }

    /// The same with another secret key.
    pub(crate) fn with_secret_key(mut self, secret: &str) -> Self {
        self.settings.retain(|(name, _)| *name != "TRAPLINE_SECRET_KEY");
        self.settings.push(("TRAPLINE_SECRET_KEY", secret.to_owned()));
        self
    }

    /// Whether it is over services, whatever mode the tests run in.
    pub(crate) fn is_cluster(&self) -> bool {
        !self.keyspace().is_empty()
    }

    /// The name of the keyspace, and of what else belongs to a cluster.
    pub(crate) fn keyspace(&self) -> &str {
        self.setting("TRAPLINE_CQL_KEYSPACE")
    }

    /// The value of a setting, empty where there is none.
    pub(crate) fn setting(&self, wanted: &str) -> &str {
        let named = |(name, _): &&(&str, String)| *name == wanted;
        self.settings.iter().find(named).map_or("", |(_, value)| value)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `trapline`, untouched by the settings of whoever runs the tests.
    pub(crate) fn command(&self) -> Command {
        let mut command = match &self.network {
            None => Command::new(executable()),
            // It becomes the program, so the process id is the program's.
            Some(network) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", network]).arg(executable());
                command
            }
        };
        let ours = |name: &str| {
            (name.starts_with("TRAPLINE_") && !matches!(name, "TRAPLINE_BIN" | TestClock::VARIABLE))
                || matches!(name, "METRICS_TOKEN" | "DEEP_HEALTH_MAX_OVERDUE")
        };
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(ours) {
                command.env_remove(name);
            }
        }
        command.env("TRAPLINE_DATA", &self.folder).envs(self.settings.iter().cloned());
        command
    }

    /// Runs a command to its end, and returns what it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        self.output(arguments).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same; an error is what the command says of a failure.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command().args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        Err(format!("trapline {arguments:?}: {}", text(&output.stderr)))
    }
}
