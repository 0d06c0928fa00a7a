//! The data folder: who reads it, and what is refused over it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// A shell that leaves new files open to everybody.
fn trapline(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", r#"umask 0; exec "$0" "$@""#, env!("CARGO_BIN_EXE_trapline")]);
    command.args(arguments).env_clear().env("TRAPLINE_DATA", data).stdin(Stdio::null());
    command
}

/// A server that a test ends as a crash would.
struct Server {
    process: Child,
    banner: String,
    log: PathBuf,
}

impl Server {
    fn start(data: &Path, arguments: &[&str]) -> Self {
        let addresses = ["serve", "--http=127.0.0.1:0", "--smtp=[::1]:0", "--smtps=[::1]:0"];
        let log = data.with_extension("log");
        let mut command = trapline(data, &[&addresses[..], arguments].concat());
        command.stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (mut banner, mut blocks) = (String::new(), 0);
        while blocks < 3 {
            let Some(line) = lines.next() else { panic!("{}", fs::read_to_string(log).unwrap()) };
            let line = line.unwrap();
            blocks += usize::from(line.is_empty());
            banner += &(line + "\n");
        }
        // What is printed later has a reader until the server ends.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, banner, log }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Ends as an operator ends it once it has started, and returns what was printed.
    fn terminate(mut self) -> String {
        let api = self.banner.split_once("http://").unwrap().1;
        // Nothing is answered before the whole start is over, which notes that its key was shown.
        let mut probe = TcpStream::connect(api.split('/').next().unwrap()).unwrap();
        probe.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        probe.read_exact(&mut [0]).unwrap();
        let id = self.process.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        assert!(self.process.wait().unwrap().success());
        self.banner.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A folder that others may enter, beside which logs may lie.
fn folder() -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let data = outer.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    (outer, data)
}

/// What a command that must fail says.
fn refusal(data: &Path, arguments: &[&str]) -> String {
    let output = trapline(data, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn nobody_else_reads_what_is_in_an_open_folder() {
    let (_outer, data) = folder();
    for start in ["first", "second"] {
        let server = Server::start(&data, &[]);
        let files = files(&data);
        assert!(files.len() >= 6, "{files:?}");
        for file in files {
            let mode = file.metadata().unwrap().mode();
            assert_eq!(mode & 0o777, 0o600, "{start} {}", file.display());
            // Neither holds anything.
            if file.ends_with("lock") || file.ends_with("reserve") {
                continue;
            }
            // As a copy of a backup may be.
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let warning = format!("can look into the data folder {}", data.display());
        assert!(server.log().contains(&warning), "{}", server.log());
    }
    let own = data.join("own");
    let server = Server::start(&own, &[]);
    assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);
    assert!(!server.log().contains("can look into"), "{}", server.log());
}

#[test]
fn a_lost_secret_key_is_not_replaced() {
    let (_outer, data) = folder();
    drop(Server::start(&data, &[]));
    let file = data.join("secret.key");
    let key = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    for command in [&["serve", "--http=127.0.0.1:0", "--smtp=127.0.0.1:0"][..], &["key", "list"]] {
        let refused = refusal(&data, command);
        assert!(refused.contains("secret.key is not there"), "{refused}");
        assert!(refused.contains("put it back from a backup"), "{refused}");
        assert!(!file.exists());
    }
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for by in [&["key", "list", "--secret-key", other][..], &["key", "list"]] {
        fs::write(&file, other).unwrap();
        let refused = refusal(&data, by);
        assert!(refused.contains("the secret key is not the one"), "{refused}");
    }
    fs::remove_file(&file).unwrap();
    let server = Server::start(&data, &["--secret-key", &key]);
    assert!(server.banner.contains("Password "), "{}", server.banner);
    assert!(!file.exists(), "the setting's key needs no file");
}

#[test]
fn a_command_that_nobody_can_read_fails() {
    let (_outer, data) = folder();
    drop(Server::start(&data, &[]));
    for command in [&["key", "create"][..], &["key", "list"], &["team", "create", "a"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = trapline(&data, command).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[test]
fn commands_make_no_installation() {
    let (_outer, data) = folder();
    let commands: [&[&str]; 4] = [
        &["key", "create"],
        &["key", "list"],
        &["key", "revoke", "tl_abcde"],
        &["team", "create", "a"],
    ];
    for command in commands {
        for folder in [&data, &data.join("none")] {
            let refused = refusal(folder, command);
            assert!(
                refused.contains(&format!("no installation in {}", folder.display())),
                "{refused}"
            );
        }
        assert_eq!(files(&data), [] as [PathBuf; 0], "{command:?}");
    }
}

#[test]
fn a_later_banner_can_be_copied_into_a_shell() {
    let (_outer, data) = folder();
    let first = Server::start(&data, &[]).terminate();
    assert!(first.contains("-H \"Authorization: Bearer tl_"), "{first}");
    assert!(first.contains("  SMTP     [::1]:") && first.contains("  SMTPS    [::1]:"), "{first}");
    let second = Server::start(&data, &[]).banner.clone();
    assert!(second.contains("-H \"Authorization: Bearer $TRAPLINE_API_KEY\""), "{second}");
}
