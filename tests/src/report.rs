//! The page of what long runs found.

use std::fs;

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reliability.md");

/// Puts a table into docs/reliability.md, between the markers of this name.
pub fn publish(name: &str, table: &str) {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let report = fs::read_to_string(REPORT).unwrap();
    let (before, rest) = report.split_once(&begin).expect("the report has a marker");
    let (_, after) = rest.split_once(&end).expect("the report has a second marker");
    fs::write(REPORT, format!("{before}{begin}\n{table}{end}{after}")).unwrap();
}
