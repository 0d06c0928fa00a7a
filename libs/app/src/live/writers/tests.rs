use super::*;

fn beat(instance: &str, at: i64, unannounced: u64) -> Heartbeat {
    let (role, instance) = (ROLE.to_owned(), instance.to_owned());
    Heartbeat { role, instance, at: Time::from_millis(at), unannounced, stuck: None, done: None }
}

#[test]
fn who_goes_silent_is_noticed_once() {
    let mut known = KnownWriters::default();
    let silent = beat("silent", 0, 0);
    let mut losses = Vec::new();
    for look in 0..8 {
        let beats = [silent.clone(), beat("alive", look, 0)];
        losses.push(known.observe(&beats));
    }
    assert_eq!(losses.iter().position(|lost| *lost), Some(usize::from(MAX_SILENT_CHECKS)));
    assert_eq!(losses.iter().filter(|lost| **lost).count(), 1);
    // Its row ends later, and that is no news.
    assert!(!known.observe(&[beat("alive", 9, 0)]));
    // It was only slow, and then it is killed.
    assert!(!known.observe(&[beat("alive", 10, 0), beat("silent", 10, 0)]));
    assert!(known.observe(&[beat("alive", 11, 0)]));
    assert!(!known.observe(&[beat("alive", 12, 0)]));
}

#[test]
fn who_gave_up_announcing_is_noticed() {
    let mut known = KnownWriters::default();
    assert!(!known.observe(&[beat("old", 0, 0)]));
    assert!(known.observe(&[beat("old", 1, 1)]));
    assert!(!known.observe(&[beat("old", 2, 1)]));
    // One that is seen for the first time may have given up since somebody listens here.
    assert!(known.observe(&[beat("old", 3, 1), beat("new", 3, 5)]));
    assert!(!known.observe(&[beat("old", 4, 1), beat("new", 4, 5)]));
}
