//! The receiver: HTTP/1.1 with connections that are kept.

use std::{
    convert::Infallible,
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::Context;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use crate::{
    book::{Book, Stats},
    call::{Call, subject},
    clocks,
    endpoint::Endpoint,
};

/// Bytes of a call's body; more is answered 413.
const BODY: usize = 256 * 1024;
/// Connections open at once; further ones wait to be accepted.
const CONNECTIONS: usize = 4096;
const DELIVERY: &str = "x-webhook-delivery";

/// What all connections share.
pub(crate) struct Sink {
    book: Mutex<Book>,
    retry_after: Option<u32>,
    connections: Arc<Semaphore>,
}

impl Sink {
    /// Keeps up to `room` bytes of lines; sends `retry_after` (seconds) with 429 and 503.
    pub(crate) fn new(room: usize, retry_after: Option<u32>) -> Self {
        let connections = Arc::new(Semaphore::new(CONNECTIONS));
        Self { book: Mutex::new(Book::new(room)), retry_after, connections }
    }

    /// The counts so far.
    pub(crate) fn stats(&self) -> Stats {
        self.book().stats()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes connections, and does not return without an error.
///
/// # Errors
/// The listener does not accept any more.
pub(crate) async fn serve(listener: TcpListener, sink: Arc<Sink>) -> anyhow::Result<Infallible> {
    loop {
        let permit = sink.connections.clone().acquire_owned().await?;
        let (stream, _) = listener.accept().await.context("accept a connection")?;
        stream.set_nodelay(true)?;
        let sink = sink.clone();
        tokio::spawn(async move {
            let _permit = permit;
            connection(stream, sink).await;
        });
    }
}

async fn connection(stream: TcpStream, sink: Arc<Sink>) {
    let answering = service_fn(|request| {
        let sink = sink.clone();
        async move { Ok::<_, Infallible>(answer(&sink, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), answering);
    // Callers close when they like; what they sent before is counted.
    drop(served.await);
}

async fn answer(sink: &Sink, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/stats") => stats(sink),
        (&Method::GET, "/arrivals") => Response::new(sink.book().lines().to_owned().into()),
        (&Method::POST, path) => match Endpoint::of(path) {
            Some(endpoint) => called(sink, endpoint, request).await,
            None => empty(StatusCode::NOT_FOUND),
        },
        _ => empty(StatusCode::METHOD_NOT_ALLOWED),
    }
}

async fn called(
    sink: &Sink,
    endpoint: Endpoint,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY).collect().await else {
        return empty(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let (at, body) = (clocks::now(), body.to_bytes());
    let (path, delivery) = (head.uri.path(), text(&head.headers, DELIVERY));
    sink.book().add(&Call { at, path, delivery, subject: &subject(&body) });
    match endpoint {
        Endpoint::Never => future::pending().await,
        Endpoint::Status(status) => with_retry_after(sink, empty(status)),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn with_retry_after(sink: &Sink, mut response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let asked = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    if let Some(seconds) = sink.retry_after.filter(|_| asked) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn stats(sink: &Sink) -> Response<Full<Bytes>> {
    let Ok(json) = serde_json::to_vec(&sink.stats()) else {
        return empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut response = Response::new(json.into());
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests;
