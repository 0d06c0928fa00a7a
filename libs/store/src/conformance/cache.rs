//! Short-lived values. A cache may forget at any time, but a suite's few values should stay.

use std::{collections::HashSet, time::Duration};

use bytes::Bytes;

use super::{Harness, fixtures::fresh};

const MINUTE: Duration = Duration::from_mins(1);

async fn put(h: &impl Harness, key: &str, value: &'static [u8], ttl: Duration) {
    h.ports().cache.put(key, Bytes::from_static(value), ttl).await.unwrap();
}

async fn get(h: &impl Harness, key: &str) -> Option<Bytes> {
    h.ports().cache.get_many(&[key.to_owned()]).await.unwrap().remove(0)
}

async fn version(h: &impl Harness, key: &str) -> u64 {
    h.ports().cache.versions(&[key.to_owned()]).await.unwrap().remove(0)
}

/// A value reads back under its own key.
pub async fn put_and_get(h: &impl Harness) {
    let (key, other) = (fresh(h).to_string(), fresh(h).to_string());
    assert_eq!(get(h, &key).await, None);
    put(h, &key, b"one\0\xff", MINUTE).await;
    put(h, &other, b"", MINUTE).await;
    assert_eq!(get(h, &key).await.as_deref(), Some(&b"one\0\xff"[..]));
    assert_eq!(get(h, &other).await.as_deref(), Some(&b""[..]));
}

/// A value is gone after its time.
pub async fn gone_after_its_time(h: &impl Harness) {
    let key = fresh(h).to_string();
    put(h, &key, b"one", MINUTE).await;
    h.advance(Duration::from_secs(50)).await;
    assert!(get(h, &key).await.is_some(), "{}", h.name());
    h.advance(Duration::from_secs(15)).await;
    assert_eq!(get(h, &key).await, None);
}

/// The last put decides both value and time.
pub async fn the_last_put_counts(h: &impl Harness) {
    let key = fresh(h).to_string();
    put(h, &key, b"one", MINUTE).await;
    h.advance(Duration::from_secs(50)).await;
    put(h, &key, b"two", MINUTE).await;
    h.advance(Duration::from_secs(50)).await;
    assert_eq!(get(h, &key).await.as_deref(), Some(&b"two"[..]), "{}", h.name());
}

/// A mark reads the same until it is changed, and shares nothing with a value of its name.
pub async fn a_mark_is_stable(h: &impl Harness) {
    let key = fresh(h).to_string();
    let cache = &h.ports().cache;
    let never = version(h, &key).await;
    assert_eq!(version(h, &key).await, never, "{}", h.name());
    let changed = cache.bump(&key).await.unwrap();
    assert_ne!(changed, never);
    assert_eq!(version(h, &key).await, changed);
    put(h, &key, b"value", MINUTE).await;
    assert_eq!(version(h, &key).await, changed);
}

/// No two changes of a mark give the same value.
pub async fn a_bump_never_repeats(h: &impl Harness) {
    let key = fresh(h).to_string();
    let bumps = (0..50).map(async |_| h.ports().cache.bump(&key).await.unwrap());
    let values = futures_util::future::join_all(bumps).await;
    assert_eq!(values.iter().collect::<HashSet<_>>().len(), 50);
    assert!(values.contains(&version(h, &key).await));
}

/// Many values and marks are read in the order of their keys, those that are not there too.
pub async fn many_are_read_together(h: &impl Harness) {
    let keys: Vec<_> = (0..1200).map(|number| format!("{}:{number}", fresh(h))).collect();
    let cache = &h.ports().cache;
    assert!(cache.get_many(&[]).await.unwrap().is_empty());
    for number in [0, 499, 500, 1199] {
        let value = number.to_string().into();
        cache.put(&keys[number], value, MINUTE).await.unwrap();
    }
    let values = cache.get_many(&keys).await.unwrap();
    assert_eq!(values.len(), keys.len(), "{}", h.name());
    for (number, value) in values.iter().enumerate() {
        let there = [0, 499, 500, 1199].contains(&number).then(|| number.to_string());
        assert_eq!(value.as_deref(), there.as_ref().map(String::as_bytes), "{number}");
    }
    let bumped = cache.bump(&keys[700]).await.unwrap();
    let versions = cache.versions(&keys).await.unwrap();
    assert_eq!(versions[700], bumped);
    assert_eq!(cache.versions(&keys).await.unwrap(), versions);
    assert_eq!(version(h, &keys[3]).await, versions[3]);
}
