//! One `trapline` as a child process.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};

use crate::{GUARD, banner::Banner, home::Home};

static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Lines of the log that a failed test shows.
const SHOWN: usize = 80;

/// The executable under test: `TRAPLINE_BIN`, or else the one that was built beside this test.
pub(crate) fn executable() -> PathBuf {
    if let Some(path) = std::env::var_os("TRAPLINE_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    // target/<profile>/deps/e2e-… → target/<profile>/trapline
    let beside = test.ancestors().nth(2).unwrap().join("trapline");
    assert!(
        beside.is_file(),
        "{} is not there: run `cargo build -p trapline` first, or set TRAPLINE_BIN",
        beside.display()
    );
    beside
}

/// A server that runs until it is told to stop, is killed, or this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    server: Child,
    /// Ends the server when this process is gone, however it went.
    guard: Child,
    log: PathBuf,
    /// The command that it runs: `serve`, or its role in a cluster.
    pub(crate) role: String,
    pub(crate) banner: Banner,
}

impl Process {
    /// Starts a server, and waits until it has said where it is.
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        raise_file_limit();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = home.folder().join(format!("{}-{number}.log", arguments[0]));
        let stderr = File::options().create(true).append(true).open(&log).unwrap();
        let mut server = home
            .command()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let guard = guard(&server, home.folder());
        let Some(banner) = read_banner(BufReader::new(server.stdout.take().unwrap())) else {
            drop(server.kill());
            panic!("the server did not start ({:?}):\n{}", server.wait(), tail(&log));
        };
        Self { server, guard, log, role: arguments[0].to_owned(), banner }
    }

    /// The process id.
    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// Ends the process as a crash would (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Asks the process to end (SIGTERM).
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Waits until the process has ended by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        while began.elapsed() < GUARD {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server has not ended within {GUARD:?}:\n{}", self.log());
    }

    /// The end of what it wrote to the standard error.
    pub(crate) fn log(&self) -> String {
        tail(&self.log)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server's log ends:\n{}", self.log());
        }
        // The guard goes first: once the server is reaped, its id may be somebody else's.
        for child in [&mut self.guard, &mut self.server] {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Tests hold thousands of connections, and the server inherits the limit.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Not allowed everywhere; a test that needs more than there is says so itself.
    setrlimit(Resource::Nofile, limit).ok();
}

/// Waits for the banner in a thread of its own, because nothing else ends a read. The thread reads on
/// afterwards: a server must not stop at a full pipe.
fn read_banner(stdout: impl BufRead + Send + 'static) -> Option<Banner> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = Vec::new();
        for line in stdout.lines().map_while(Result::ok) {
            lines.push(line);
            if Banner::is_complete(&lines) {
                // Whoever waited may have given up.
                sender.send(Banner::parse(&lines)).ok();
            }
        }
    });
    receiver.recv_timeout(GUARD).ok()
}

/// Ends a server and removes its folder when the standard input ends. An interrupt or a time limit
/// reaches it too, and must not stop it. A server that is still writing may hinder the first removal.
const GUARD_SCRIPT: &str = r#"
    trap '' INT TERM
    cat >/dev/null
    kill -KILL "$1"
    rm -rf -- "$2" || { sleep 1; rm -rf -- "$2"; }
"#;

/// A shared server outlives every test, and a test run can be interrupted. The guard's standard input
/// ends with this process, however it ends.
fn guard(server: &Child, folder: &Path) -> Child {
    Command::new("sh")
        .args(["-c", GUARD_SCRIPT, "guard"])
        .arg(server.id().to_string())
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn tail(log: &Path) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
