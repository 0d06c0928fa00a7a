//! Commands that ask nothing of an installation: what the executable is, its manual and completions, and
//! whether a server is ready.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Command, Output},
    thread,
};

fn trapline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trapline"));
    command.args(arguments).env_clear();
    command
}

fn output(arguments: &[&str]) -> Output {
    trapline(arguments).output().unwrap()
}

/// What a command prints that ends well.
fn printed(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_version_names_commit_date_and_target() {
    let told = printed(&["--version"]);
    let known = told.strip_prefix(concat!("trapline ", env!("CARGO_PKG_VERSION"), " ("));
    let known = known.unwrap().strip_suffix(")\n").unwrap();
    let [commit, date, target] = known.split(", ").collect::<Vec<_>>()[..] else {
        panic!("{told}");
    };
    let is_hash = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{told}");
    assert!(date.starts_with("20") && date.len() == 10 || date == "unknown", "{told}");
    assert!(target.contains("-linux-") || target.contains("-darwin"), "{told}");
    assert_eq!(told, printed(&["-V"]));
}

#[test]
fn every_command_has_a_manual_page() {
    let page = printed(&["man"]);
    for heading in [".TH trapline 1", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH SUBCOMMANDS"]
    {
        assert!(page.contains(heading), "{heading} in {page}");
    }
    let commands = [
        "serve",
        "api",
        "smtp",
        "worker",
        "migrate",
        "backup",
        "restore",
        "verify",
        "probe",
        "man",
        "completions",
    ];
    for command in commands {
        assert!(printed(&["man", command]).contains(&format!(".TH trapline-{command} 1")));
        assert!(page.contains(&format!("trapline\\-{command}(1)")), "{command}");
    }
    assert!(printed(&["man", "key", "create"]).contains(".TH trapline-key-create 1"));
    let unknown = output(&["man", "key", "make"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("make: there is no such command"));
}

#[test]
fn the_manual_has_every_setting_and_no_value_of_the_environment() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let list = fs::read_to_string(path).unwrap();
    let mut command = trapline(&["man", "serve"]);
    let output = command.env("TRAPLINE_RELAY_PASSWORD", "pa55").output().unwrap();
    let page = text(&output.stdout);
    let rows = list.lines().filter(|line| line.starts_with("| `--") && line.contains("serve"));
    for row in rows {
        let variable = row.split('`').nth(3).unwrap();
        assert!(page.contains(variable), "{variable}");
    }
    assert!(page.contains("TRAPLINE_RELAY_PASSWORD_FILE") && !page.contains("pa55"));
}

#[test]
fn shells_get_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        assert!(script.contains("check-config") && script.contains("worker"), "{shell}");
    }
    assert_eq!(output(&["completions", "tcsh"]).status.code(), Some(2));
    let ask = "source /dev/stdin; COMP_WORDS=(trapline ke); COMP_CWORD=1; \
               _trapline trapline ke trapline; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    let mut bash = bash
        .args(["-c", ask])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let script = printed(&["completions", "bash"]);
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), "key\n");
}

/// A server that gives one answer; its address, and what it was asked.
fn server(answer: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let length = client.read(&mut request).unwrap();
        client.write_all(answer.as_bytes()).unwrap();
        text(&request[..length])
    });
    (address, asked)
}

#[test]
fn a_probe_tells_by_its_exit_code_whether_a_server_is_ready() {
    let (address, asked) = server("HTTP/1.1 200 OK\r\n\r\n{\"ok\":true}");
    let mut probe = trapline(&["probe"]);
    let ready = probe.env("TRAPLINE_HTTP", &address).output().unwrap();
    assert_eq!((ready.status.code(), text(&ready.stdout).as_str()), (Some(0), "{\"ok\":true}\n"));
    assert!(asked.join().unwrap().starts_with("GET /readyz HTTP/1.1\r\n"));
    let (address, asked) = server("HTTP/1.1 503 Service Unavailable\r\n\r\n{\"ok\":false}");
    let url = format!("http://{address}/readyz?services=false");
    let draining = output(&["probe", "--url", &url]);
    assert_eq!(draining.status.code(), Some(1));
    assert!(text(&draining.stderr).contains("is not ready: 503 {\"ok\":false}"));
    assert!(asked.join().unwrap().starts_with("GET /readyz?services=false HTTP/1.1\r\n"));
    let (address, asked) = server("220 mail.test ESMTP\r\n");
    let other = output(&["probe", "--url", &format!("http://{address}")]);
    assert!(text(&other.stderr).contains("does not speak HTTP"), "{}", text(&other.stderr));
    asked.join().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = output(&["probe", "--http", &free.to_string()]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(text(&nobody.stderr).contains(&format!("no answer from {free}")));
    let wrong = output(&["probe", "--url", "https://localhost"]);
    assert!(text(&wrong.stderr).contains("wants a URL such as http://"));
}
