//! An installation whose processes a test starts, pauses and ends one by one.

use std::{net::SocketAddr, time::Duration};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{Services, banner::Banner, home::Home, process::Process};

/// How often a migration is tried again.
const TRIES: usize = 10;

/// A cluster without processes yet.
#[derive(Debug)]
pub struct Site {
    home: Home,
    first: Banner,
    _folder: TempDir,
}

/// One process of a role.
#[derive(Debug)]
pub struct Node(Process);

impl Site {
    /// Makes an installation over these services.
    pub fn migrate(services: &Services) -> Self {
        let folder = tempfile::Builder::new().prefix("trapline-site-").tempdir().unwrap();
        let home = Home::over(folder.path(), services);
        // The nodes of a new CQL cluster learn of each other a little after they serve.
        let mut printed = home.output(&["migrate"]);
        for _ in 0..TRIES {
            if printed.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
            printed = home.output(&["migrate"]);
        }
        let printed = printed.unwrap_or_else(|error| panic!("{error}"));
        let lines: Vec<_> = printed.lines().map(str::to_owned).collect();
        Self { home, first: Banner::parse(&lines), _folder: folder }
    }

    /// A key of the first team that may write.
    pub fn key(&self) -> &str {
        self.first.key.as_deref().expect("a migration shows a key")
    }

    /// What the names of everything in the services begin with.
    pub fn namespace(&self) -> &str {
        self.home.keyspace()
    }

    /// Starts a process with these arguments, of which the first is the role, in a network namespace
    /// if one is named.
    pub fn start(&self, network: Option<&str>, arguments: &[&str]) -> Node {
        Node(Process::start(&self.home.within(network), arguments))
    }
}

impl Node {
    /// Where the API, or only probes, are, without a path.
    pub fn http(&self) -> &str {
        self.0.banner.http.as_deref().expect("every role has probes")
    }

    /// Where plain SMTP is, in the role that has it.
    pub fn smtp(&self) -> Option<SocketAddr> {
        self.0.banner.smtp
    }

    /// Ends it as a crash would (SIGKILL).
    pub fn kill(&mut self) {
        self.0.kill();
    }

    /// Makes it silent (SIGSTOP): connections stay open, and nothing is answered.
    pub fn pause(&self) {
        self.0.signal(Signal::STOP);
    }

    /// Lets it go on (SIGCONT).
    pub fn resume(&self) {
        self.0.signal(Signal::CONT);
    }

    /// Asks it to end (SIGTERM), and waits until it has; whether it did so without a fault.
    pub fn end(&mut self) -> bool {
        self.0.terminate();
        self.0.ended().success()
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        self.0.log()
    }
}
