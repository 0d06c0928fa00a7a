//! Teams and their keys, made by the command line beside the running product.

use crate::home::Home;

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

    /// The flags by which the command line knows the team.
    pub fn flags(&self) -> Vec<&str> {
        self.id.iter().flat_map(|id| ["--team", id]).collect()
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
        self.keys.key(&[&self.flags(), flags].concat())
    }
}

/// The command line over an installation's data.
#[derive(Debug, Clone)]
pub(crate) struct KeyMaker(Home);

impl KeyMaker {
    pub(crate) fn of(home: &Home) -> Self {
        Self(home.clone())
    }

    pub(crate) fn team(&self, name: &str) -> Team {
        let id = self.0.run(&["team", "create", name]);
        let key = self.key(&["--team", &id]);
        Team { id: Some(id), key, keys: self.clone() }
    }

    fn key(&self, flags: &[&str]) -> String {
        self.0.run(&[&["key", "create"], flags].concat())
    }
}
