//! The product as a cluster: two processes of each role, over services that run already.

use std::sync::LazyLock;

use tempfile::TempDir;

use crate::{banner::Banner, home::Home, process::Process};

/// How many processes of each role run.
const EACH: usize = 2;

/// Tests have their endpoints on this machine.
const HERE: [&str; 2] = ["--webhook-allow-cidrs", "127.0.0.0/8"];

/// What the processes of one cluster share.
pub(crate) struct Installation {
    pub(crate) home: Home,
    pub(crate) first: Banner,
    pub(crate) folder: TempDir,
}

static INSTALLATION: LazyLock<Installation> = LazyLock::new(Installation::new);

impl Installation {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("trapline-cluster-").tempdir().unwrap();
        let home = Home::cluster(folder.path());
        let printed = home.run(&["migrate"]);
        let lines: Vec<_> = printed.lines().map(str::to_owned).collect();
        Self { home, first: Banner::parse(&lines), folder }
    }
}

/// The cluster that the deployments of a test run share, but for those that are alone.
pub(crate) fn installation() -> &'static Installation {
    &INSTALLATION
}

/// Starts the processes of a deployment. The API names the first SMTP process to its clients.
pub(crate) fn start(home: &Home, flags: &[String]) -> Vec<Process> {
    let smtp: Vec<_> =
        (0..EACH).map(|_| role(home, "smtp", &["--catch-all", "true"], flags)).collect();
    let api = (0..EACH).map(|_| api(home, &smtp[0].banner, flags));
    let workers = (0..EACH).map(|_| worker(home, flags));
    let mut processes: Vec<_> = api.chain(workers).collect();
    processes.extend(smtp);
    processes
}

/// Starts a process of the API, which names an SMTP process to its clients.
pub(crate) fn api(home: &Home, smtp: &Banner, flags: &[String]) -> Process {
    let port = |address: Option<std::net::SocketAddr>| address.unwrap().port().to_string();
    let (port, tls_port) = (port(smtp.smtp), port(smtp.smtps));
    let told = ["--smtp-host", "127.0.0.1", "--smtp-port", &port, "--smtps-port", &tls_port];
    let listens = ["--https", "127.0.0.1:0"];
    role(home, "api", &[&["--api-rate", "0"], &listens, &told[..], &HERE].concat(), flags)
}

/// Starts a worker.
pub(crate) fn worker(home: &Home, flags: &[String]) -> Process {
    role(home, "worker", &HERE, flags)
}

fn role(home: &Home, role: &str, own: &[&str], flags: &[String]) -> Process {
    let mut arguments = vec![role, "--http", "127.0.0.1:0"];
    if role == "smtp" {
        arguments.extend(["--smtp", "127.0.0.1:0", "--smtps", "127.0.0.1:0"]);
    }
    let given = flags_of(role, flags);
    // A test's own word replaces the harness's.
    let replaced = |flag: &&str| given.iter().any(|other| other == flag);
    for pair in own.chunks(2).filter(|pair| !replaced(&pair[0])) {
        arguments.extend(pair);
    }
    arguments.extend(given);
    Process::start(home, &arguments)
}

/// Tests are written with the flags of `serve`; each role takes those that it knows.
fn flags_of<'a>(role: &str, flags: &'a [String]) -> Vec<&'a str> {
    let mut known = true;
    let mut taken = Vec::new();
    for flag in flags {
        if flag.starts_with("--") {
            known = knows(role, flag);
        }
        if known {
            taken.push(flag.as_str());
        }
    }
    taken
}

fn knows(role: &str, flag: &str) -> bool {
    const API: [&str; 15] = [
        "--address-rate",
        "--answer-memory",
        "--api-rate",
        "--caniemail",
        "--client-weights",
        "--deep-health-",
        "--https",
        "--inbox-rate",
        "--max-streams",
        "--mock-memory",
        "--mock-rate",
        "--outgoing-checks",
        "--preview-",
        "--sign-",
        "--spam-",
    ];
    const SMTP: [&str; 5] =
        ["--smtp-", "--auth-requires-tls", "--require-auth", "--catch-all", "--drain"];
    let one_of = |prefixes: &[&str]| prefixes.iter().any(|prefix| flag.starts_with(prefix));
    match role {
        "api" => !one_of(&SMTP),
        "smtp" => !one_of(&API) && !one_of(&["--relay-", "--webhook-"]),
        _ => !one_of(&API) && !one_of(&SMTP) && !one_of(&["--tls-"]),
    }
}
