use super::*;

fn created(subject: &str) -> LiveEvent {
    LiveEvent::MessageCreated {
        id: Uuid::from_u128(7),
        from: vec!["ä@example.com".to_owned()],
        to: Vec::new(),
        subject: subject.to_owned(),
        cut: false,
        record: None,
    }
}

fn heard(event: LiveEvent) -> Vec<Signal> {
    encode(event).iter().map(|payload| decode(payload)).collect()
}

#[test]
fn events_come_back() {
    let events = [
        created("Grüße\0\u{1f600}"),
        created(&"x".repeat(MAX_EVENT_BYTES - 200)),
        LiveEvent::MessageUpdated { id: Uuid::nil(), marked: None },
        LiveEvent::MessagesDeleted { ids: vec![Uuid::from_u128(1), Uuid::from_u128(2)] },
        LiveEvent::InboxEmptied,
        LiveEvent::InboxUpdated { changed: None },
        LiveEvent::InboxDeleted,
    ];
    for event in events {
        assert_eq!(heard(event.clone()), [Signal::Event(Arc::new(event))]);
    }
}

#[test]
fn many_deletions_come_in_parts() {
    let ids: Vec<_> = (0..2500).map(Uuid::from_u128).collect();
    let payloads = encode(LiveEvent::MessagesDeleted { ids: ids.clone() });
    assert!(payloads.iter().all(|payload| payload.len() <= MAX_EVENT_BYTES));
    let parts: Vec<_> = ids
        .chunks(MAX_IDS)
        .map(|ids| LiveEvent::MessagesDeleted { ids: ids.to_vec() })
        .map(|event| Signal::Event(Arc::new(event)))
        .collect();
    assert_eq!(payloads.iter().map(|payload| decode(payload)).collect::<Vec<_>>(), parts);
}

#[test]
fn what_is_too_large_or_unknown_is_a_gap() {
    assert_eq!(heard(created(&"x".repeat(MAX_EVENT_BYTES))), [Signal::Gap]);
    for payload in [
        &b""[..],
        b"null",
        b"{}",
        b"\xff",
        br#"{"MessageMoved":{"id":1}}"#,
        // Of a release that did not say what changed.
        br#""InboxUpdated""#,
    ] {
        assert_eq!(decode(payload), Signal::Gap);
    }
}

#[test]
fn a_channel_tells_its_inbox() {
    let inbox = InboxId(Uuid::from_u128(0x1234));
    let name = channel("ns", inbox);
    assert_eq!(inbox_of("ns", name.as_bytes()), Some(inbox));
    for (namespace, channel) in [("n", &*name), ("other", &name), ("ns", "ns:inbox:x"), ("", "")] {
        assert_eq!(inbox_of(namespace, channel.as_bytes()), None);
    }
}
