//! The table of docs/idp.md that says who refuses what.

use std::{collections::HashMap, env, fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};

use super::{Outcome, STACKS, Verdict};

const MARKS: [&str; 2] = ["<!-- Who refuses what. -->\n", "<!-- The end of who refuses what. -->"];
/// A rotation that a client meets which has fetched the keys just now.
pub(super) const ROTATED_SOON: &str = "rotate_now, the keys fetched less than a minute ago";

/// A fault as it is asked for; a value is one that no client can take, beyond each one's leeway and patience.
pub(super) fn fault(listed: &Value) -> Value {
    let scenario = listed["scenario"].as_str().unwrap();
    match scenario {
        "clock_skew" => json!({ "scenario": scenario, "value": -86_400 }),
        "slow" => json!({ "scenario": scenario, "value": 12 }),
        _ => json!({ "scenario": scenario }),
    }
}

/// Whether it belongs to no sign-in.
pub(super) fn is_of_document(name: &str) -> bool {
    ["jwks_500", "stale_keys", "discovery_500", "discovery_wrong_issuer"].contains(&name)
}

/// One line for each fault, in the order of their names.
pub(super) fn rows(found: &[HashMap<String, Verdict>]) -> String {
    let mut names: Vec<_> = found[0].keys().collect();
    names.sort();
    let mut table =
        format!("| fault | {} |\n|---|{}\n", STACKS.join(" | "), "---|".repeat(STACKS.len()));
    for name in names {
        let cells = found.iter().map(|verdicts| match verdicts[name].0 {
            Outcome::Library => "refuses",
            Outcome::Application => "application",
            Outcome::Accepted => "accepts",
        });
        writeln!(table, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
        let refusing = found.iter().filter(|all| all[name].0 != Outcome::Accepted).count();
        match name.as_str() {
            "rotate_now" => assert_eq!(refusing, 0, "{found:#?}"),
            ROTATED_SOON => {}
            _ => assert!(refusing >= 2, "{name}: {found:#?}"),
        }
    }
    table
}

pub(super) fn page() -> String {
    fs::read_to_string(path()).unwrap()
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/idp.md")
}

/// `UPDATE_DOCS=1` writes the table.
pub(super) fn check(table: &str) {
    let page = page();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let wanted = format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path(), wanted).unwrap();
    } else {
        assert!(page == wanted, "run UPDATE_DOCS=1 cargo test -p trapline-tests; found:\n{table}");
    }
}
