//! Services as child processes of `tests/services/run.py`, which a test starts, kills and stops by itself.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/services/run.py");

/// Services that end with this value.
pub struct Backing {
    program: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    settings: BTreeMap<String, String>,
}

impl Backing {
    /// Starts those that the options name, and waits until all serve.
    pub fn start(options: &[&str]) -> Self {
        let mut program = Command::new(PROGRAM)
            .arg("up")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = program.stdin.take();
        let mut answers = BufReader::new(program.stdout.take().unwrap());
        let started = read(&mut answers);
        let settings = serde_json::from_value(started["env"].clone()).unwrap();
        Self { program, orders, answers, settings }
    }

    /// The setting of the product that leads to some of them.
    pub fn setting(&self, name: &str) -> &str {
        &self.settings[name]
    }

    /// Obeys a line such as `kill redis-1`.
    pub fn order(&mut self, line: &str) {
        let mut orders = self.orders.as_ref().unwrap();
        writeln!(orders, "{line}").unwrap();
        let answer = read(&mut self.answers);
        assert!(answer["error"].is_null(), "{line}: {answer}");
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // The end of its orders is the end of the services.
        drop(self.orders.take());
        drop(self.program.wait());
    }
}

fn read(answers: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("run.py said {line:?}"))
}
