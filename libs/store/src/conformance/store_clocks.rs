//! Rows: several processes whose clocks differ, and a clock that jumps. The port promises that a
//! write which follows a read of a row, by the process that read it, wins over what was read.

use std::sync::Arc;

use super::{
    Harness,
    fixtures::{NEWEST, TEXTS, all, delete, fresh, key, prepare, put, text, uuid, uuid_at},
};
use crate::{Key, Op, Scan, Store, When};

/// How far one clock is behind the other, in milliseconds.
const BEHIND: [i64; 2] = [200, 300_000];

/// The stores of two processes, the second's clock so much behind the first's.
async fn two(h: &impl Harness, behind: i64) -> [Arc<dyn Store>; 2] {
    let stores = [h.ports().store.clone(), h.store_of(h.clock().apart(-behind)).await];
    for store in &stores {
        prepare(&**store).await;
    }
    stores
}

async fn doc(store: &dyn Store, key: &Key) -> Option<String> {
    store.get(key).await.unwrap().map(|row| row.doc)
}

/// Whether by a read of the row or a scan: a delete that follows removes the row for everybody.
pub async fn a_delete_wins_over_what_was_read(h: &impl Harness) {
    for behind in BEHIND {
        let [ahead, late] = two(h, behind).await;
        for scanned in [false, true] {
            let owner = fresh(h);
            let key = key(&TEXTS, [uuid(owner)], [text("a")]);
            ahead.write(vec![put(&key, "{}")]).await.unwrap();
            if scanned {
                let keys = Scan { keys_only: true, ..all(&TEXTS, [uuid(owner)]) };
                assert_eq!(late.scan(keys).await.unwrap().len(), 1);
            } else {
                assert!(late.get(&key).await.unwrap().is_some());
            }
            late.write(vec![delete(&key, When::Always)]).await.unwrap();
            for store in [&ahead, &late] {
                assert_eq!(doc(&**store, &key).await, None, "{}: {behind}", h.name());
            }
        }
    }
}

/// The same for a change, and for the changes that the same process makes after it.
pub async fn a_change_wins_over_what_was_read(h: &impl Harness) {
    for behind in BEHIND {
        let [ahead, late] = two(h, behind).await;
        let key = key(&TEXTS, [uuid(fresh(h))], [text("a")]);
        ahead.write(vec![put(&key, "\"read\"")]).await.unwrap();
        assert!(late.get(&key).await.unwrap().is_some());
        late.write(vec![put(&key, "\"unread\"")]).await.unwrap();
        assert_eq!(doc(&*ahead, &key).await.as_deref(), Some("\"unread\""), "{behind}");
        let ops = vec![put(&key, "1"), delete(&key, When::Always), put(&key, "\"last\"")];
        late.write(ops).await.unwrap();
        assert_eq!(doc(&*ahead, &key).await.as_deref(), Some("\"last\""), "{behind}");
        late.write(vec![delete(&key, When::Always)]).await.unwrap();
        assert_eq!(doc(&*ahead, &key).await, None, "{}: {behind}", h.name());
    }
}

/// A range delete takes every row of the range, though the process has read none of them.
pub async fn a_range_delete_takes_all_that_is_there(h: &impl Harness) {
    for behind in BEHIND {
        let [ahead, late] = two(h, behind).await;
        let owner = fresh(h);
        let id =
            |number: u64| uuid_at(h.clock().now().after(std::time::Duration::from_secs(number)));
        let keys: Vec<_> =
            (0..4).map(|number| key(&NEWEST, [uuid(owner)], [uuid(id(number))])).collect();
        for key in &keys {
            ahead.write(vec![put(key, "{}")]).await.unwrap();
        }
        late.write(vec![Op::DeleteUntil { until: keys[2].clone() }]).await.unwrap();
        let left = ahead.scan(all(&NEWEST, [uuid(owner)])).await.unwrap();
        assert_eq!(left.len(), 1, "{}: {behind}", h.name());
        assert_eq!(left[0].sort, keys[3].sort);
    }
}

/// Of the writes of one process the last wins, whatever its clock does between them.
pub async fn a_clock_may_jump(h: &impl Harness) {
    let clock = h.clock().apart(0);
    let store = h.store_of(clock.clone()).await;
    prepare(&*store).await;
    let key = key(&TEXTS, [uuid(fresh(h))], [text("a")]);
    for jump in [300_000, -600_000, 300_000, -200, 200] {
        store.write(vec![put(&key, "{}")]).await.unwrap();
        clock.turn(jump);
        let now = jump.to_string();
        store.write(vec![put(&key, &now)]).await.unwrap();
        assert_eq!(doc(&*store, &key).await, Some(now), "{}: {jump}", h.name());
        store.write(vec![delete(&key, When::Always)]).await.unwrap();
        assert_eq!(doc(&*store, &key).await, None, "{}: {jump}", h.name());
    }
}
