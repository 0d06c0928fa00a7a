//! A server that is away, or there and silent. Time is tokio's own, so nobody waits.

use std::time::Duration;

use bytes::Bytes;
use tokio::{net::TcpListener, time::Instant};
use trapline_store::{BlobRef, Blobs as _, PortError, Result};

use crate::s3::Segments;

fn segments(port: u16) -> Segments {
    super::open(format!("s3://mail?endpoint=http://127.0.0.1:{port}&key=k&secret=hush"))
}

async fn ends_within<T: std::fmt::Debug>(
    seconds: u64,
    call: impl Future<Output = Result<T>> + Send,
) {
    let began = Instant::now();
    let answer = call.await;
    let passed = began.elapsed();
    assert!(passed <= Duration::from_secs(seconds) + Duration::from_millis(50), "{passed:?}");
    let error = answer.unwrap_err();
    assert!(matches!(error, PortError::Timeout | PortError::Unavailable(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
}

async fn every_call_ends(segments: &Segments) {
    let blob = BlobRef { segment: "keep/a.seg".to_owned(), offset: 0, len: 10, crc: None };
    ends_within(10, segments.put("keep/a.seg", Bytes::from_static(b"bytes"))).await;
    ends_within(5, segments.read(&blob, None)).await;
    ends_within(5, segments.read(&blob, Some(0..0))).await;
    ends_within(5, segments.segment("keep/a.seg")).await;
    ends_within(5, segments.remove("keep/a.seg")).await;
    ends_within(5, segments.ping()).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    every_call_ends(&segments(listener.local_addr().unwrap().port())).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    every_call_ends(&segments(port)).await;
}
