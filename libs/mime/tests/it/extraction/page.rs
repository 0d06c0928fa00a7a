//! The tables of `docs/extraction.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use regex::Regex;
use trapline_mime::codes;

use super::{Labelled, score::Score};

/// Of what a table stands between; `UPDATE_DOCS=1` writes what is there instead.
pub(super) fn holds(name: &str, table: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/extraction.md");
    let page = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- Begin: {name}. -->\n"), format!("<!-- End: {name}. -->"));
    let (before, rest) = page.split_once(&begin).unwrap();
    let (held, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{begin}{table}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(held, table, "docs/extraction.md is of another state: make corpus writes it");
}

/// All mails, beside the pattern that test suites use.
pub(super) fn whole(mails: &[Labelled]) -> String {
    let pattern = Regex::new(r"\b\d{4,8}\b").unwrap();
    let (mut ours, mut theirs) = (Score::default(), Score::default());
    for mail in mails {
        ours.add(&mail.codes, &codes(&mail.raw()));
        theirs.add(&mail.codes, &mail.by_pattern(&pattern));
    }
    let rows = [("Trapline", ours), (r"`\b\d{4,8}\b`", theirs)];
    table("", rows.into_iter())
}

/// A row for each value that `key` has.
pub(super) fn groups<'m>(
    mails: &'m [Labelled],
    name: &str,
    key: impl Fn(&'m Labelled) -> &'m String,
) -> String {
    let mut groups = BTreeMap::<&str, Score>::new();
    for mail in mails {
        groups.entry(key(mail)).or_default().add(&mail.codes, &codes(&mail.raw()));
    }
    table(name, groups.into_iter())
}

fn table<'n>(name: &str, rows: impl Iterator<Item = (&'n str, Score)>) -> String {
    let mut table = format!("| {name} | {} |\n|---|--:|--:|--:|--:|--:|--:|\n", Score::HEAD);
    for (name, score) in rows {
        writeln!(table, "| {name} | {} |", score.row()).unwrap();
    }
    table
}

/// Mails that are not as their labels say.
pub(super) fn list(wrong: &[String]) -> String {
    if wrong.is_empty() { "None.\n".to_owned() } else { format!("- {}\n", wrong.join("\n- ")) }
}
