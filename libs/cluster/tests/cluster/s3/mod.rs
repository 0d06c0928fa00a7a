//! A live server that goes away and comes back, or whose answers get lost.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use trapline_cluster::s3::{SegmentOptions, Segments};
use trapline_store::{
    BlobRef, Blobs as _, Clock, PortError,
    segment::{Class, name},
};
use url::Url;

/// A way to the live server that the test can cut.
struct Way {
    port: u16,
    server: String,
    lose: Arc<AtomicBool>,
    running: JoinSet<()>,
}

impl Way {
    /// The way and the URL of the segments over it.
    async fn new() -> (Self, String) {
        let mut url: Url = std::env::var("TRAPLINE_TEST_S3")
            .expect("TRAPLINE_TEST_S3 says where the S3 server is, as in s3://mail?endpoint=…")
            .parse()
            .unwrap();
        let mut pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let (_, endpoint) = pairs.iter_mut().find(|(name, _)| name == "endpoint").unwrap();
        let server = endpoint.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        *endpoint = format!("http://127.0.0.1:{port}");
        url.query_pairs_mut().clear().extend_pairs(pairs);
        let lose = Arc::new(AtomicBool::new(false));
        let mut way = Self { port, server, lose, running: JoinSet::new() };
        way.open(listener);
        (way, url.into())
    }

    fn open(&mut self, listener: TcpListener) {
        let (server, lose) = (self.server.clone(), Arc::clone(&self.lose));
        self.running.spawn(async move {
            // Dropped with this task, and with it every connection.
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(&server).await.unwrap();
                connections.spawn(carry(client, server, Arc::clone(&lose)));
            }
        });
    }

    async fn cut(&mut self) {
        self.running.shutdown().await;
    }

    async fn mend(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        self.open(listener);
    }
}

/// Carries bytes both ways; or hears an answer and keeps it to itself.
async fn carry(mut client: TcpStream, mut server: TcpStream, lose: Arc<AtomicBool>) {
    if !lose.load(Ordering::SeqCst) {
        copy_bidirectional(&mut client, &mut server).await.ok();
        return;
    }
    let (mut asks, _) = client.split();
    let (mut answers, mut asked) = server.split();
    let mut answer = [0; 1024];
    tokio::select! {
        _ = copy(&mut asks, &mut asked) => {}
        _ = answers.read(&mut answer) => lose.store(false, Ordering::SeqCst),
    }
    asked.shutdown().await.ok();
}

fn fresh() -> String {
    let millis = u64::try_from(Clock::system().now().millis()).unwrap();
    let at = uuid::Timestamp::from_unix(uuid::NoContext, millis / 1000, 0);
    name(Class::H1, uuid::Uuid::new_v7(at))
}

async fn stored(segments: &Segments, segment: &str) -> bool {
    let blob = BlobRef { segment: segment.to_owned(), offset: 1, len: 3, crc: None };
    segments.read(&blob, None).await.is_ok_and(|bytes| bytes == "yte")
}

const BYTES: Bytes = Bytes::from_static(b"bytes");

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let (mut way, url) = Way::new().await;
    let segments = Segments::open(&SegmentOptions { url }).unwrap();
    for _ in 0..2 {
        let segment = fresh();
        segments.put(&segment, BYTES).await.unwrap();
        way.cut().await;
        let blob = BlobRef { segment: segment.clone(), offset: 0, len: 5, crc: None };
        let answers = [
            segments.put(&fresh(), BYTES).await.unwrap_err(),
            segments.read(&blob, None).await.unwrap_err(),
            segments.segment(&segment).await.unwrap_err(),
            segments.remove(&segment).await.unwrap_err(),
            segments.ping().await.unwrap_err(),
        ];
        for error in answers {
            assert!(matches!(error, PortError::Unavailable(_) | PortError::Timeout), "{error:?}");
        }
        way.mend().await;
        segments.ping().await.unwrap();
        assert!(stored(&segments, &segment).await);
        segments.remove(&segment).await.unwrap();
    }
}

#[tokio::test]
async fn a_put_whose_answer_was_lost_succeeds() {
    let (way, url) = Way::new().await;
    let segment = fresh();
    let segments = Segments::open(&SegmentOptions { url }).unwrap();
    way.lose.store(true, Ordering::SeqCst);
    segments.put(&segment, BYTES).await.unwrap();
    assert!(!way.lose.load(Ordering::SeqCst), "no answer was lost");
    assert!(stored(&segments, &segment).await);
    let answer = segments.put(&segment, Bytes::from_static(b"other")).await;
    assert!(matches!(answer, Err(PortError::Conflict)), "{answer:?}");
    segments.remove(&segment).await.unwrap();
}

#[tokio::test]
async fn a_missing_bucket_and_wrong_credentials_are_errors() {
    let url = std::env::var("TRAPLINE_TEST_S3").unwrap();
    let wrong =
        [url.replacen("s3://", "s3://no-such-bucket-", 1), url.replace("secret=", "secret=hush")];
    for url in wrong {
        let segments = Segments::open(&SegmentOptions { url: url.clone() }).unwrap();
        let blob = BlobRef { segment: fresh(), offset: 0, len: 5, crc: None };
        let answers = [
            segments.ping().await.unwrap_err(),
            segments.read(&blob, None).await.unwrap_err(),
            segments.segment(&blob.segment).await.unwrap_err(),
        ];
        for error in answers {
            assert!(matches!(error, PortError::Unavailable(_)), "{url}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
        }
    }
}
