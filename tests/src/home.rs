//! What the processes and commands of one installation share.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::process::executable;

/// A folder for logs and, in one process, data; and the settings that lead to the services of a
/// cluster.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl Home {
    /// One process over its folder.
    pub(crate) fn embedded(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), settings: Vec::new() }
    }

    /// An installation over the services that the environment names.
    pub(crate) fn cluster(folder: &Path) -> Self {
        let service = |name: &str| {
            std::env::var(name).unwrap_or_else(|_| {
                panic!("{name} is not set: run this through tests/services/run.py exec")
            })
        };
        // Each run has a keyspace and a folder of the bucket for itself.
        let keyspace = format!("e2e_{}", std::process::id());
        let blobs = service("TRAPLINE_TEST_S3");
        let (bucket, query) = blobs.split_once('?').unwrap_or((&blobs, ""));
        let settings = vec![
            ("TRAPLINE_CQL", service("TRAPLINE_TEST_CQL")),
            ("TRAPLINE_NATS", service("TRAPLINE_TEST_NATS")),
            ("TRAPLINE_REDIS", service("TRAPLINE_TEST_REDIS")),
            ("TRAPLINE_BLOBS", format!("{bucket}/{keyspace}?{query}")),
            ("TRAPLINE_CQL_KEYSPACE", keyspace),
            ("TRAPLINE_SECRET_KEY", data_encoding::BASE64.encode(&[7; 32])),
        ];
        Self { folder: folder.to_owned(), settings }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `trapline`, untouched by the settings of whoever runs the tests.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(executable());
        let ours = |name: &str| {
            (name.starts_with("TRAPLINE_") && name != "TRAPLINE_BIN")
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
        let output = self.command().args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        assert!(output.status.success(), "trapline {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}
