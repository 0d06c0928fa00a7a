//! The product as it runs in one of its modes.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    net::SocketAddr,
    path::Path,
    process::ExitStatus,
    sync::atomic::{AtomicUsize, Ordering},
};

use tempfile::TempDir;

use crate::{
    Backstage, Rest, Team, TestClock,
    banner::Banner,
    cluster::{self, Installation},
    home::Home,
    person::path_of,
    process::Process,
    relay_flags, shared_relay,
    teams::KeyMaker,
};

/// A running product. Dropping it ends it and removes its data.
///
/// `MODE` says how it runs: `embedded`, which is the default, is everything in one process over one
/// data folder. `cluster` is several processes of each role, which share services, and but for
/// [`alone`](Self::alone) one installation, with every other deployment of the test run.
#[derive(Debug)]
pub struct Deployment {
    home: Home,
    processes: Vec<Process>,
    flags: Vec<String>,
    team: Team,
    inbox: String,
    owners_link: Option<String>,
    turn: AtomicUsize,
    _folder: Option<TempDir>,
}

impl Deployment {
    /// Starts with the default settings.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts with settings of `trapline serve`.
    pub fn with(flags: &[&str]) -> Self {
        if !is_cluster() {
            return Self::embedded(flags);
        }
        let Installation { home, first, .. } = cluster::installation();
        let mut deployment = Self::of_cluster(home, first, flags);
        // What a test does to its own team must not touch the first one, which others use.
        deployment.team = deployment.second_team();
        deployment
    }

    /// Starts an installation that no other process takes work from, with settings of `serve`.
    pub fn alone(flags: &[&str]) -> Self {
        if !is_cluster() {
            return Self::embedded(flags);
        }
        let Installation { home, first, folder } = Installation::new();
        Self { _folder: Some(folder), ..Self::of_cluster(&home, &first, flags) }
    }

