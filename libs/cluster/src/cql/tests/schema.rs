use super::{CHORE, LOGIN, MESSAGE};
use crate::cql::{
    ddl,
    schema::{Seen, difference},
    server::Server,
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
    assert_eq!(
        ddl::table("trapline", &LOGIN),
        "CREATE TABLE IF NOT EXISTS \"trapline\".\"login\" (\"username\" text, \
         doc text, version bigint, expires bigint, PRIMARY KEY ((\"username\")))"
    );
}

fn seen(name: &str, kind: &str, position: i32, order: &str, cql_type: &str) -> Seen {
    let (name, kind) = (name.to_owned(), kind.to_owned());
    Seen { name, kind, position, order: order.to_owned(), cql_type: cql_type.to_owned() }
}

fn as_created() -> Vec<Seen> {
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
