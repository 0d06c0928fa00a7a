use std::time::Duration;

use trapline_store::{Storage, Table};

use super::{CHORE, LOGIN, MESSAGE};
use crate::cql::{
    ddl,
    schema::{FoundColumn, difference},
    server::Server,
    table_options::{self, TableOptions},
};

#[test]
fn versions_of_scylla() {
    let cases = [
        ("2025.3.1-0.20250907.2bbf3cf669bb", Server::Scylla(2025, 3), true),
        ("2025.1.0", Server::Scylla(2025, 1), true),
        ("2024.2.4-0.20250101.abc", Server::Scylla(2024, 2), true),
        ("6.2.0", Server::Scylla(6, 2), true),
        ("6.0.0-rc1", Server::Scylla(6, 0), true),
        ("2025.4.0", Server::Scylla(2025, 4), false),
        ("2026.1.0-dev", Server::Scylla(2026, 1), false),
        ("2024.1.9", Server::Scylla(2024, 1), false),
        ("5.4.3", Server::Scylla(5, 4), false),
        ("", Server::Scylla(0, 0), false),
        ("new", Server::Scylla(0, 0), false),
    ];
    for (text, server, tablets_off) in cases {
        assert_eq!(Server::scylla(text), server, "{text}");
        assert_eq!(server.needs_tablets_off(), tablets_off, "{text}");
    }
    assert!(!Server::Cassandra.needs_tablets_off());
}

#[test]
fn keyspaces() {
    let plain = "CREATE KEYSPACE IF NOT EXISTS \"trapline\" WITH replication = \
                 {'class': 'NetworkTopologyStrategy', 'eu''west': 3}";
    let without_tablets = format!("{plain} AND tablets = {{'enabled': false}}");
    let made = |server| ddl::keyspace("trapline", "eu'west", 3, server);
    assert_eq!(made(Server::Cassandra), plain);
    assert_eq!(made(Server::Scylla(2025, 3)), without_tablets);
    assert_eq!(made(Server::Scylla(2025, 4)), plain);
}

#[test]
fn tables() {
    assert_eq!(
        ddl::table("trapline", &MESSAGE),
        "CREATE TABLE IF NOT EXISTS \"trapline\".\"message\" (\"inbox_id\" uuid, \"at\" bigint, \
         \"message_id\" uuid, doc text, version bigint, expires bigint, \
         PRIMARY KEY ((\"inbox_id\"), \"at\", \"message_id\")) \
         WITH CLUSTERING ORDER BY (\"at\" DESC, \"message_id\" DESC) \
         AND compaction = {'class': 'LeveledCompactionStrategy'}"
    );
    assert_eq!(
        ddl::table("trapline", &CHORE),
        "CREATE TABLE IF NOT EXISTS \"trapline\".\"chore\" (\"hour\" bigint, \"shard\" bigint, \
         \"due\" bigint, \"subject\" text, doc text, version bigint, expires bigint, \
         PRIMARY KEY ((\"hour\", \"shard\"), \"due\", \"subject\"))"
    );
    let queue = Table {
        storage: Storage::Queue { bucket: MINUTE, ttl: Duration::from_hours(72) },
        ..CHORE
    };
    let options = "compaction = {'class': 'TimeWindowCompactionStrategy', \
                   'compaction_window_size': '180', 'compaction_window_unit': 'MINUTES'} \
                   AND default_time_to_live = 259200 AND gc_grace_seconds = 10800";
    assert_eq!(
        ddl::table("trapline", &queue),
        format!("{} WITH {options}", ddl::table("trapline", &CHORE))
    );
    assert_eq!(
        ddl::table("trapline", &LOGIN),
        "CREATE TABLE IF NOT EXISTS \"trapline\".\"login\" (\"username\" text, \
         doc text, version bigint, expires bigint, PRIMARY KEY ((\"username\")))"
    );
}

const MINUTE: Duration = Duration::from_mins(1);

/// What a table has, as either server shows it.
fn has(class: &str, more: &[(&str, &str)], ttl: i32, gc_grace: i32) -> table_options::FoundOptions {
    let each = [("class", class)].into_iter().chain(more.iter().copied());
    let compaction = each.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    table_options::FoundOptions { compaction, ttl, gc_grace }
}

