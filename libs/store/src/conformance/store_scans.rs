//! Rows: order, ranges, and range deletes.

use std::time::Duration;

use uuid::Uuid;

use super::{
    Harness,
    fixtures::{
        NEWEST, NEWEST_PAIRS, PAIRS, TEXTS, all, docs, fresh, key, misuses, prepared, put, put_for,
        text, uuid, uuid_at, write,
    },
};
use crate::{Op, PortError, Scan, Value, When};

const STEP: Duration = Duration::from_millis(1);

/// Writes `count` rows, one millisecond apart and in mixed order; returns their ids, oldest first.
/// Each row's document is its number.
async fn messages(h: &impl Harness, owner: Uuid, count: u32) -> Vec<Uuid> {
    prepared(h).await;
    let start = h.clock().now();
    let ids: Vec<_> = (0..count).map(|number| uuid_at(start.after(STEP * number))).collect();
    let row =
        |number: usize| put(&key(&NEWEST, [uuid(owner)], [uuid(ids[number])]), &number.to_string());
    let (even, odd): (Vec<_>, Vec<_>) = (0..ids.len()).partition(|number| number % 2 == 0);
    write(h, odd.into_iter().chain(even.into_iter().rev()).map(row).collect()).await;
    ids
}

/// UUIDv7 keys come newest first.
pub async fn newest_first(h: &impl Harness) {
    let owner = fresh(h);
    messages(h, owner, 5).await;
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await, ["4", "3", "2", "1", "0"]);
}

/// Text comes in the order of its UTF-8 bytes.
pub async fn text_by_its_bytes(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let sorted = ["", "10", "9", "A", "B", "Z", "a", "aa", "ab", "b", "z", "ä", "中", "\u{1f4e8}"];
    for word in sorted.iter().rev() {
        write(h, vec![put(&key(&TEXTS, [uuid(owner)], [text(word)]), word)]).await;
    }
    assert_eq!(docs(h, all(&TEXTS, [uuid(owner)])).await, sorted);
}

/// Every partition of a table is named once, whatever else is there.
pub async fn partitions_are_listed_once(h: &impl Harness) {
    prepared(h).await;
    let owners = [fresh(h), fresh(h)];
    for (owner, number) in owners.into_iter().zip([1, 2]) {
        let partition = [uuid(owner), Value::Int(number)];
        let row = |word| put(&key(&PAIRS, partition.clone(), [Value::Int(1), text(word)]), "{}");
        write(h, vec![row("a"), row("b")]).await;
    }
    let mut found = h.ports().store.partitions(&PAIRS).await.unwrap();
    found.retain(|partition| owners.into_iter().any(|owner| partition.contains(&uuid(owner))));
    found.sort();
    let mut expected =
        vec![vec![uuid(owners[0]), Value::Int(1)], vec![uuid(owners[1]), Value::Int(2)]];
    expected.sort();
    assert_eq!(found, expected);
}

/// Numbers come in the order of their values, the first column first.
pub async fn numbers_by_value(h: &impl Harness) {
    prepared(h).await;
    let partition = [uuid(fresh(h)), Value::Int(1)];
    let sorted = [(i64::MIN, "a"), (-10, "a"), (-9, "b"), (0, "a"), (9, "a"), (10, "a"), (10, "b")];
    for (number, word) in sorted.iter().rev() {
        let key = key(&PAIRS, partition.clone(), [Value::Int(*number), text(word)]);
        write(h, vec![put(&key, &format!("{number}{word}"))]).await;
    }
    let expected = sorted.map(|(number, word)| format!("{number}{word}"));
    assert_eq!(docs(h, all(&PAIRS, partition)).await, expected);
}

/// `after` leaves its row out, `until` has it, and neither row need exist.
pub async fn between_after_and_until(h: &impl Harness) {
    let owner = fresh(h);
    let ids = messages(h, owner, 6).await;
    let between = |after: Option<Uuid>, until: Option<Uuid>| {
        let bound = |id: Option<Uuid>| id.map(|id| vec![uuid(id)]);
        Scan { after: bound(after), until: bound(until), ..all(&NEWEST, [uuid(owner)]) }
    };
    assert_eq!(docs(h, between(Some(ids[4]), None)).await, ["3", "2", "1", "0"]);
    assert_eq!(docs(h, between(None, Some(ids[4]))).await, ["5", "4"]);
    assert_eq!(docs(h, between(Some(ids[4]), Some(ids[2]))).await, ["3", "2"]);
    assert!(docs(h, between(Some(ids[2]), Some(ids[4]))).await.is_empty());
    assert!(docs(h, between(Some(Uuid::nil()), None)).await.is_empty());
    assert_eq!(docs(h, between(Some(Uuid::max()), Some(Uuid::nil()))).await.len(), 6);
}

/// Bounds that stores would order differently are refused: CQL compares the version of UUIDs before
/// their time, so one of another version would name the whole partition or none of it.
pub async fn bounds_of_other_versions_are_refused(h: &impl Harness) {
    let owner = fresh(h);
    let ids = messages(h, owner, 3).await;
    let other = |id: Uuid| id.as_u128() & !(0xf << 76);
    let random = other(ids[1]) | (4 << 76);
    let variant = ids[1].as_u128() & !(0b11 << 62);
    for wrong in [other(ids[1]), random, variant, 1].map(Uuid::from_u128) {
        let bound = Some(vec![uuid(wrong)]);
        let after = Scan { after: bound.clone(), ..all(&NEWEST, [uuid(owner)]) };
        let until = Scan { until: bound, ..all(&NEWEST, [uuid(owner)]) };
        for scan in [after, until] {
            let answer = h.ports().store.scan(scan).await;
            assert!(matches!(answer, Err(PortError::Misuse(_))), "{}: {answer:?}", h.name());
        }
        let until = key(&NEWEST, [uuid(owner)], [uuid(wrong)]);
        misuses(h, vec![Op::DeleteUntil { until }]).await;
    }
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await.len(), 3);
}

