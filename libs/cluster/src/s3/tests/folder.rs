//! Putting twice, in a folder: what a put does that finds its own earlier try.

use bytes::Bytes;
use tempfile::TempDir;
use trapline_store::{BlobRef, Blobs as _, PortError};

use super::open;

fn blob(offset: u64, len: u64) -> BlobRef {
    BlobRef { segment: "keep/a.seg".to_owned(), offset, len, crc: None }
}

#[tokio::test]
async fn a_repeated_put_succeeds_and_another_does_not() {
    let folder = TempDir::new().unwrap();
    let segments = open(format!("file://{}", folder.path().display()));
    let put =
        |bytes: &'static str| segments.put("keep/a.seg", Bytes::from_static(bytes.as_bytes()));
    put("mine").await.unwrap();
    put("mine").await.unwrap();
    let answer = put("not mine").await;
    assert!(matches!(answer, Err(PortError::Conflict)), "{answer:?}");
    assert_eq!(segments.read(&blob(0, 4), None).await.unwrap(), "mine");
}

#[tokio::test]
async fn a_range_must_lie_in_the_segment() {
    let folder = TempDir::new().unwrap();
    let segments = open(format!("file://{}", folder.path().display()));
    segments.put("keep/a.seg", Bytes::from_static(b"0123456789")).await.unwrap();
    for (offset, len) in [(0, 10), (9, 1), (10, 0), (0, 0)] {
        let read = segments.read(&blob(offset, len), None).await.unwrap();
        assert_eq!(read, b"0123456789"[usize::try_from(offset).unwrap()..][..read.len()]);
        assert_eq!(read.len() as u64, len, "{offset}");
    }
    for (offset, len) in [(0, 11), (10, 1), (11, 0), (12, 5), (u64::MAX, 1), (1, u64::MAX)] {
        let answer = segments.read(&blob(offset, len), None).await;
        assert!(matches!(answer, Err(PortError::Damaged(_))), "{offset} {len}: {answer:?}");
    }
}

#[tokio::test]
async fn a_missing_folder_is_noticed() {
    let folder = TempDir::new().unwrap();
    let segments = open(format!("file://{}/new", folder.path().display()));
    segments.ping().await.unwrap();
    folder.close().unwrap();
    let answer = segments.ping().await;
    assert!(matches!(answer, Err(PortError::Unavailable(_))), "{answer:?}");
}
