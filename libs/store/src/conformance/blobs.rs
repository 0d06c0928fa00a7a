//! Message bytes: what a commit makes durable, and reading it.

use bytes::Bytes;
use futures_util::future::{join, join_all};
use serde_json::json;
use std::time::Duration;
use trapline_model::{InboxId, MessageId};
use uuid::Uuid;

use super::{
    Harness,
    fixtures::{
        GUARDED, NEWEST, TEXTS, all, docs, fresh, get, key, prepared, put, put_when, text, uuid,
    },
};
use crate::{
    BlobRef, Group, Job, Lane, PortError, When,
    segment::{Builder, Class, name},
};

/// A group of one message to one inbox, which has one row.
fn group(h: &impl Harness, owner: Uuid, bytes: &[u8]) -> (Group, BlobRef) {
    let id = fresh(h);
    let segment = name(Class::Keep, fresh(h));
    let mut builder = Builder::new();
    builder.add(&[MessageId { inbox: InboxId(fresh(h)), uuid: id }], b"another's");
    let placed = builder.add(&[MessageId { inbox: InboxId(owner), uuid: id }], bytes);
    let blob = placed.within(&segment);
    let row = put(&key(&NEWEST, [uuid(owner)], [uuid(id)]), &json!(blob).to_string());
    let (before, rows) = (Vec::new(), vec![row]);
    (Group { segment, bytes: builder.finish(), before, rows, job: None }, blob)
}

async fn committed(h: &impl Harness, bytes: &[u8]) -> BlobRef {
    prepared(h).await;
    let (group, blob) = group(h, fresh(h), bytes);
    h.ports().intake.commit(group).await.unwrap();
    blob
}

async fn damaged(h: &impl Harness, blob: &BlobRef) {
    let answer = h.ports().blobs.read(blob, None).await;
    assert!(matches!(answer, Err(PortError::Damaged(_))), "{}: {answer:?}", h.name());
}

/// Messages of any size read back, and so does the whole segment.
pub async fn committed_bytes_read_back(h: &impl Harness) {
    for size in [0, 1, 6_000, 300_000, 3_000_000, 20_000_000] {
        let bytes: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
        let blob = committed(h, &bytes).await;
        assert!(h.ports().blobs.read(&blob, None).await.unwrap() == bytes, "{}: {size}", h.name());
        let segment = h.ports().blobs.segment(&blob.segment).await.unwrap().unwrap();
        let entries = crate::segment::entries(&segment).unwrap();
        assert_eq!((entries[1].offset, entries[1].len), (blob.offset, blob.len));
        assert!(crate::segment::verify(&entries[1], &segment));
    }
}

/// A whole message with another checksum is damaged; its neighbours, and rows without a checksum, are
/// not.
pub async fn other_bytes_are_damaged(h: &impl Harness) {
    for size in [5, 100_000] {
        let blob = committed(h, &vec![b'a'; size]).await;
        let written = blob.crc.unwrap();
        damaged(h, &BlobRef { crc: Some(written ^ 1), ..blob.clone() }).await;
        let old = BlobRef { crc: None, ..blob.clone() };
        assert_eq!(h.ports().blobs.read(&old, None).await.unwrap().len(), size, "{}", h.name());
        assert_eq!(h.ports().blobs.read(&blob, Some(1..3)).await.unwrap(), "aa", "{}", h.name());
    }
}

/// A part is relative to the message, and ends where the message ends.
pub async fn parts_are_cut_at_the_end(h: &impl Harness) {
    let blob = committed(h, b"0123456789").await;
    let cases: [(std::ops::Range<u64>, &[u8]); 7] = [
        (0..10, b"0123456789"),
        (0..1, b"0"),
        (3..6, b"345"),
        (8..20, b"89"),
        (10..20, b""),
        (50..60, b""),
        (5..5, b""),
    ];
    for (part, expected) in cases {
        let read = h.ports().blobs.read(&blob, Some(part.clone())).await.unwrap();
        assert_eq!(read, expected, "{}: {part:?}", h.name());
    }
    let read = h.ports().blobs.read(&blob, Some(9..u64::MAX)).await.unwrap();
    assert_eq!(&read[..], b"9");
}

/// The end of a segment comes with the length of all of it.
pub async fn a_segments_end(h: &impl Harness) {
    let blob = committed(h, b"0123456789").await;
    let blobs = &h.ports().blobs;
    let whole = blobs.segment(&blob.segment).await.unwrap().unwrap();
    let size = whole.len() as u64;
    for at_most in [1, 8, size - 1, size, size + 1, 1 << 20] {
        let tail = blobs.tail(&blob.segment, at_most).await.unwrap().unwrap();
        let from = whole.len() - usize::try_from(at_most.min(size)).unwrap();
        assert_eq!((tail.size, &tail.bytes[..]), (size, &whole[from..]), "{}: {at_most}", h.name());
    }
    let other = name(Class::Keep, fresh(h));
    assert_eq!(blobs.tail(&other, 8).await.unwrap(), None, "{}", h.name());
}