#[test]
fn options_are_changed_only_where_they_differ() {
    let log = Table {
        storage: Storage::Log { window: Duration::from_hours(24), ttl: Duration::from_hours(720) },
        ..MESSAGE
    };
    let package = "org.apache.cassandra.db.compaction";
    let by_time = format!("{package}.TimeWindowCompactionStrategy");
    let window = [
        ("compaction_window_unit", "MINUTES"),
        ("compaction_window_size", "1440"),
        ("max_threshold", "32"),
    ];
    let wanted = TableOptions::of(&log);
    let right = [
        has(&by_time, &window, 2_592_000, 10_800),
        has("TimeWindowCompactionStrategy", &window, 2_592_000, 10_800),
    ];
    for seen in right {
        assert_eq!(wanted.to_change(&seen), None, "{seen:?}");
    }
    let wrong = [
        has(&by_time, &window, 0, 10_800),
        has(&by_time, &window, 2_592_000, 864_000),
        has(&by_time, &window[..1], 2_592_000, 10_800),
        has("LeveledCompactionStrategy", &[], 0, 864_000),
    ];
    for seen in wrong {
        assert_eq!(wanted.to_change(&seen), Some(wanted.clauses()), "{seen:?}");
    }
    // What a release had as a log and this one has as rows.
    let back = TableOptions::of(&MESSAGE).to_change(&has(&by_time, &window, 60, 10_800)).unwrap();
    assert_eq!(
        ddl::change("k", &MESSAGE, back),
        "ALTER TABLE \"k\".\"message\" WITH compaction = {'class': 'LeveledCompactionStrategy'} \
         AND default_time_to_live = 0"
    );
    // Where the choice is the server's, its choice is none of ours.
    assert_eq!(TableOptions::of(&LOGIN).to_change(&has("Any", &[], 0, 1)), None);
}

/// ScyllaDB refuses more than 50 windows in a time to live.
#[test]
fn every_table_has_few_windows() {
    for table in trapline_store::records::TABLES {
        let size = TableOptions::of(table).clauses().concat();
        let Some((_, size)) = size.split_once("window_size': '") else { continue };
        let minutes: u64 = size.split('\'').next().unwrap().parse().unwrap();
        let ttl = table.storage.ttl().unwrap();
        assert!(ttl.as_secs().div_ceil(minutes * 60) <= 50, "{}", table.name);
        assert!(ttl < Duration::from_hours(24 * 365 * 20), "{}", table.name);
    }
}

fn seen(name: &str, kind: &str, position: i32, order: &str, cql_type: &str) -> FoundColumn {
    let (name, kind) = (name.to_owned(), kind.to_owned());
    FoundColumn { name, kind, position, order: order.to_owned(), cql_type: cql_type.to_owned() }
}

fn as_created() -> Vec<FoundColumn> {
    vec![
        seen("inbox_id", "partition_key", 0, "none", "uuid"),
        seen("at", "clustering", 0, "desc", "bigint"),
        seen("message_id", "clustering", 1, "desc", "uuid"),
        seen("doc", "regular", -1, "none", "text"),
        seen("version", "regular", -1, "none", "bigint"),
        seen("expires", "regular", -1, "none", "bigint"),
    ]
}

#[test]
fn a_table_as_created_is_right() {
    let mut columns = as_created();
    assert_eq!(difference(&MESSAGE, &columns), None);
    columns.reverse();
    columns.push(seen("later", "regular", -1, "none", "blob"));
    assert_eq!(difference(&MESSAGE, &columns), None);
}

#[test]
fn tables_that_do_not_fit() {
    let without = |at: usize| {
        let mut columns = as_created();
        columns.remove(at);
        columns
    };
    let with = |column| [as_created(), vec![column]].concat();
    let replaced = |at: usize, column| {
        let mut columns = as_created();
        columns[at] = column;
        columns
    };
    let cases = [
        (vec![], "does not exist"),
        (without(2), "has no clustering column message_id uuid"),
        (without(5), "has no regular column expires bigint"),
        (
            replaced(1, seen("at", "clustering", 0, "asc", "bigint")),
            "has no clustering column at bigint",
        ),
        (
            replaced(4, seen("version", "regular", -1, "none", "int")),
            "has no regular column version bigint",
        ),
        (with(seen("day", "partition_key", 1, "none", "int")), "has a partition_key column day"),
    ];
    for (columns, problem) in cases {
        assert_eq!(difference(&MESSAGE, &columns).as_deref(), Some(problem));
    }
}
