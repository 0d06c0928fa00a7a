#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use proptest::{collection::vec, prelude::*, sample::Index};
use trapline_model::{InboxId, MessageId};
use uuid::Uuid;

use super::*;

fn id(number: u128) -> MessageId {
    MessageId { inbox: InboxId(Uuid::from_u128(number)), uuid: Uuid::from_u128(!number) }
}

fn built(mails: &[Vec<u8>]) -> Bytes {
    let mut builder = Builder::new();
    for (number, mail) in mails.iter().enumerate() {
        builder.add(&[id(number as u128)], mail);
    }
    let promised = builder.len();
    let segment = builder.finish();
    assert_eq!(segment.len(), promised);
    segment
}

#[test]
fn one_message_to_two_inboxes_is_kept_once() {
    let mut builder = Builder::new();
    let Placed { offset, len, .. } = builder.add(&[id(1), id(2)], b"hello");
    assert_eq!((offset, len), (8, 5));
    let segment = builder.finish();
    assert_eq!(segment.len(), 8 + 5 + 2 * 52 + 8);
    let entries = entries(&segment).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [id(1), id(2)]);
    assert!(entries.iter().all(|entry| (entry.offset, entry.len) == (8, 5)));
    assert!(entries.iter().all(|entry| verify(entry, &segment)));
}

#[test]
fn an_entry_out_of_bounds_is_refused() {
    let outside = [(0, 8), (7, 1), (8, 6), (13, 1), (u64::MAX, 2), (9, u64::MAX)];
    for (offset, len) in outside {
        let mut segment = b"TLSEG\x00\x01\nhello".to_vec();
        let mut footer = vec![0; 32];
        footer.put_u64_le(offset);
        footer.put_u64_le(len);
        footer.put_u32_le(0);
        segment.put_slice(&footer);
        segment.put_u32_le(crc32c::crc32c(&footer));
        segment.put_u32_le(52);
        assert_eq!(entries(&segment), Err(MalformedSegment::Bounds), "{offset}+{len}");
    }
}

#[test]
fn other_bytes_are_refused() {
    let whole = built(&[b"hello".to_vec()]);
    let cases: [(&[u8], MalformedSegment); 5] = [
        (b"", MalformedSegment::Short),
        (b"TLSEG\x00\x01\n1234567", MalformedSegment::Short),
        (b"From: a@example.com\r\n\r\n", MalformedSegment::Magic),
        (b"TLSEG\x00\x01\n\x00\x00\x00\x00\xff\xff\xff\xff", MalformedSegment::Short),
        (b"TLSEG\x00\x01\nx\x00\x00\x00\x00\x01\x00\x00\x00", MalformedSegment::Footer),
    ];
    for (bytes, why) in cases {
        assert_eq!(entries(bytes), Err(why), "{bytes:?}");
    }
    assert!(entries(&whole[..whole.len() - 1]).is_err());
}

#[test]
fn a_class_is_just_above_the_lifetime() {
    let hours = |hours: u64| Some(Duration::from_hours(hours));
    let cases = [
        (Some(Duration::ZERO), Class::H1),
        (hours(1), Class::H1),
        (hours(2), Class::D1),
        (hours(24), Class::D1),
        (hours(25), Class::D7),
        (hours(7 * 24), Class::D7),
        (hours(7 * 24 + 1), Class::Keep),
        (None, Class::Keep),
    ];
    for (lifetime, class) in cases {
        assert_eq!(Class::for_lifetime(lifetime), class, "{lifetime:?}");
    }
}

#[test]
fn a_name_has_class_and_date() {
    let uuid: Uuid = "019c1383-5c7b-7abc-8def-0123456789ab".parse().unwrap();
    let name = name(Class::Keep, uuid);
    assert_eq!(name, "keep/2026/01/31/019c1383-5c7b-7abc-8def-0123456789ab.seg");
    assert_eq!(class_of(&name), Some(Class::Keep));
    assert_eq!(created_at(&name), Some(trapline_model::Time::of_uuid(uuid)));
    for other in ["", "keep", &name[5..], &name.replace("01/31", "01/30"), &format!("x{name}")] {
        assert_eq!(class_of(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn what_is_added_is_found(mails in vec(vec(any::<u8>(), 0..200), 0..20)) {
        let segment = built(&mails);
        let found = entries(&segment).unwrap();
        prop_assert_eq!(found.len(), mails.len());
        for ((number, mail), entry) in mails.iter().enumerate().zip(&found) {
            let start = usize::try_from(entry.offset).unwrap();
            prop_assert_eq!(&segment[start..start + mail.len()], &mail[..]);
            prop_assert_eq!(entry.id, id(number as u128));
            prop_assert!(verify(entry, &segment));
        }
    }

    #[test]
    fn the_end_tells_the_same(mails in vec(vec(any::<u8>(), 0..200), 0..20), tail: Index) {
        let segment = built(&mails);
        let size = segment.len() as u64;
        let whole = entries(&segment).unwrap();
        let tail = &segment[tail.index(segment.len())..];
        match footer(tail, size) {
            Ok(Footer::Whole(found)) => prop_assert_eq!(found, whole),
            Ok(Footer::Longer(needed)) => {
                prop_assert!(needed > tail.len() as u64 && needed <= size);
                let from = usize::try_from(size - needed).unwrap();
                prop_assert_eq!(footer(&segment[from..], size), Ok(Footer::Whole(whole)));
            }
            Err(error) => prop_assert!(tail.len() < 8, "{error}"),
        }
    }

    #[test]
    fn a_changed_byte_is_noticed(
        mails in vec(vec(any::<u8>(), 0..200), 1..5), place: Index, flip in 1_u8..
    ) {
        let mut segment = built(&mails).to_vec();
        let place = place.index(segment.len());
        segment[place] ^= flip;
        if let Ok(found) = entries(&segment) {
            prop_assert!(found.iter().any(|entry| !verify(entry, &segment)));
        }
    }

    #[test]
    fn any_bytes_are_survived(mut bytes in vec(any::<u8>(), 0..300), marked: bool) {
        if let Ok(Footer::Whole(found)) = footer(&bytes, 1_000) {
            prop_assert!(found.iter().all(|entry| entry.offset + entry.len <= 1_000));
        }
        if marked {
            bytes.splice(0..0, *MAGIC);
        }
        for entry in entries(&bytes).unwrap_or_default() {
            prop_assert!(entry.offset + entry.len <= bytes.len() as u64);
        }
    }

    #[test]
    fn any_name_is_survived(text in "(keep|h1|x)?/?\\PC{0,60}(\\.seg)?") {
        if let Some(class) = class_of(&text) {
            prop_assert!(text.starts_with(class.name()));
        }
    }
}