/// Whoever sees a row can read its bytes at once.
pub async fn rows_come_with_their_bytes(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let (group, _) = group(h, owner, b"hello");
    let seen = async {
        loop {
            if let Some(doc) = docs(h, all(&NEWEST, [uuid(owner)])).await.pop() {
                return serde_json::from_str::<BlobRef>(&doc).unwrap();
            }
            tokio::task::yield_now().await;
        }
    };
    let reader = async { h.ports().blobs.read(&seen.await, None).await.unwrap() };
    let (answer, read) = join(h.ports().intake.commit(group), reader).await;
    answer.unwrap();
    assert_eq!(&read[..], b"hello");
}

/// What is to be written before the bytes is there when the group is.
pub async fn what_goes_before_is_kept_too(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let (mut group, blob) = group(h, owner, b"hello");
    let chore = key(&TEXTS, [uuid(owner)], [text(&blob.segment)]);
    group.before.push(put(&chore, "{}"));
    h.ports().intake.commit(group).await.unwrap();
    assert_eq!(get(h, &chore).await.unwrap().doc, "{}", "{}", h.name());
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await.len(), 1);
}

/// A group's job is there when the group is.
pub async fn a_job_comes_with_its_group(h: &impl Harness) {
    prepared(h).await;
    let (group, _) = group(h, fresh(h), b"hello");
    let id = fresh(h).to_string();
    let job = Job { id, lane: Lane::Received, attempt: 1, body: json!({ "n": 1 }) };
    let take = h.ports().queue.take(Lane::Received, 1, Duration::from_secs(20));
    let commit = h.ports().intake.commit(Group { job: Some(job.clone()), ..group });
    let (leases, answer) = join(take, commit).await;
    answer.unwrap();
    assert_eq!(leases.unwrap()[0].job, job);
}

/// A removed segment reads as damaged, like one that never was; others stay.
pub async fn a_removed_segment_is_gone(h: &impl Harness) {
    let (gone, kept) = (committed(h, b"gone").await, committed(h, b"kept").await);
    for _ in 0..2 {
        h.ports().blobs.remove(&gone.segment).await.unwrap();
        damaged(h, &gone).await;
        assert_eq!(h.ports().blobs.segment(&gone.segment).await.unwrap(), None);
    }
    assert_eq!(h.ports().blobs.read(&kept, None).await.unwrap(), "kept");
    damaged(h, &BlobRef { segment: name(Class::H1, fresh(h)), ..kept.clone() }).await;
    damaged(h, &BlobRef { offset: 1 << 40, ..kept }).await;
}

/// Rows of guarded tables are refused, and with them the whole group.
pub async fn a_refused_group_leaves_nothing(h: &impl Harness) {
    prepared(h).await;
    for early in [false, true] {
        let owner = fresh(h);
        let (mut group, blob) = group(h, owner, b"hello");
        let chore = key(&TEXTS, [uuid(owner)], [text("chore")]);
        let guarded = key(&GUARDED, [uuid(owner)], [text("a")]);
        group.before.push(put(&chore, "{}"));
        let wrong = if early { &mut group.before } else { &mut group.rows };
        wrong.push(put_when(&guarded, "{}", When::Absent));
        let answer = h.ports().intake.commit(group).await;
        assert!(matches!(answer, Err(PortError::Misuse(_))), "{}: {answer:?}", h.name());
        assert!(docs(h, all(&NEWEST, [uuid(owner)])).await.is_empty());
        assert_eq!(get(h, &guarded).await, None);
        assert_eq!(get(h, &chore).await, None);
        damaged(h, &blob).await;
    }
}

/// Groups that are committed at once do not mix.
pub async fn many_groups_at_once(h: &impl Harness) {
    prepared(h).await;
    let owner = fresh(h);
    let commit = async |number: usize| {
        let bytes = Bytes::from(number.to_string().repeat(500));
        let (group, blob) = group(h, owner, &bytes);
        h.ports().intake.commit(group).await.unwrap();
        (bytes, blob)
    };
    let groups = join_all((0..30).map(commit)).await;
    for (bytes, blob) in groups {
        assert!(h.ports().blobs.read(&blob, None).await.unwrap() == bytes, "{}", h.name());
    }
    assert_eq!(docs(h, all(&NEWEST, [uuid(owner)])).await.len(), 30);
}