/// A prefix as `after` excludes what starts with it, as `until` includes it.
pub async fn by_prefix(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let up = [uuid(owner), Value::Int(0)];
    for number in 1..=3 {
        for word in ["a", "b"] {
            let doc = format!("{number}{word}");
            let ascending = key(&PAIRS, up.clone(), [Value::Int(number), text(word)]);
            let down = key(&NEWEST_PAIRS, [uuid(owner)], [Value::Int(number), uuid(fresh(h))]);
            write(h, vec![put(&ascending, &doc), put(&down, &number.to_string())]).await;
        }
    }
    let bound = |number| Some(vec![Value::Int(number)]);
    let scan = |after, until| Scan { after, until, ..all(&PAIRS, up.clone()) };
    assert_eq!(docs(h, scan(bound(1), None)).await, ["2a", "2b", "3a", "3b"]);
    assert_eq!(docs(h, scan(None, bound(2))).await, ["1a", "1b", "2a", "2b"]);
    let whole = Some(vec![Value::Int(1), text("a")]);
    assert_eq!(docs(h, scan(whole, bound(2))).await, ["1b", "2a", "2b"]);
    let scan = |after, until| Scan { after, until, ..all(&NEWEST_PAIRS, [uuid(owner)]) };
    assert_eq!(docs(h, scan(bound(3), None)).await, ["2", "2", "1", "1"]);
    assert_eq!(docs(h, scan(None, bound(2))).await, ["3", "3", "2", "2"]);
}

/// A scan stops at its limit, and the next one continues behind it.
pub async fn at_most_limit(h: &impl Harness) {
    let owner = fresh(h);
    let ids = messages(h, owner, 7).await;
    let page = |after, limit| Scan { after, limit, ..all(&NEWEST, [uuid(owner)]) };
    assert_eq!(docs(h, page(None, 3)).await, ["6", "5", "4"]);
    assert_eq!(docs(h, page(Some(vec![uuid(ids[4])]), 3)).await, ["3", "2", "1"]);
    assert!(docs(h, page(None, 0)).await.is_empty());
    assert_eq!(docs(h, page(None, 10_000)).await.len(), 7);
}

/// A scan for keys leaves the documents out.
pub async fn keys_only(h: &impl Harness) {
    let owner = fresh(h);
    let ids = messages(h, owner, 3).await;
    let scan = Scan { keys_only: true, ..all(&NEWEST, [uuid(owner)]) };
    let rows = h.ports().store.scan(scan).await.unwrap();
    assert!(rows.iter().all(|row| row.doc.is_empty()));
    let newest_first: Vec<_> = ids.into_iter().rev().map(|id| vec![uuid(id)]).collect();
    assert_eq!(rows.into_iter().map(|row| row.sort).collect::<Vec<_>>(), newest_first);
}

/// A scan sees its own partition only, and an empty one has no rows.
pub async fn partitions_are_apart(h: &impl Harness) {
    let (one, two) = (fresh(h), fresh(h));
    messages(h, one, 2).await;
    messages(h, two, 3).await;
    assert_eq!(docs(h, all(&NEWEST, [uuid(one)])).await.len(), 2);
    assert_eq!(docs(h, all(&NEWEST, [uuid(two)])).await.len(), 3);
    assert!(docs(h, all(&NEWEST, [uuid(fresh(h))])).await.is_empty());
}

/// A range delete takes its row and all that are older, in its own partition.
pub async fn delete_until_takes_the_row_and_the_older(h: &impl Harness) {
    let (owner, other) = (fresh(h), fresh(h));
    let ids = messages(h, owner, 6).await;
    messages(h, other, 2).await;
    let until = |id| vec![Op::DeleteUntil { until: key(&NEWEST, [uuid(owner)], [uuid(id)]) }];
    write(h, until(ids[3])).await;
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await, ["5", "4"]);
    write(h, until(Uuid::max())).await;
    assert!(docs(h, all(&NEWEST, [uuid(owner)])).await.is_empty());
    assert_eq!(docs(h, all(&NEWEST, [uuid(other)])).await.len(), 2);
}

/// A range delete also takes what is put before it in the same write, and may find nothing to take.
pub async fn delete_until_takes_what_comes_before_it(h: &impl Harness) {
    let (owner, other) = (fresh(h), fresh(h));
    let ids = messages(h, other, 3).await;
    let row = |id| key(&NEWEST, [uuid(owner)], [uuid(id)]);
    let until = |id| Op::DeleteUntil { until: row(id) };
    write(h, vec![until(Uuid::max())]).await;
    write(h, vec![put(&row(ids[0]), "1"), until(ids[1]), put(&row(ids[2]), "3")]).await;
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await, ["3"]);
}

/// Rows past their time are not in a scan and do not count for its limit.
pub async fn scans_skip_the_expired(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    for (word, seconds) in [("a", 10), ("b", 1000), ("c", 10), ("d", 1000)] {
        let key = key(&TEXTS, [uuid(owner)], [text(word)]);
        write(h, vec![put_for(&key, word, seconds, When::Always)]).await;
    }
    h.advance(Duration::from_secs(20)).await;
    let scan = Scan { limit: 2, ..all(&TEXTS, [uuid(owner)]) };
    assert_eq!(docs(h, scan).await, ["b", "d"]);
}
