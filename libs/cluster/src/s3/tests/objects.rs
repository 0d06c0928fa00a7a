//! Objects that are longer than a part, in a folder.

use bytes::Bytes;
use tempfile::TempDir;

use crate::s3::Objects;

#[tokio::test]
async fn an_object_is_there_when_it_is_whole() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::open(&format!("file://{}", folder.path().display())).unwrap();
    assert!(objects.names().await.unwrap().is_empty());
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut upload = objects.upload("long.tar").await.unwrap();
    for part in bytes.chunks(3_000_001) {
        upload.write(Bytes::copy_from_slice(part)).await.unwrap();
    }
    assert_eq!(objects.size("long.tar").await.unwrap(), None);
    upload.finish().await.unwrap();
    assert_eq!(objects.names().await.unwrap(), ["long.tar"]);
    let size = objects.size("long.tar").await.unwrap().unwrap();
    assert!(objects.read("long.tar", 0..size).await.unwrap() == bytes);
    assert_eq!(objects.read("long.tar", 7..10).await.unwrap(), bytes[7..10]);
    objects.remove("long.tar").await.unwrap();
    assert_eq!(objects.size("long.tar").await.unwrap(), None);
}

#[tokio::test]
async fn an_object_that_is_given_up_is_not_there() {
    let folder = TempDir::new().unwrap();
    let objects = Objects::open(&format!("file://{}", folder.path().display())).unwrap();
    let mut upload = objects.upload("half.tar").await.unwrap();
    upload.write(Bytes::from(vec![1; 9 << 20])).await.unwrap();
    drop(upload);
    assert!(objects.names().await.unwrap().is_empty());
    assert!(Objects::open("http://elsewhere").is_err());
}
