//! What a process says, to whom nobody listens, and how early it listens itself.

use std::{
    fs::File,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use trapline_tests::{Mail, Rest, Smtp, command, eventually, guarded, is_cluster};

const KEY: &str = "tl_0123456789abcdefghijklmnop";

/// Ends the process if the test did not.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Server {
    fn terminate(&self) {
        let id = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, Signal::TERM).unwrap();
    }

    /// The exit code, or `None` when a signal killed it.
    async fn code(&mut self) -> Option<i32> {
        guarded("an end", async {
            loop {
                if let Some(status) = self.0.try_wait().unwrap() {
                    return status.code();
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await
    }
}

/// A port that was free a moment ago: a process whose output is lost cannot tell which it took.
fn free() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn serve(folder: &Path, http: u16, smtp: u16, flags: &[&str]) -> Command {
    let mut command = command(folder);
    let address = |port: u16| format!("127.0.0.1:{port}");
    command.args(["serve", "--http", &address(http), "--smtp", &address(smtp)]);
    command.args(["--api-key", KEY]).args(flags).stdin(Stdio::null());
    command
}

async fn ready(http: u16) -> Rest {
    let rest = Rest::new(&format!("http://127.0.0.1:{http}"), Some(KEY));
    eventually("a server that is ready", async || {
        let answer = rest.request("GET", "/readyz").send().await.ok()?;
        answer.status().is_success().then_some(())
    })
    .await;
    rest
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[tokio::test]
async fn output_that_cannot_be_written_costs_nothing() {
    if is_cluster() {
        return;
    }
    for is_disk_full in [true, false] {
        let folder = TempDir::new().unwrap();
        let (http, smtp) = (free(), free());
        let mut command = serve(folder.path(), http, smtp, &["--log", "debug"]);
        let out = || if is_disk_full { full() } else { Stdio::piped() };
        let mut child = command.stdout(out()).stderr(out()).spawn().unwrap();
        // Nobody reads the pipes any more.
        drop((child.stdout.take(), child.stderr.take()));
        let mut server = Server(child);
        let rest = ready(http).await;
        let inbox = rest.inbox().await;
        for number in 0..3 {
            let mut session = Smtp::hello(([127, 0, 0, 1], smtp).into()).await;
            session.login(&inbox.username, &inbox.password).await;
            let mail = Mail::new(&number.to_string(), "x").bytes();
            assert_eq!(session.transact("a@x.test", &["b@x.test"], &mail).await.len(), 1);
        }
        assert_eq!(rest.subjects(&inbox).await.0, 3);
        server.terminate();
        assert_eq!(server.code().await, Some(0), "full: {is_disk_full}");
    }
}

#[tokio::test]
async fn what_is_said_has_no_colours_and_no_secrets() {
    if is_cluster() {
        return;
    }
    for (flags, is_quiet) in [(&[][..], false), (&["--quiet"][..], true)] {
        let folder = TempDir::new().unwrap();
        let (http, smtp) = (free(), free());
        let mut command = serve(folder.path(), http, smtp, flags);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut server = Server(child);
        let rest = ready(http).await;
        let inboxes = rest.get("/api/inboxes").await.expect(200).json();
        let password = inboxes[0]["smtp"]["password"].as_str().unwrap_or("no password").to_owned();
        server.terminate();
        assert_eq!(server.code().await, Some(0));
        let mut said = [String::new(), String::new()];
        let (out, log) = (server.0.stdout.take().unwrap(), server.0.stderr.take().unwrap());
        std::io::read_to_string(out).unwrap().clone_into(&mut said[0]);
        std::io::read_to_string(log).unwrap().clone_into(&mut said[1]);
        assert_eq!(said[0].is_empty(), is_quiet, "{said:?}");
        assert!(said[1].contains("draining"), "{said:?}");
        for text in &said {
            for secret in [KEY, &password, "\u{1b}["] {
                assert!(!text.contains(secret), "{secret:?} in {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_stop_in_the_midst_of_the_start_ends_well() {
    if is_cluster() {
        return;
    }
    for _ in 0..5 {
        let folder = TempDir::new().unwrap();
        let mut command = serve(folder.path(), free(), free(), &[]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Server(child);
        guarded("the begin of the start", async {
            while !folder.path().join("lock").exists() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        server.terminate();
        assert_eq!(server.code().await, Some(0), "a signal before the end of the start");
    }
}
