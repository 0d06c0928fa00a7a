//! The result, for people.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use crate::{
    check::Found,
    load::{Kind, Ledger},
};

const HEAD: &str = "\
| Fault | Accepted | Lost | Duplicate ids | Repeated by the client | Wrong answers | \
Told to try again | Connections lost | SMTP | REST | wait | SSE | mock | sign-in |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// What one fault did.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) fault: String,
    found: Found,
    wrong: Vec<String>,
    refused: usize,
    broken: usize,
    recovery: [Option<Duration>; 6],
    failure: Option<String>,
}

impl Row {
    pub(crate) fn new(
        fault: String,
        struck: Instant,
        found: Found,
        ledger: &Ledger,
        failure: Option<String>,
    ) -> Self {
        let (refused, broken) = ledger.troubles();
        let recovery = Kind::ALL.map(|kind| ledger.disturbed(kind, struck));
        Self { fault, found, wrong: ledger.wrongs(), refused, broken, recovery, failure }
    }

    /// Whether everything is as promised.
    fn is_good(&self) -> bool {
        let Found { lost, duplicate_ids, .. } = self.found;
        lost == 0 && duplicate_ids == 0 && self.wrong.is_empty() && self.failure.is_none()
    }

    /// What is not as promised.
    pub(crate) fn complaint(&self) -> Option<String> {
        (!self.is_good()).then(|| [vec![self.line()], self.wrong.clone()].concat().join("\n"))
    }

    pub(crate) fn line(&self) -> String {
        let Found { accepted, lost, duplicate_ids, repeated } = self.found;
        let counts =
            [accepted, lost, duplicate_ids, repeated, self.wrong.len(), self.refused, self.broken];
        let counts = counts.map(|count| count.to_string()).join(" | ");
        let time = |time: Option<Duration>| {
            time.map_or_else(|| "–".to_owned(), |time| format!("{:.1} s", time.as_secs_f64()))
        };
        let mut line =
            format!("| {} | {counts} | {} |", self.fault, self.recovery.map(time).join(" | "));
        if let Some(failure) = &self.failure {
            let _infallible = write!(line, " {failure}");
        }
        line
    }
}

/// The table, with what is to be said below it.
pub(crate) fn table(rows: &[Row], notes: &[String]) -> String {
    let lines: Vec<_> = rows.iter().map(Row::line).collect();
    format!("{HEAD}{}\n\n{}\n", lines.join("\n"), notes.join("\n"))
}
