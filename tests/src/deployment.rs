//! The product as it runs in one of its modes.

use std::{net::SocketAddr, process::ExitStatus};

use tempfile::TempDir;

use crate::{Rest, Team, process::Process, teams::KeyMaker};

/// What runs. One variant for each way to run the product.
#[derive(Debug)]
enum Mode {
    /// Everything in one process over one data folder.
    Embedded(Process),
}

/// A running product with a data folder of its own. Dropping it ends and removes both.
///
/// `MODE` says how it runs: `embedded`, which is the default.
#[derive(Debug)]
pub struct Deployment {
    mode: Mode,
    flags: Vec<String>,
    team: Team,
    inbox: String,
    folder: TempDir,
}

impl Deployment {
    /// Starts with the default settings.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts with settings of `trapline serve`.
    pub fn with(flags: &[&str]) -> Self {
        let mode = std::env::var("MODE").unwrap_or_else(|_| "embedded".to_owned());
        assert_eq!(mode, "embedded", "MODE={mode}: there is only embedded");
        let folder = tempfile::Builder::new().prefix("trapline-test-").tempdir().unwrap();
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let process = Process::start(folder.path(), &flags);
        let (key, inbox) = (process.banner.key.clone(), process.banner.inbox.clone());
        let keys = KeyMaker::of(folder.path());
        let team = Team::first(key.expect("the first start shows a key"), keys);
        let inbox = inbox.expect("the first start shows an inbox");
        Self { mode: Mode::Embedded(process), flags, team, inbox, folder }
    }

    /// Where the API is, without `/api`: one address for each process that serves it.
    pub fn api(&self) -> Vec<String> {
        let Mode::Embedded(process) = &self.mode;
        vec![process.banner.base_url.clone()]
    }

    /// Where plain SMTP and STARTTLS are, in the same way.
    pub fn smtp(&self) -> Vec<SocketAddr> {
        let Mode::Embedded(process) = &self.mode;
        vec![process.banner.smtp]
    }

    /// Where SMTP with implicit TLS is, in the same way.
    pub fn smtps(&self) -> Vec<SocketAddr> {
        let Mode::Embedded(process) = &self.mode;
        process.banner.smtps.into_iter().collect()
    }

    /// The team of the first start.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The inbox of the first start, where mail for unknown addresses lands.
    pub fn default_inbox(&self) -> &str {
        &self.inbox
    }

    /// Another team with its own keys.
    pub fn second_team(&self) -> Team {
        KeyMaker::of(self.folder.path()).team("Other team")
    }

    /// A client with the first team's key.
    pub fn rest(&self) -> Rest {
        self.client(self.team.key())
    }

    /// A client with this key.
    pub fn client(&self, key: &str) -> Rest {
        Rest::new(&self.api()[0], Some(key))
    }

    /// A client with no key.
    pub fn anonymous(&self) -> Rest {
        Rest::new(&self.api()[0], None)
    }

    /// A client with a key of the first team that may only read.
    pub fn reader(&self) -> Rest {
        self.client(&self.team.read_key())
    }

    /// The ids of the processes.
    pub fn process_ids(&self) -> Vec<u32> {
        let Mode::Embedded(process) = &self.mode;
        vec![process.id()]
    }

    /// Ends every process as a crash would (SIGKILL).
    pub fn kill(&mut self) {
        let Mode::Embedded(process) = &mut self.mode;
        process.kill();
    }

    /// Asks every process to end (SIGTERM).
    pub fn terminate(&self) {
        let Mode::Embedded(process) = &self.mode;
        process.terminate();
    }

    /// Waits until every process has ended by itself.
    pub fn ended(&mut self) -> ExitStatus {
        let Mode::Embedded(process) = &mut self.mode;
        process.ended()
    }

    /// Starts again over the same data, after [`kill`](Self::kill) or [`ended`](Self::ended). The
    /// addresses are new ones.
    pub fn restart(&mut self) {
        self.mode = Mode::Embedded(Process::start(self.folder.path(), &self.flags));
    }

    /// The end of what the processes logged.
    pub fn log(&self) -> String {
        let Mode::Embedded(process) = &self.mode;
        process.log()
    }
}
