//! Teams and their keys, made by the command line beside the running product.

use std::path::{Path, PathBuf};

use crate::process::command;

/// A team and a key of it that may write.
#[derive(Debug)]
pub struct Team {
    /// `None` is the first team, which the command line takes when none is named.
    id: Option<String>,
    key: String,
    keys: KeyMaker,
}

impl Team {
    pub(crate) fn first(key: String, keys: KeyMaker) -> Self {
        Self { id: None, key, keys }
    }

    /// A key that may write.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A new key that may only read.
    pub fn read_key(&self) -> String {
        self.new_key(&["--access", "read"])
    }

    /// A new key whose time is over.
    pub fn expired_key(&self) -> String {
        self.new_key(&["--expires-at", "2020-01-01T00:00:00.000Z"])
    }

    fn new_key(&self, flags: &[&str]) -> String {
        let team = self.id.iter().flat_map(|id| ["--team", id]);
        self.keys.key(&team.chain(flags.iter().copied()).collect::<Vec<_>>())
    }
}

/// The command line over one data folder.
#[derive(Debug, Clone)]
pub(crate) struct KeyMaker(PathBuf);

impl KeyMaker {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn team(&self, name: &str) -> Team {
        let id = self.run(&["team", "create", name]);
        let key = self.key(&["--team", &id]);
        Team { id: Some(id), key, keys: self.clone() }
    }

    fn key(&self, flags: &[&str]) -> String {
        self.run(&[&["key", "create"], flags].concat())
    }

    /// Runs a command that prints one line.
    fn run(&self, arguments: &[&str]) -> String {
        let output = command(&self.0).args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        assert!(output.status.success(), "trapline {arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}
