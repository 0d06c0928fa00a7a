//! Walks over whole tables, for backups.

use std::{collections::HashSet, time::Duration};

use uuid::Uuid;

use super::{
    Harness,
    fixtures::{
        GUARDED, HEADED, NEWEST, PAIRS, SINGLE, fresh, key, prepared, put, put_for, put_when, text,
        uuid, uuid_at, write,
    },
};
use crate::{Table, Value, WalkedRow, When};

/// Rows read at a time: so few that a walk has several parts, whatever others have in the table.
const LIMIT: usize = 3;

/// All rows of the owners, in the order in which a walk finds them.
async fn walked(h: &impl Harness, table: &'static Table, owners: &[Value]) -> Vec<WalkedRow> {
    let (mut found, mut place) = (Vec::new(), None);
    loop {
        let part = h.ports().store.walk(table, place, LIMIT).await.unwrap();
        found.extend(part.rows.into_iter().filter(|row| owners.contains(&row.partition[0])));
        let Some(next) = part.next else { return found };
        place = Some(next);
    }
}

/// Each row is found once, whatever partition it is in, and rows of a partition come together.
pub async fn a_walk_finds_each_row_once(h: &impl Harness) {
    prepared(h).await;
    let owners = [fresh(h), fresh(h)].map(uuid);
    let mut wanted = HashSet::new();
    for owner in &owners {
        for bucket in [-1, 0, 1] {
            let partition = [owner.clone(), Value::Int(bucket)];
            for number in 0..5 {
                let sort = [Value::Int(number / 2), text(&format!("word {number}"))];
                let key = key(&PAIRS, partition.clone(), sort);
                write(h, vec![put(&key, &number.to_string())]).await;
                wanted.insert((key.partition, key.sort, number.to_string()));
            }
        }
    }
    let rows = walked(h, &PAIRS, &owners).await;
    let mut partitions: Vec<_> = rows.iter().map(|row| row.partition.clone()).collect();
    partitions.dedup();
    assert_eq!((partitions.len(), rows.len()), (6, wanted.len()), "{}", h.name());
    for WalkedRow { partition, row, .. } in rows {
        assert!(wanted.remove(&(partition, row.sort, row.doc)));
    }
}

/// A row comes with its document, its version and when it ends.
pub async fn a_walk_tells_what_a_row_is(h: &impl Harness) {
    prepared(h).await;
    let owner = uuid(fresh(h));
    let guarded = key(&GUARDED, [owner.clone()], [text("word")]);
    write(h, vec![put_for(&guarded, "1", 600, When::Absent)]).await;
    write(h, vec![put_for(&guarded, "2", 600, When::Version(1))]).await;
    let [found] = walked(h, &GUARDED, std::slice::from_ref(&owner)).await.try_into().unwrap();
    assert_eq!((found.row.doc.as_str(), found.row.version), ("2", 2));
    let ends = found.expires.unwrap();
    let written = ends.before(Duration::from_mins(10));
    assert!(h.clock().now().since(written) < Duration::from_mins(1), "{written:?}");
    let headed = key(&HEADED, [owner.clone()], [uuid(fresh(h))]);
    write(h, vec![put(&headed, "{\"head\":\"a\",\"rest\":\"b\"}")]).await;
    let [found] = walked(h, &HEADED, &[owner]).await.try_into().unwrap();
    assert_eq!(found.row.doc, "{\"head\":\"a\",\"rest\":\"b\"}");
    assert_eq!((found.row.sort, found.row.version, found.expires), (headed.sort, 0, None));
    let name = text(&fresh(h).to_string());
    write(h, vec![put_when(&key(&SINGLE, [name.clone()], []), "one", When::Absent)]).await;
    let [found] = walked(h, &SINGLE, &[name]).await.try_into().unwrap();
    assert_eq!((found.row.doc.as_str(), found.row.version), ("one", 1));
}

/// A partition of many parts is walked whole.
pub async fn a_walk_goes_through_large_partitions(h: &impl Harness) {
    for table in [&NEWEST, &HEADED] {
        prepared(h).await;
        let (owner, start) = (uuid(fresh(h)), h.clock().now());
        let ids: Vec<Uuid> =
            (0..20).map(|n| uuid_at(start.after(Duration::from_millis(n)))).collect();
        let row = |id: &Uuid| put(&key(table, [owner.clone()], [uuid(*id)]), "{}");
        write(h, ids.iter().map(row).collect()).await;
        let rows = walked(h, table, &[owner]).await;
        let found: HashSet<_> = rows.iter().map(|row| row.row.sort.clone()).collect();
        assert_eq!((rows.len(), found.len()), (20, 20), "{}: {}", h.name(), table.name);
    }
}

/// Rows past their time are not found.
pub async fn a_walk_skips_the_expired(h: &impl Harness) {
    prepared(h).await;
    let owner = uuid(fresh(h));
    let rows = [(10, "short"), (600, "long")].map(|(seconds, word)| {
        put_for(&key(&GUARDED, [owner.clone()], [text(word)]), word, seconds, When::Absent)
    });
    write(h, rows.to_vec()).await;
    h.advance(Duration::from_secs(15)).await;
    let rows = walked(h, &GUARDED, &[owner]).await;
    assert_eq!(rows.iter().map(|row| row.row.doc.as_str()).collect::<Vec<_>>(), ["long"]);
}
