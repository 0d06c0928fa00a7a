//! Rows whose documents have heads, and searches in these.

use std::time::Duration;

use uuid::Uuid;

use super::{
    Harness,
    fixtures::{
        HEADED, all, delete, docs, fresh, get, key, prepared, put, put_for, seen, uuid, uuid_at,
        write,
    },
};
use crate::{Narrowed, Op, Scan, When};

/// Documents with these heads, the last of them newest; returns their ids.
async fn headed(h: &impl Harness, owner: Uuid, heads: &[&str]) -> Vec<Uuid> {
    prepared(h).await;
    let start = h.clock().now();
    let ids: Vec<_> =
        (1..).map(|n| uuid_at(start.after(Duration::from_millis(n)))).take(heads.len()).collect();
    let row = |(id, head): (&Uuid, &&str)| {
        put(
            &key(&HEADED, [uuid(owner)], [uuid(*id)]),
            &format!("{{\"h\":\"{head}\",\"rest\":\"blue\"}}"),
        )
    };
    write(h, ids.iter().zip(heads).map(row).collect()).await;
    ids
}

async fn narrow(h: &impl Harness, scan: Scan, text: &str, most: usize) -> Narrowed {
    let texts = vec![text.to_owned(), "marked".to_owned()];
    h.ports().store.narrow(scan, texts, most).await.unwrap()
}

fn ids_of(found: &Narrowed) -> Vec<Uuid> {
    let id = |row: &crate::Row| match row.sort.first() {
        Some(crate::Value::Uuid(id)) => *id,
        _ => Uuid::nil(),
    };
    found.rows.iter().map(id).collect()
}

/// They read back whole, are replaced and removed, and end with their time, as others are and do.
pub async fn headed_rows_are_rows(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let item = |n| {
        key(
            &HEADED,
            [uuid(owner)],
            [uuid(uuid_at(h.clock().now().after(Duration::from_millis(n))))],
        )
    };
    let (first, second, third) = (item(1), item(2), item(3));
    for doc in ["{}", r#"{"h":"a"}"#, r#"{"h":"a","b":[1,2]}"#, r#"{"h":"","c":3}"#] {
        write(h, vec![put(&first, doc)]).await;
        assert_eq!(seen(h, &first).await, Some((doc.to_owned(), 0)));
    }
    write(h, vec![put_for(&second, r#"{"h":2,"b":3}"#, 60, When::Always), put(&third, "[4,5]")])
        .await;
    let list = || docs(h, all(&HEADED, [uuid(owner)]));
    assert_eq!(list().await, ["[4,5]", r#"{"h":2,"b":3}"#, r#"{"h":"","c":3}"#]);
    let keys = Scan { keys_only: true, ..all(&HEADED, [uuid(owner)]) };
    assert_eq!(docs(h, keys).await, ["", "", ""]);
    write(h, vec![delete(&third, When::Always)]).await;
    h.advance(Duration::from_secs(61)).await;
    assert_eq!(list().await, [r#"{"h":"","c":3}"#]);
    write(h, vec![Op::DeleteUntil { until: second }]).await;
    assert_eq!((list().await.len(), get(h, &first).await), (0, None));
}

/// No row is left out whose head has one of the texts, and those that come are whole.
pub async fn narrow_finds_every_row_with_a_text(h: &impl Harness) {
    let owner = fresh(h);
    let heads = ["red", "green", "dark red", "marked", "", "redder", "Red"];
    let ids = headed(h, owner, &heads).await;
    let scan = || all(&HEADED, [uuid(owner)]);
    let found = narrow(h, scan(), "red", 100).await;
    assert_eq!(found.seen, heads.len());
    let whole = h.ports().store.scan(scan()).await.unwrap();
    assert!(found.rows.iter().all(|row| whole.contains(row)));
    let found = ids_of(&found);
    assert!([5, 3, 2, 0].iter().all(|at| found.contains(&ids[*at])), "{found:?}");
    assert!(found.is_sorted_by(|a, b| a > b));
    assert_eq!(narrow(h, scan(), "", 100).await.rows, whole);
}

/// It ends with the row that makes so many, from where another goes on.
pub async fn narrow_ends_with_the_last_it_was_asked_for(h: &impl Harness) {
    let owner = fresh(h);
    let ids = headed(h, owner, &["red"; 9]).await;
    let mut scan = all(&HEADED, [uuid(owner)]);
    let mut found = Vec::new();
    loop {
        let part = narrow(h, scan.clone(), "red", 4).await;
        assert_eq!((part.rows.len(), part.seen), (4.min(9 - found.len()), part.rows.len()));
        found.extend(ids_of(&part));
        if part.rows.len() < 4 {
            break;
        }
        scan.after = part.rows.last().map(|row| row.sort.clone());
    }
    assert!(found.iter().eq(ids.iter().rev()));
}

/// What the scan would not read is neither found nor counted.
pub async fn narrow_stays_within_its_scan(h: &impl Harness) {
    let owner = fresh(h);
    let ids = headed(h, owner, &["red", "green", "red", "green", "red"]).await;
    let scan = Scan { after: Some(vec![uuid(ids[4])]), limit: 2, ..all(&HEADED, [uuid(owner)]) };
    let found = narrow(h, scan, "red", 100).await;
    assert_eq!(found.seen, 2);
    let found = ids_of(&found);
    assert!(found.contains(&ids[2]) && !found.contains(&ids[0]) && !found.contains(&ids[4]));
}
