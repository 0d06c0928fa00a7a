//! Foreign programs that `tests/setup.sh` installs.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{process::Command, time::timeout};
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
