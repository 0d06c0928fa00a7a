use std::time::Duration;

use scylla::value::{CqlValue, Row};
use trapline_model::Time;
use trapline_store::{Clock, Value, Writes};
use uuid::Uuid;

use super::CHORE;
use crate::cql::values::{Expiry, FoundRow};

#[test]
fn lives() {
    let clock = Clock::manual(Time::from_millis(1_000));
    let year = 365 * 24 * 60 * 60;
    let cases = [
        (Duration::ZERO, 1_000, 1),
        (Duration::from_millis(1), 1_001, 2),
        (Duration::from_secs(1), 2_000, 2),
        (Duration::from_millis(1_001), 2_001, 3),
        (Duration::from_secs(20 * year - 1), 1_000 + (20 * year - 1) * 1000, 630_720_000),
        (Duration::from_secs(20 * year), 1_000 + 20 * year * 1000, 0),
    ];
    for (ttl, expires, seconds) in cases {
        let expiry = Expiry::new(&clock, Some(ttl));
        assert_eq!(
            (expiry.expires, expiry.ttl),
            (i64::try_from(expires).unwrap(), seconds),
            "{ttl:?}"
        );
    }
    assert_eq!(Expiry::new(&clock, None), Expiry { expires: i64::MAX, ttl: 0 });
    assert_eq!(Expiry::new(&clock, Some(Duration::MAX)).ttl, 0);
}

#[test]
fn a_fast_clock_gives_servers_real_seconds() {
    assert_eq!(Expiry::new(&Clock::fast(10), Some(Duration::from_mins(1))).ttl, 7);
}

fn row(columns: impl IntoIterator<Item = CqlValue>) -> Row {
    Row { columns: columns.into_iter().map(Some).collect() }
}

#[test]
fn rows() {
    let text = |text: &str| CqlValue::Text(text.to_owned());
    let keys = || {
        let numbers = [2, 3_000, 9].map(CqlValue::BigInt);
        [CqlValue::BigInt(7), text("a")].into_iter().chain(numbers)
    };
    let sort = vec![Value::Int(7), Value::Text("a".to_owned())];
    let found = |doc: &str| {
        let (sort, doc) = (sort.clone(), doc.to_owned());
        FoundRow { sort, version: 2, expires: 3_000, written: 9, doc }
    };
    let read = |row| FoundRow::read(row, CHORE.sort, Writes::Plain).unwrap();
    assert_eq!(read(row(keys())), found(""));
    assert_eq!(read(row(keys().chain([text("{}")]))), found("{}"));
    let guarded = [2, 3_000].map(CqlValue::BigInt).into_iter().chain([text("{}")]);
    let guarded = FoundRow::read(row(guarded), &[], Writes::Guarded).unwrap();
    assert_eq!((guarded.written, guarded.doc.as_str()), (0, "{}"));
    assert!(!found("").is_past(2_999) && found("").is_past(3_000));
}

#[test]
fn foreign_rows() {
    let number = || CqlValue::BigInt(1);
    let read = |row| FoundRow::read(row, &[], Writes::Guarded);
    assert!(read(row([])).is_err());
    assert!(read(row([number()])).is_err());
    assert!(read(row([number(), CqlValue::Int(1)])).is_err());
    assert!(read(row([number(), number(), number()])).is_err());
    assert!(FoundRow::read(row([number(), number()]), &[], Writes::Plain).is_err());
    let wrong_key =
        [CqlValue::Uuid(Uuid::nil()), CqlValue::Text(String::new()), number(), number()];
    assert!(FoundRow::read(row(wrong_key), CHORE.sort, Writes::Guarded).is_err());
    let null = Row { columns: vec![Some(number()), None] };
    assert!(read(null).is_err());
}
