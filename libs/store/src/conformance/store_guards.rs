//! Rows: conditional writes.

use std::time::Duration;

use futures_util::future::join_all;

use super::{
    Harness,
    fixtures::{
        GUARDED, SINGLE, conflicts, delete, fresh, get, key, prepared, put_for, put_when, seen,
        text, uuid, write,
    },
};
use crate::{Key, PortError, When};

async fn created(h: &impl Harness) -> Key {
    prepared(h).await;
    let key = key(&GUARDED, [uuid(fresh(h))], [text("a")]);
    write(h, vec![put_when(&key, "1", When::Absent)]).await;
    key
}

/// A row that is there makes a creation fail and stays as it is.
pub async fn absent_loses_to_a_row(h: &impl Harness) {
    let key = created(h).await;
    conflicts(h, vec![put_when(&key, "2", When::Absent)]).await;
    assert_eq!(seen(h, &key).await, Some(("1".to_owned(), 1)));
}

/// The first version is 1, and each write adds one.
pub async fn versions_count_up(h: &impl Harness) {
    let key = created(h).await;
    for version in 1..5 {
        assert_eq!(seen(h, &key).await.unwrap().1, version);
        write(h, vec![put_when(&key, "2", When::Version(version))]).await;
    }
    assert_eq!(seen(h, &key).await, Some(("2".to_owned(), 5)));
}

/// Any other version, and the version of a row that is not there, conflict.
pub async fn a_wrong_version_conflicts(h: &impl Harness) {
    let there = created(h).await;
    for version in [0, 2, -1] {
        conflicts(h, vec![put_when(&there, "2", When::Version(version))]).await;
        conflicts(h, vec![delete(&there, When::Version(version))]).await;
    }
    assert_eq!(seen(h, &there).await, Some(("1".to_owned(), 1)));
    let missing = key(&GUARDED, [uuid(fresh(h))], [text("a")]);
    conflicts(h, vec![put_when(&missing, "2", When::Version(1))]).await;
    conflicts(h, vec![delete(&missing, When::Version(1))]).await;
    assert_eq!(get(h, &missing).await, None);
}

/// A delete with the right version removes the row, which can then be created anew.
pub async fn guarded_delete(h: &impl Harness) {
    let key = created(h).await;
    write(h, vec![delete(&key, When::Version(1))]).await;
    assert_eq!(get(h, &key).await, None);
    write(h, vec![put_when(&key, "2", When::Absent)]).await;
    assert_eq!(seen(h, &key).await, Some(("2".to_owned(), 1)));
}

/// A row past its time does not hinder a creation, whose version is 1 again.
pub async fn absent_wins_over_the_expired(h: &impl Harness) {
    prepared(h).await;
    let key = key(&SINGLE, [text(&fresh(h).to_string())], []);
    write(h, vec![put_for(&key, "1", 60, When::Absent)]).await;
    write(h, vec![put_for(&key, "2", 60, When::Version(1))]).await;
    h.advance(Duration::from_secs(50)).await;
    conflicts(h, vec![put_when(&key, "3", When::Absent)]).await;
    h.advance(Duration::from_secs(15)).await;
    write(h, vec![put_when(&key, "3", When::Absent)]).await;
    assert_eq!(seen(h, &key).await, Some(("3".to_owned(), 1)));
    h.advance(Duration::from_secs(100)).await;
    assert!(get(h, &key).await.is_some());
}

/// A row that comes from a backup goes on counting where it was.
pub async fn a_row_of_a_backup_keeps_its_version(h: &impl Harness) {
    prepared(h).await;
    let key = key(&SINGLE, [text(&fresh(h).to_string())], []);
    write(h, vec![put_for(&key, "1", 60, When::AbsentAt(7))]).await;
    assert_eq!(seen(h, &key).await, Some(("1".to_owned(), 7)));
    conflicts(h, vec![put_when(&key, "2", When::AbsentAt(9))]).await;
    conflicts(h, vec![put_when(&key, "2", When::Version(1))]).await;
    write(h, vec![put_for(&key, "2", 60, When::Version(7))]).await;
    assert_eq!(seen(h, &key).await, Some(("2".to_owned(), 8)));
    h.advance(Duration::from_secs(65)).await;
    write(h, vec![put_when(&key, "3", When::AbsentAt(4))]).await;
    assert_eq!(seen(h, &key).await, Some(("3".to_owned(), 4)));
}

/// A row past its time has no version to write to.
pub async fn a_version_of_the_expired_conflicts(h: &impl Harness) {
    prepared(h).await;
    let key = key(&SINGLE, [text(&fresh(h).to_string())], []);
    write(h, vec![put_for(&key, "1", 10, When::Absent)]).await;
    h.advance(Duration::from_secs(20)).await;
    conflicts(h, vec![put_when(&key, "2", When::Version(1))]).await;
    conflicts(h, vec![delete(&key, When::Version(1))]).await;
}

/// Of many who create the same row at once, one wins.
pub async fn one_of_many_creates(h: &impl Harness) {
    prepared(h).await;
    let key = key(&SINGLE, [text(&fresh(h).to_string())], []);
    let create = async |number: usize| {
        let doc = number.to_string();
        (h.ports().store.write(vec![put_when(&key, &doc, When::Absent)]).await, doc)
    };
    let answers = join_all((0..16).map(create)).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(answer, _)| answer.is_ok());
    assert_eq!(won.len(), 1, "{}", h.name());
    assert!(lost.iter().all(|(answer, _)| matches!(answer, Err(PortError::Conflict))));
    assert_eq!(seen(h, &key).await, Some((won[0].1.clone(), 1)));
}

/// Writers who read, add one and write back under the version lose no update.
pub async fn no_increment_is_lost(h: &impl Harness) {
    prepared(h).await;
    let key = key(&SINGLE, [text(&fresh(h).to_string())], []);
    write(h, vec![put_when(&key, "0", When::Absent)]).await;
    let increment = async |_| {
        loop {
            let (doc, version) = seen(h, &key).await.unwrap();
            let next = (doc.parse::<u32>().unwrap() + 1).to_string();
            match h.ports().store.write(vec![put_when(&key, &next, When::Version(version))]).await {
                Ok(()) => return,
                Err(PortError::Conflict) => {}
                Err(other) => panic!("{}: {other}", h.name()),
            }
        }
    };
    join_all((0..8).map(increment)).await;
    assert_eq!(seen(h, &key).await, Some(("8".to_owned(), 9)));
}
