//! The write-ahead log, which is moved into the database while others write.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use tempfile::TempDir;
use trapline_embedded::{Embedded, Options};
use trapline_store::{BlobRef, Group};

const SIZE: u64 = 4 << 20;
/// Together more than the longest log, which is 128 MB.
const GROUPS: u64 = 45;

#[tokio::test]
async fn the_log_begins_anew_while_mail_comes_in() {
    let folder = TempDir::new().unwrap();
    let embedded = Embedded::open(Options::new(folder.path())).await.unwrap();
    let (ports, len) = (embedded.ports(), usize::try_from(SIZE).unwrap());
    let size = |name: &str| folder.path().join(name).metadata().unwrap().len();
    for number in 0..GROUPS {
        let bytes = vec![u8::try_from(number).unwrap(); len].into();
        let segment = number.to_string();
        let group = Group { segment, bytes, before: Vec::new(), rows: Vec::new(), job: None };
        ports.intake.commit(group).await.unwrap();
        assert!(size("trapline.db-wal") < 150 << 20);
    }
    assert!(size("trapline.db") > 10 * SIZE, "it was moved before the end");
    for number in 0..GROUPS {
        let blob = BlobRef { segment: number.to_string(), offset: SIZE - 1, len: 1, crc: None };
        let last = ports.blobs.read(&blob, None).await.unwrap();
        assert_eq!(u64::from(last[0]), number);
    }
    embedded.close().await;
    assert_eq!(size("trapline.db-wal"), 0);
}
