//! Rows: single reads and writes, atomicity, and time to live.

use std::time::Duration;

use super::{
    Harness,
    fixtures::{
        GUARDED, LOG, PAIRS, QUEUE, SINGLE, TEXTS, UNKNOWN, all, conflicts, delete, docs, fresh,
        get, key, misuses, prepared, put, put_for, put_when, seen, text, uuid, write,
    },
};
use crate::{Key, Op, Value, When};

fn word(h: &impl Harness, word: &str) -> Key {
    key(&TEXTS, [uuid(fresh(h))], [text(word)])
}

/// Preparing tables twice is no error and keeps their rows.
pub async fn prepare_is_repeatable(h: &impl Harness) {
    prepared(h).await;
    let key = word(h, "a");
    write(h, vec![put(&key, "{}")]).await;
    prepared(h).await;
    assert!(get(h, &key).await.is_some());
}

/// A row reads as it was written, with keys of each kind.
pub async fn reads_back(h: &impl Harness) {
    prepared(h).await;
    let partition = [uuid(fresh(h)), Value::Int(-3)];
    let key = key(&PAIRS, partition, [Value::Int(i64::MIN), text("straße/\u{1f4e8}'\";--")]);
    assert_eq!(get(h, &key).await, None);
    let doc = r#"{"subject":"Grüße \u0000 'quoted'","n":1}"#;
    write(h, vec![put(&key, doc)]).await;
    let row = get(h, &key).await.unwrap();
    assert_eq!((row.sort, row.doc.as_str(), row.version), (key.sort, doc, 0));
}

/// A plain write replaces the whole document.
pub async fn the_last_write_wins(h: &impl Harness) {
    prepared(h).await;
    let key = word(h, "a");
    for doc in [r#"{"a":1,"b":2}"#, r#"{"a":3}"#] {
        write(h, vec![put(&key, doc)]).await;
        assert_eq!(seen(h, &key).await, Some((doc.to_owned(), 0)));
    }
}

/// A deleted row is gone, its neighbour is not, and deleting again is no error.
pub async fn deletes(h: &impl Harness) {
    prepared(h).await;
    let (gone, kept) = (word(h, "gone"), word(h, "kept"));
    write(h, vec![put(&gone, "{}"), put(&kept, "{}")]).await;
    for _ in 0..2 {
        write(h, vec![delete(&gone, When::Always)]).await;
        assert_eq!(get(h, &gone).await, None);
    }
    assert!(get(h, &kept).await.is_some());
}

/// Plain tables refuse conditions, guarded ones refuse plain writes, and nothing is written.
pub async fn the_wrong_kind_of_write_is_refused(h: &impl Harness) {
    prepared(h).await;
    let plain = word(h, "a");
    let guarded = key(&GUARDED, [uuid(fresh(h))], [text("a")]);
    let wrong = [
        put_when(&plain, "{}", When::Absent),
        put_when(&plain, "{}", When::AbsentAt(1)),
        put_when(&plain, "{}", When::Version(0)),
        delete(&plain, When::Version(0)),
        delete(&plain, When::Absent),
        Op::DeleteUntil { until: plain.clone() },
        put(&guarded, "{}"),
        delete(&guarded, When::Always),
        delete(&guarded, When::Absent),
        delete(&guarded, When::AbsentAt(1)),
        Op::DeleteUntil { until: guarded.clone() },
    ];
    for op in wrong {
        misuses(h, vec![op]).await;
    }
    let create = put_when(&guarded, "{}", When::Absent);
    misuses(h, vec![create, put_when(&guarded, "{}", When::Version(1))]).await;
    assert_eq!((get(h, &plain).await, get(h, &guarded).await), (None, None));
}

/// A table that was never prepared, and keys that do not fit their table, are refused.
pub async fn unknown_and_malformed_keys_are_refused(h: &impl Harness) {
    prepared(h).await;
    let owner = || uuid(fresh(h));
    let wrong = [
        key(&UNKNOWN, [owner()], []),
        key(&TEXTS, [owner()], []),
        key(&TEXTS, [], [text("a")]),
        key(&TEXTS, [text("a")], [text("a")]),
        key(&TEXTS, [owner()], [Value::Int(1)]),
        key(&TEXTS, [owner()], [text("a"), text("b")]),
    ];
    for key in wrong {
        misuses(h, vec![put(&key, "{}")]).await;
        assert!(h.ports().store.get(&key).await.is_err(), "{}: {key:?}", h.name());
    }
}