    /// One that tests share, with the first team and a relay, which other deployments' workers lack.
    pub(crate) fn first() -> Self {
        let relay = relay_flags(shared_relay().address());
        Self::alone(&relay.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn embedded(flags: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("trapline-test-").tempdir().unwrap();
        let deployment = Self::in_folder(folder.path(), flags);
        Self { _folder: Some(folder), ..deployment }
    }

    /// Starts one process whose clock the test moves.
    pub fn with_clock(flags: &[&str]) -> (Self, TestClock) {
        let folder = tempfile::Builder::new().prefix("trapline-test-").tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        Self::over_clock(folder, &data, flags)
    }

    /// The same with its data in a folder that stays.
    pub fn with_clock_in(data: &Path, flags: &[&str]) -> (Self, TestClock) {
        let folder = tempfile::Builder::new().prefix("trapline-test-").tempdir().unwrap();
        Self::over_clock(folder, data, flags)
    }

    fn over_clock(folder: TempDir, data: &Path, flags: &[&str]) -> (Self, TestClock) {
        let clock = TestClock::new(folder.path().join("clock"));
        let deployment = Self::in_home(Home::embedded(data).with_clock(&clock), flags);
        (Self { _folder: Some(folder), ..deployment }, clock)
    }

    /// Starts one process whose data and logs are in a folder that stays.
    pub fn in_folder(folder: &Path, flags: &[&str]) -> Self {
        Self::in_home(Home::embedded(folder), flags)
    }

    fn in_home(home: Home, flags: &[&str]) -> Self {
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let process = serve(&home, &flags);
        let (key, inbox) = (process.banner.key.clone(), process.banner.inbox.clone());
        let key = key.expect("the first start shows a key");
        Self {
            team: Team::first(key, KeyMaker::of(&home)),
            inbox: inbox.expect("the first start shows an inbox"),
            owners_link: process.banner.owners_link.clone(),
            home,
            processes: vec![process],
            flags,
            turn: AtomicUsize::new(0),
            _folder: None,
        }
    }

    /// Starts over the data of an installation that had its first start before, of whose first team this
    /// is a key.
    pub(crate) fn over(home: Home, key: &str, flags: &[&str], folder: TempDir) -> Self {
        let mut deployment = Self {
            team: Team::first(key.to_owned(), KeyMaker::of(&home)),
            inbox: String::new(),
            owners_link: None,
            home,
            processes: Vec::new(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            turn: AtomicUsize::new(0),
            _folder: Some(folder),
        };
        deployment.restart();
        deployment
    }

    /// Restores an archive into a new data folder, or into a new cluster with this secret key, and starts it.
    /// `key` is one of its first team.
    pub fn restored(archive: &str, cluster_key: Option<&str>, key: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("trapline-restored-").tempdir().unwrap();
        let home = match cluster_key {
            Some(secret) => Home::cluster(folder.path()).with_secret_key(secret),
            None => Home::embedded(&folder.path().join("data")),
        };
        home.run(&["restore", "--from", archive]);
        Self::over(home, key, &[], folder)
    }

    /// The services behind a cluster.
    pub async fn backstage(&self) -> Backstage {
        Backstage::of(&self.home).await
    }

    fn of_cluster(home: &Home, first: &Banner, flags: &[&str]) -> Self {
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let (key, inbox) = (first.key.clone(), first.inbox.clone());
        Self {
            team: Team::first(key.expect("a migration shows a key"), KeyMaker::of(home)),
            inbox: inbox.expect("a migration shows an inbox"),
            owners_link: first.owners_link.clone(),
            processes: cluster::start(home, &flags),
            home: home.clone(),
            flags,
            turn: AtomicUsize::new(0),
            _folder: None,
        }
    }

    /// Where the API is, without `/api`: one address for each process that serves it.
    pub fn api(&self) -> Vec<String> {
        self.processes.iter().filter_map(|process| process.banner.base_url.clone()).collect()
    }

    /// Where the same API is over TLS.
    pub fn https(&self) -> Vec<SocketAddr> {
        self.processes.iter().filter_map(|process| process.banner.https).collect()
    }

    /// Where plain SMTP and STARTTLS are, in the same way. Tests begin with different ones.
    pub fn smtp(&self) -> Vec<SocketAddr> {
        let mut all: Vec<_> =
            self.processes.iter().filter_map(|process| process.banner.smtp).collect();
        rotate(&mut all);
        all
    }

    /// Where SMTP with implicit TLS is, in the same way.
    pub fn smtps(&self) -> Vec<SocketAddr> {
        let mut all: Vec<_> =
            self.processes.iter().filter_map(|process| process.banner.smtps).collect();
        rotate(&mut all);
        all
    }

    /// Where each process has its probes, without a path.
    pub fn probes(&self) -> Vec<String> {
        self.processes.iter().filter_map(|process| process.banner.http.clone()).collect()
    }

    /// The team whose keys the clients have.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The inbox of the first start, where mail for unknown addresses lands.
    pub fn default_inbox(&self) -> &str {
        &self.inbox
    }

    /// The link of the first start, by which somebody becomes the owner.
    pub fn owners_link(&self) -> &str {
        self.owners_link.as_deref().expect("the first start shows a link")
    }

    /// A link of the service at the address of its first API, which whoever made it may not have known.
    pub fn here(&self, link: &str) -> String {
        format!("{}{}", self.api()[0], path_of(link))
    }

    /// Another team with its own keys.
    pub fn second_team(&self) -> Team {
        KeyMaker::of(&self.home).team("Other team")
    }

    /// Runs an operator's command, and returns what it printed.
    pub fn command(&self, arguments: &[&str]) -> String {
        self.home.run(arguments)
    }

    /// Runs an operator's command that must fail, and returns what it says.
    pub fn refused_command(&self, arguments: &[&str]) -> String {
        self.home.output(arguments).expect_err("a command that fails")
    }

    /// A client with the team's key. Each is led to the next process.
    pub fn rest(&self) -> Rest {
        self.client(self.team.key())
    }

    /// A client with this key.
    pub fn client(&self, key: &str) -> Rest {
        Rest::new(&self.next_api(), Some(key))
    }

    /// A client with no key.
    pub fn anonymous(&self) -> Rest {
        Rest::new(&self.next_api(), None)
    }

    /// A client with a key of the team that may only read.
    pub fn reader(&self) -> Rest {
        self.client(&self.team.read_key())
    }

    fn next_api(&self) -> String {
        let all = self.api();
        all[self.turn.fetch_add(1, Ordering::Relaxed) % all.len()].clone()
    }

    /// The ids of the processes that take mail, in the order of [`smtp`](Self::smtp).
    pub fn smtp_process_ids(&self) -> Vec<u32> {
        let edges = self.processes.iter().filter(|process| process.banner.smtp.is_some());
        let mut all: Vec<_> = edges.map(Process::id).collect();
        rotate(&mut all);
        all
    }

    /// The ids of the processes that serve the API.
    pub fn api_process_ids(&self) -> Vec<u32> {
        let serve = self.processes.iter().filter(|process| process.banner.base_url.is_some());
        serve.map(Process::id).collect()
    }

    /// The ids of all processes.
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes.iter().map(Process::id).collect()
    }

    /// Where the data of one process, and the logs of several, are.
    pub fn folder(&self) -> &Path {
        self.home.folder()
    }

    /// Ends every process as a crash would (SIGKILL).
    pub fn kill(&mut self) {
        self.processes.iter_mut().for_each(Process::kill);
    }

    /// Ends one of a cluster's two processes of a role, `api` or `worker`, as a crash would (SIGKILL).
    pub fn kill_one(&mut self, role: &str) {
        let place = self.processes.iter().position(|process| process.role == role).unwrap();
        self.processes.remove(place).kill();
    }

    /// Starts a process of a role in the place of one that [`kill_one`](Self::kill_one) ended.
    pub fn start_one(&mut self, role: &str) {
        let edge = self.processes.iter().find(|process| process.role == "smtp").unwrap();
        let process = match role {
            "api" => cluster::api(&self.home, &edge.banner, &self.flags),
            "worker" => cluster::worker(&self.home, &self.flags),
            other => panic!("nobody starts one {other}"),
        };
        self.processes.insert(0, process);
    }

    /// Asks every process to end (SIGTERM).
    pub fn terminate(&self) {
        self.processes.iter().for_each(Process::terminate);
    }

    /// Waits until every process has ended by itself; the first failure is the answer.
    pub fn ended(&mut self) -> ExitStatus {
        let statuses: Vec<_> = self.processes.iter_mut().map(Process::ended).collect();
        statuses.iter().find(|status| !status.success()).copied().unwrap_or(statuses[0])
    }

    /// Starts again over the same data, after [`kill`](Self::kill) or [`ended`](Self::ended). The
    /// addresses are new ones.
    pub fn restart(&mut self) {
        self.processes = if self.home.is_cluster() {
            cluster::start(&self.home, &self.flags)
        } else {
            vec![serve(&self.home, &self.flags)]
        };
    }

    /// The same with other settings.
    pub fn restart_with(&mut self, flags: &[&str]) {
        self.flags = flags.iter().map(|&flag| flag.to_owned()).collect();
        self.restart();
    }

    /// The end of what the processes logged.
    pub fn log(&self) -> String {
        let logs = self.processes.iter().map(Process::log);
        logs.collect::<Vec<_>>().join("\n--\n")
    }
}

/// Whether the product runs as a cluster.
pub fn is_cluster() -> bool {
    match std::env::var("MODE").as_deref() {
        Ok("cluster") => true,
        Ok("embedded") | Err(_) => false,
        Ok(other) => panic!("MODE={other}: there is embedded and cluster"),
    }
}

fn serve(home: &Home, flags: &[String]) -> Process {
    // A test's own word replaces the harness's.
    let free = |flag: &&str| !flags.iter().any(|given| given == flag);
    let addresses = ["--http", "--https", "--smtp", "--smtps"].into_iter().filter(free);
    let addresses = addresses.flat_map(|flag| [flag, "127.0.0.1:0"]);
    let flags = flags.iter().map(String::as_str);
    Process::start(home, &["serve"].into_iter().chain(addresses).chain(flags).collect::<Vec<_>>())
}

/// Puts another process first in every test, the same throughout one test.
fn rotate<T>(all: &mut [T]) {
    let name = std::thread::current().name().map(str::to_owned);
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(name);
    let by = usize::try_from(hash % all.len().max(1) as u64).unwrap_or(0);
    all.rotate_left(by);
}
