//! Foreign programs that `tests/setup.sh` installs.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    time::timeout,
};
use trapline_tests::GUARD;

/// A file in the folder of the foreign programs' sources.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(path)
}

/// A file that `tests/setup.sh` has made.
pub(crate) fn tool(path: &str) -> PathBuf {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools").join(path);
    assert!(found.exists(), "{} is not there: run tests/setup.sh first", found.display());
    found
}

/// Node with the installed packages, about to run this source.
pub(crate) fn node(script: &str) -> Command {
    let mut node = Command::new("node");
    node.env("NODE_PATH", tool("node/node_modules")).arg(source(script));
    node
}

/// Runs a program to its end; it must succeed. Returns its standard output.
pub(crate) async fn run(mut command: Command) -> String {
    command.stdin(Stdio::null()).kill_on_drop(true);
    // Browsers and fuzzers have much to do, and the machine has other tests to run.
    let Ok(output) = timeout(10 * GUARD, command.output()).await else {
        panic!("{command:?} does not end");
    };
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}\n{text}", output.status);
    text
}

/// Runs a program that asks for things on its way: each line of its standard output that begins with `@` is
/// answered with a line. Returns the last line that is no question.
pub(crate) async fn converse(
    mut command: Command,
    mut answer: impl FnMut(&str) -> String,
) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut stderr = child.stderr.take().unwrap();
    let errors = tokio::spawn(async move {
        let mut text = String::new();
        stderr.read_to_string(&mut text).await.map(|_| text).unwrap_or_default()
    });
    let talk = async {
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            match line.strip_prefix('@') {
                Some(question) => {
                    let told = answer(question) + "\n";
                    stdin.write_all(told.as_bytes()).await.unwrap();
                }
                None => last = line,
            }
        }
        (last, child.wait().await.unwrap())
    };
    let Ok((last, status)) = timeout(10 * GUARD, talk).await else {
        panic!("{command:?} does not end");
    };
    assert!(status.success(), "{command:?}: {status}\n{}", errors.await.unwrap_or_default());
    last
}
