#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::HashSet, env, fmt::Write, fs, path::Path};

use crate::{Column, Order, RowOwner, Storage, Table, Writes, records::TABLES};

#[test]
fn every_table_and_column_has_a_name_of_its_own() {
    let tables: HashSet<_> = TABLES.iter().map(|table| table.name).collect();
    assert_eq!(tables.len(), TABLES.len());
    for table in TABLES {
        let keys = table.partition.iter().chain(table.sort).map(|column| column.name);
        // Every backend has these three beside the keys.
        let mut names: Vec<_> = keys.chain(["doc", "version", "expires"]).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{}", table.name);
    }
}

/// Another team's rows are out of reach, and those of a removed inbox are found, because the owner is
/// what a partition begins with.
#[test]
fn a_partition_begins_with_the_owner() {
    for table in TABLES {
        let first = table.partition[0].name;
        let owner = match table.owner {
            RowOwner::Team => Some("team_id"),
            RowOwner::Inbox | RowOwner::Message => Some("inbox_id"),
            RowOwner::Webhook => Some("webhook_id"),
            RowOwner::None => None,
        };
        match owner {
            Some(owner) => assert_eq!(first, owner, "{}", table.name),
            // The owners themselves, whose ids are known to whoever looks for their rows.
            None => assert!(!["webhook_id"].contains(&first), "{}", table.name),
        }
    }
}

/// What an inbox owns is one row, or a partition that one range delete empties.
#[test]
fn what_an_inbox_owns_can_be_purged() {
    let mut owned = TABLES.iter().filter(|table| table.owner == RowOwner::Inbox).peekable();
    assert!(owned.peek().is_some());
    for table in owned {
        assert_eq!(table.partition.len(), 1, "{}", table.name);
        let is_range = table.writes == Writes::Plain && table.order == Order::NewestFirst;
        assert!(table.sort.is_empty() || is_range, "{}", table.name);
    }
}

const BEGIN: &str = "<!-- Written by a test of libs/store from the tables themselves: \
                     `UPDATE_DOCS=1 cargo test -p trapline-store`. -->\n";
const END: &str = "<!-- The end of the tables. -->\n";

/// The list of tables in docs/ARCHITECTURE.md is written from the tables themselves.
#[test]
fn the_architecture_lists_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ARCHITECTURE.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{}{END}{after}", list());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "run with UPDATE_DOCS=1");
}

fn list() -> String {
    let mut list =
        String::from("\n| table | partition | row in it | owner | what |\n|---|---|---|---|---|\n");
    for table in TABLES {
        assert!(table.about.ends_with('.'), "{}", table.name);
        let owner = match table.owner {
            RowOwner::None => "–".to_owned(),
            owner => format!("{owner:?}").to_lowercase(),
        };
        writeln!(
            list,
            "| `{}` | {} | {} | {owner} | {} |",
            table.name,
            columns(table.partition),
            sort(table),
            about(table)
        )
        .unwrap();
    }
    list.push('\n');
    list
}

fn columns(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.replace('_', " ")).collect::<Vec<_>>().join(", ")
}

fn sort(table: &Table) -> String {
    match (table.sort, table.order) {
        ([], _) => "one".to_owned(),
        (sort, Order::Ascending) => columns(sort),
        (sort, Order::NewestFirst) => format!("{}, newest first", columns(sort)),
    }
}

fn about(table: &Table) -> String {
    let days = |time: std::time::Duration| time.as_secs() / 86_400;
    let about = table.about.trim_end_matches('.');
    match table.storage {
        Storage::Log { ttl, .. } => format!("{about}; kept for {} days", days(ttl)),
        Storage::Rows | Storage::Headed { .. } | Storage::List | Storage::Queue { .. } => {
            about.to_owned()
        }
    }
}
