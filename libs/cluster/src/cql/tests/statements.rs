use super::{CHORE, LOGIN, MESSAGE};
use crate::cql::dml::{self, Condition, Shape};

#[test]
fn reads() {
    assert_eq!(
        dml::get("k", &CHORE),
        "SELECT version, expires, WRITETIME(version), doc FROM \"k\".\"chore\" \
         WHERE \"hour\" = ? AND \"shard\" = ? AND \"due\" = ? AND \"subject\" = ?"
    );
    assert_eq!(
        dml::get("k", &LOGIN),
        "SELECT version, expires, doc FROM \"k\".\"login\" WHERE \"username\" = ?"
    );
    let whole = Shape { after: 0, until: 0, keys_only: true };
    assert_eq!(
        dml::scan("k", &CHORE, whole),
        "SELECT \"due\", \"subject\", version, expires, WRITETIME(version) FROM \"k\".\"chore\" \
         WHERE \"hour\" = ? AND \"shard\" = ?"
    );
    let between = Shape { after: 2, until: 1, keys_only: false };
    assert_eq!(
        dml::scan("k", &CHORE, between),
        "SELECT \"due\", \"subject\", version, expires, WRITETIME(version), doc FROM \"k\".\"chore\" \
         WHERE \"hour\" = ? AND \"shard\" = ? AND (\"due\", \"subject\") > (?, ?) AND (\"due\") <= (?)"
    );
    assert_eq!(
        dml::scan("k", &MESSAGE, between),
        "SELECT \"at\", \"message_id\", version, expires, WRITETIME(version), doc FROM \"k\".\"message\" \
         WHERE \"inbox_id\" = ? AND (\"at\", \"message_id\") < (?, ?) AND (\"at\") >= (?)"
    );
}

#[test]
fn plain_writes() {
    assert_eq!(
        dml::put("k", &CHORE),
        "INSERT INTO \"k\".\"chore\" (\"hour\", \"shard\", \"due\", \"subject\", doc, version, expires) \
         VALUES (?, ?, ?, ?, ?, 0, ?) USING TTL ? AND TIMESTAMP ?"
    );
    assert_eq!(
        dml::delete("k", &MESSAGE),
        "DELETE FROM \"k\".\"message\" USING TIMESTAMP ? \
         WHERE \"inbox_id\" = ? AND \"at\" = ? AND \"message_id\" = ?"
    );
    assert_eq!(
        dml::delete_until("k", &MESSAGE),
        "DELETE FROM \"k\".\"message\" USING TIMESTAMP ? \
         WHERE \"inbox_id\" = ? AND (\"at\", \"message_id\") <= (?, ?)"
    );
    assert_eq!(
        dml::written_until("k", &MESSAGE),
        "SELECT WRITETIME(version) FROM \"k\".\"message\" \
         WHERE \"inbox_id\" = ? AND (\"at\", \"message_id\") <= (?, ?)"
    );
}

#[test]
fn conditional_writes() {
    let update = "UPDATE \"k\".\"login\" USING TTL ? SET doc = ?, version = ?, expires = ? \
                  WHERE \"username\" = ? IF ";
    let conditions = [
        (Condition::Absent, "version = null"),
        (Condition::Expired, "expires <= ?"),
        (Condition::Version, "version = ? AND expires > ?"),
    ];
    for (condition, text) in conditions {
        assert_eq!(dml::update("k", &LOGIN, condition), format!("{update}{text}"));
    }
    assert_eq!(
        dml::remove("k", &LOGIN),
        "DELETE FROM \"k\".\"login\" WHERE \"username\" = ? IF version = ? AND expires > ?"
    );
}
