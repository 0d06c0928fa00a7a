//! Tells the executable which commit it is built from.

use std::{env, fs, path::Path, process::Command};

/// What is said where nothing is known.
const UNKNOWN: &str = "unknown";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = given("TRAPLINE_COMMIT").or_else(|| git(&["rev-parse", "HEAD"]));
    let date = given("TRAPLINE_COMMIT_DATE").or_else(|| git(&["log", "-1", "--format=%cs"]));
    let target = env::var("TARGET").ok();
    for (name, value) in [("COMMIT", commit), ("COMMIT_DATE", date), ("TARGET", target)] {
        let value = value.unwrap_or_else(|| UNKNOWN.to_owned());
        println!("cargo::rustc-env=TRAPLINE_BUILD_{name}={value}");
    }
    // They change with each commit and checkout. A file that is not there would count as changed in
    // every build.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// What whoever builds without git says.
fn given(variable: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={variable}");
    env::var(variable).ok().filter(|text| is_word(text))
}

/// What git says of the workspace, if that is a repository and not only in one.
fn git(arguments: &[&str]) -> Option<String> {
    let workspace =
        fs::canonicalize(Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../..")).ok()?;
    let ask = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(&workspace).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && is_word(&text)).then_some(text)
    };
    let top = ask(&["rev-parse", "--show-toplevel"])?;
    (fs::canonicalize(top).ok()? == workspace).then(|| ask(arguments))?
}

/// Whether a text may stand in a line of its own.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\r'])
}
