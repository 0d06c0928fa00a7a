//! The request that a connection has at hand, apart from the server that reads and writes it.

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

use axum::{Router, body::Body, response::Response, routing::future::RouteFuture};
use hyper::{
    Method, Request, Version,
    body::{Body as _, Incoming},
    header,
};
use tower::Service as _;
use trapline_api::{Client, Work, to_come};

use super::write_timeout::StreamState;

/// What a router makes of the requests of one connection. Clones are of the same one.
#[derive(Clone)]
pub(super) struct Exchange(Arc<Inner>);

struct Inner {
    router: Router,
    client: Client,
    state: Arc<StreamState>,
    has_begun: AtomicBool,
    at_hand: Mutex<AtHand>,
}

enum AtHand {
    Nothing,
    Routed(Pin<Box<RouteFuture<Infallible>>>, Option<Head>),
    /// The answer is to come later.
    Later(Work, Option<Head>),
    Answer(Box<Response>),
}

/// What of a request's head a server has to know to write its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    no_body: bool,
    old_version: bool,
    keeps_open: bool,
}

impl Exchange {
    pub(super) fn new(router: Router, client: Client, state: Arc<StreamState>) -> Self {
        let (has_begun, at_hand) = (AtomicBool::new(false), Mutex::new(AtHand::Nothing));
        Self(Arc::new(Inner { router, client, state, has_begun, at_hand }))
    }

    /// Whether there was a request.
    pub(super) fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }

    /// Takes the work on an answer that is to come later, once all that was answered before is written. Whoever
    /// takes it is to bring the answer, and to have another server read the head.
    pub(super) fn take_later(&self) -> Option<(Work, Head)> {
        if self.0.state.is_writing() {
            return None;
        }
        let mut at_hand = self.0.at_hand();
        match mem::replace(&mut *at_hand, AtHand::Nothing) {
            AtHand::Later(work, Some(head)) => Some((work, head)),
            other => {
                *at_hand = other;
                None
            }
        }
    }

    /// Brings the answer for the next head that is read.
    pub(super) fn answer(&self, answer: Response) {
        *self.0.at_hand() = AtHand::Answer(Box::new(answer));
    }
}

impl hyper::service::Service<Request<Incoming>> for Exchange {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        self.0.begin(request);
        Answer(self.0.clone())
    }
}

/// The answer to the request at hand.
pub(super) struct Answer(Arc<Inner>);

impl Future for Answer {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_answer(cx).map(Ok)
    }
}

impl Inner {
    fn begin(&self, request: Request<Incoming>) {
        if matches!(*self.at_hand(), AtHand::Answer(_)) {
            return;
        }
        self.has_begun.store(true, Ordering::Relaxed);
        let head = Head::of(&request);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.client.clone());
        let work = Box::pin(self.router.clone().call(request));
        *self.at_hand() = AtHand::Routed(work, head);
    }

    fn poll_answer(&self, cx: &mut Context<'_>) -> Poll<Response> {
        let mut at_hand = self.at_hand();
        let answer = loop {
            match &mut *at_hand {
                AtHand::Routed(work, head) => {
                    let Ok(answer) = ready!(work.as_mut().poll(cx));
                    match to_come(answer) {
                        Ok(work) => *at_hand = AtHand::Later(work, *head),
                        Err(answer) => break *answer,
                    }
                }
                AtHand::Later(work, _) => break ready!(work.as_mut().poll(cx)),
                AtHand::Answer(answer) => break mem::take(&mut **answer),
                // The work was taken, and the server that asks is about to go.
                AtHand::Nothing => return Poll::Pending,
            }
        };
        *at_hand = AtHand::Nothing;
        drop(at_hand);
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if kind.is_some_and(|kind| kind == "text/event-stream") {
            self.state.events_are_next();
        }
        Poll::Ready(answer)
    }

    fn at_hand(&self) -> MutexGuard<'_, AtHand> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Head {
    /// None when there is more of the request than its head, or it is not only to read.
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

    /// The head as bytes that a server reads; to answer it, it needs no path.
    pub(super) fn written(self) -> String {
        let method = if self.no_body { "HEAD" } else { "GET" };
        let version = if self.old_version { "1.0" } else { "1.1" };
        let connection = if self.keeps_open { "keep-alive" } else { "close" };
        format!("{method} / HTTP/{version}\r\nconnection: {connection}\r\n\r\n")
    }
}
