#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::HashSet, env, fmt::Write, fs, path::Path};

use trapline_model::{InboxId, MessageId, TeamId, Time, WebhookId};

use super::{parts_of_team, removal_of_deliveries, removal_of_message};
use crate::{Column, Order, RowOwner, Storage, Table, Value, Writes, records::TABLES};

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
            RowOwner::Idp => Some("idp_id"),
            RowOwner::Mock => Some("mock_id"),
            RowOwner::None => None,
        };
        match owner {
            Some(owner) => assert_eq!(first, owner, "{}", table.name),
            // The owners themselves, whose ids are known to whoever looks for their rows.
            None => {
                assert!(!["webhook_id", "idp_id", "mock_id"].contains(&first), "{}", table.name);
            }
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

/// A table of a team's whose rows would stay when the team is deleted.
#[test]
fn what_a_team_owns_goes_with_it() {
    let (team, now) = (TeamId(uuid::Uuid::max()), Time::from_millis(1_800_000_000_000));
    let parts = parts_of_team(team, now, 7);
    for table in TABLES.iter().filter(|table| table.owner == RowOwner::Team) {
        let mut of_table = parts.iter().filter(|part| part.table.name == table.name).peekable();
        let is_log = table.name.starts_with("audit");
        assert_eq!(of_table.peek().is_none(), is_log, "{}", table.name);
        for part in of_table {
            assert_eq!(part.partition.len(), table.partition.len(), "{}", table.name);
            assert_eq!((&part.partition[0], part.limit), (&Value::Uuid(team.0), 7));
        }
    }
    // Until 400 days back, and the month that is just to come.
    let months = |millis: i64| {
        let parts = parts_of_team(team, Time::from_millis(millis), 7);
        let months = parts.into_iter().filter(|part| part.table.name == "usage");
        months.map(|part| part.partition[1].clone()).collect::<Vec<_>>()
    };
    let end_of_2026 = 1_798_761_599_000;
    let months = months(end_of_2026);
    assert_eq!((months[0].clone(), months.len()), (Value::Int(202_511), 15));
    assert_eq!(months[2..4], [Value::Int(202_601), Value::Int(202_602)]);
    assert_eq!(months[14], Value::Int(202_701));
    // What a message or a webhook owns goes by these.
    let (inbox, uuid) = (InboxId(uuid::Uuid::max()), uuid::Uuid::max());
    let of_message = removal_of_message(MessageId { inbox, uuid });
    let of_webhook = removal_of_deliveries(WebhookId(uuid::Uuid::max()), 1);
    let removed = of_message.iter().chain(&of_webhook).map(|op| op.key().table.name);
    let removed: HashSet<_> = removed.collect();
    let owners = [RowOwner::Message, RowOwner::Webhook];
    for table in TABLES.iter().filter(|table| owners.contains(&table.owner)) {
        // What waits for a webhook goes as it becomes due.
        assert_eq!(removed.contains(table.name), table.name != "webhook_backlog", "{}", table.name);
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
