//! The request that a connection is serving, apart from the hyper server that reads and writes it.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::{Router, response::Response, routing::future::RouteFuture};
use hyper::{
    Method, Request, Version,
    body::{Body as _, Incoming},
    header,
};
use tower::Service as _;
use trapline_api::{ResponseFuture, deferred_response};

use super::{forwarded::Peer, request_body::RequestBody, write_timeout::StreamState};

/// Routes the requests of one connection. Clones share it.
#[derive(Clone)]
pub(super) struct Exchange(Arc<SharedExchange>);

struct SharedExchange {
    router: Router,
    peer: Peer,
    state: Arc<StreamState>,
    has_begun: AtomicBool,
    current: Mutex<CurrentRequest>,
}

/// The state of the request that is being served.
enum CurrentRequest {
    None,
    Routed(Pin<Box<RouteFuture<Infallible>>>, Option<RequestHead>),
    /// The answer is to come later.
    Deferred(ResponseFuture, Option<RequestHead>),
    Answer(Box<Response>),
}

/// The part of a request's head that decides how its answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestHead {
    no_body: bool,
    old_version: bool,
    keeps_open: bool,
}

impl Exchange {
    pub(super) fn new(router: Router, peer: Peer, state: Arc<StreamState>) -> Self {
        let (has_begun, current) = (AtomicBool::new(false), Mutex::new(CurrentRequest::None));
        Self(Arc::new(SharedExchange { router, peer, state, has_begun, current }))
    }

    /// Whether there was a request.
    pub(super) fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }

    /// Takes the work on a deferred answer, once all earlier answers are written. The caller then calls
    /// [`Exchange::answer`], and has another server read the head again.
    pub(super) fn take_deferred(&self) -> Option<(ResponseFuture, RequestHead)> {
        if self.0.state.is_writing() {
            return None;
        }
        let mut current = self.0.current();
        match mem::replace(&mut *current, CurrentRequest::None) {
            CurrentRequest::Deferred(work, Some(head)) => Some((work, head)),
            other => {
                *current = other;
                None
            }
        }
    }

    /// Sets the answer to the next head that is read.
    pub(super) fn answer(&self, answer: Response) {
        *self.0.current() = CurrentRequest::Answer(Box::new(answer));
    }
}

impl hyper::service::Service<Request<Incoming>> for Exchange {
    type Response = Response;
    type Error = Infallible;
    type Future = ExchangeFuture;

    fn call(&self, request: Request<Incoming>) -> ExchangeFuture {
        self.0.begin(request);
        ExchangeFuture(self.0.clone())
    }
}

/// The future of the answer to the current request.
pub(super) struct ExchangeFuture(Arc<SharedExchange>);

impl Future for ExchangeFuture {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_answer(cx).map(Ok)
    }
}

impl SharedExchange {
    fn begin(&self, request: Request<Incoming>) {
        if matches!(*self.current(), CurrentRequest::Answer(_)) {
            return;
        }
        self.has_begun.store(true, Ordering::Relaxed);
        let head = RequestHead::of(&request);
        let mut request = RequestBody::of(request);
        let client = self.peer.client_of(request.headers());
        request.extensions_mut().insert(client);
        let work = Box::pin(self.router.clone().call(request));
        *self.current() = CurrentRequest::Routed(work, head);
    }

    fn poll_answer(&self, cx: &mut Context<'_>) -> Poll<Response> {
        let mut current = self.current();
        let answer = loop {
            match &mut *current {
                CurrentRequest::Routed(work, head) => {
                    let Ok(answer) = ready!(work.as_mut().poll(cx));
                    match deferred_response(answer) {
                        Ok(work) => *current = CurrentRequest::Deferred(work, *head),
                        Err(answer) => break *answer,
                    }
                }
                CurrentRequest::Deferred(work, _) => break ready!(work.as_mut().poll(cx)),
                CurrentRequest::Answer(answer) => break mem::take(&mut **answer),
                // The work was taken, and the server that asks is about to go.
                CurrentRequest::None => return Poll::Pending,
            }
        };
        *current = CurrentRequest::None;
        drop(current);
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if kind.is_some_and(|kind| kind == "text/event-stream") {
            self.state.events_are_next();
        }
        Poll::Ready(answer)
    }

    fn current(&self) -> MutexGuard<'_, CurrentRequest> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestHead {
    /// `None` for a request with a body, or one that is neither GET nor HEAD.
    fn of(request: &Request<Incoming>) -> Option<Self> {
        let no_body = request.method() == Method::HEAD;
        if !request.body().is_end_stream() || !(no_body || request.method() == Method::GET) {
            return None;
        }
        let old_version = request.version() == Version::HTTP_10;
        let values = request.headers().get_all(header::CONNECTION);
        let values = values.iter().filter_map(|value| value.to_str().ok());
        let keeps_open = values.fold(!old_version, |keeps_open, value| {
            let says = |word| value.split(',').any(|it| it.trim().eq_ignore_ascii_case(word));
            if keeps_open { !says("close") } else { says("keep-alive") }
        });
        Some(Self { no_body, old_version, keeps_open })
    }

    /// A head with the same effect on the answer, for another server to read.
    pub(super) fn written(self) -> String {
        let method = if self.no_body { "HEAD" } else { "GET" };
        let version = if self.old_version { "1.0" } else { "1.1" };
        let connection = if self.keeps_open { "keep-alive" } else { "close" };
        format!("{method} / HTTP/{version}\r\nconnection: {connection}\r\n\r\n")
    }
}