/// A condition that does not hold undoes the other operations of its partition.
pub async fn a_partition_applies_whole_or_not(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let key = |word| key(&GUARDED, [uuid(owner)], [text(word)]);
    write(h, vec![put_when(&key("taken"), "{}", When::Absent)]).await;
    let ops = ["first", "taken", "last"].map(|word| put_when(&key(word), "{}", When::Absent));
    conflicts(h, ops.to_vec()).await;
    assert_eq!((get(h, &key("first")).await, get(h, &key("last")).await), (None, None));
    let both = ["first", "last"].map(|word| put_when(&key(word), "{}", When::Absent));
    write(h, both.to_vec()).await;
    assert!(get(h, &key("first")).await.is_some() && get(h, &key("last")).await.is_some());
}

/// Partitions before a conflict are written, those behind it are not.
pub async fn partitions_apply_in_order(h: &impl Harness) {
    prepared(h).await;
    let name = |part: &str| key(&SINGLE, [text(&format!("{part} {}", fresh(h)))], []);
    let (before, taken, behind) = (name("before"), name("taken"), name("behind"));
    write(h, vec![put_when(&taken, "1", When::Absent)]).await;
    let ops = [&before, &taken, &behind].map(|key| put_when(key, "2", When::Absent));
    conflicts(h, ops.to_vec()).await;
    assert_eq!(seen(h, &before).await, Some(("2".to_owned(), 1)));
    assert_eq!(seen(h, &taken).await, Some(("1".to_owned(), 1)));
    assert_eq!(seen(h, &behind).await, None);
}

/// A row is there for its time and not longer.
pub async fn a_row_outlives_its_time(h: &impl Harness) {
    prepared(h).await;
    let (short, ever) = (word(h, "short"), word(h, "ever"));
    write(h, vec![put_for(&short, "{}", 60, When::Always), put(&ever, "{}")]).await;
    h.advance(Duration::from_secs(50)).await;
    assert!(get(h, &short).await.is_some());
    h.advance(Duration::from_secs(15)).await;
    assert_eq!(get(h, &short).await, None);
    assert!(get(h, &ever).await.is_some());
}

/// A row of a log that is written without a time has its table's; one of a queue at least the time
/// that it asks for.
pub async fn logs_keep_nothing_for_ever(h: &impl Harness) {
    prepared(h).await;
    let row = |table| key(table, [uuid(fresh(h))], [uuid(fresh(h))]);
    let (logged, queued, longer) = (row(&LOG), row(&QUEUE), row(&QUEUE));
    write(h, vec![put(&logged, "{}"), put(&queued, "{}")]).await;
    write(h, vec![put_for(&longer, "{}", 120, When::Always)]).await;
    h.advance(Duration::from_secs(50)).await;
    assert!(get(h, &logged).await.is_some() && get(h, &queued).await.is_some(), "{}", h.name());
    h.advance(Duration::from_secs(15)).await;
    assert_eq!(get(h, &logged).await, None, "{}", h.name());
    assert!(get(h, &longer).await.is_some(), "{}", h.name());
}

/// A write without a time makes a row stay, and one with a time makes it go.
pub async fn every_write_sets_the_time_anew(h: &impl Harness) {
    prepared(h).await;
    let (stays, longer, goes) = (word(h, "a"), word(h, "b"), word(h, "c"));
    write(h, [&stays, &longer].map(|key| put_for(key, "1", 60, When::Always)).to_vec()).await;
    write(h, vec![put(&goes, "1")]).await;
    h.advance(Duration::from_secs(30)).await;
    write(h, vec![put(&stays, "2"), put_for(&longer, "2", 60, When::Always)]).await;
    write(h, vec![put_for(&goes, "2", 10, When::Always)]).await;
    h.advance(Duration::from_secs(45)).await;
    assert!(get(h, &stays).await.is_some() && get(h, &longer).await.is_some());
    assert_eq!(get(h, &goes).await, None);
    h.advance(Duration::from_secs(45)).await;
    assert!(get(h, &stays).await.is_some());
    assert_eq!(get(h, &longer).await, None);
}

/// Documents of 100 KB read back whole, alone and in a scan.
pub async fn big_documents(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let doc = |letter: &str| format!("\"{}\"", letter.repeat(100_000));
    let key = |word| key(&TEXTS, [uuid(owner)], [text(word)]);
    for letter in ["a", "b", "c"] {
        write(h, vec![put(&key(letter), &doc(letter))]).await;
    }
    assert_eq!(get(h, &key("b")).await.unwrap().doc, doc("b"));
    let found = docs(h, all(&TEXTS, [uuid(owner)])).await;
    assert!(found == ["a", "b", "c"].map(doc), "{}", h.name());
}

/// A backend with a clock of its own tells its time, which is about that of this machine.
pub async fn tells_its_time(h: &impl Harness) {
    let asked = h.clock().machine_micros() / 1000;
    if let Some(time) = h.ports().store.time().await.unwrap() {
        let apart = (time.millis() - asked).abs();
        assert!(apart < 60_000, "{}: {apart} ms", h.name());
    }
}

/// The backend answers.
pub async fn answers_ping(h: &impl Harness) {
    h.ports().store.ping().await.unwrap();
}
