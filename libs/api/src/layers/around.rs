//! Layers that are functions. Unlike axum's `from_fn`, they keep nothing of a request that has gone on: while an
//! answer is awaited, which a parked wait does for minutes, a layer holds what it does with it, and no more.

use std::{
    convert::Infallible,
    future::ready,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use futures_util::{FutureExt as _, future::Map};
use tower::{Layer, Service};

/// An answer that is being worked on.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// An answer that is there.
pub(crate) fn immediate(answer: impl IntoResponse) -> ResponseFuture {
    Box::pin(ready(answer.into_response()))
}

/// The layers inside of one, and the handler.
pub(crate) struct Next(Box<dyn FnOnce(Request) -> ResponseFuture + Send>);

impl Next {
    /// Hands the request on.
    pub(crate) fn run(self, request: Request) -> ResponseFuture {
        (self.0)(request)
    }
}

/// A layer that answers requests with this function. A future of it that has to look at something first
/// boxes that, so that the request is not kept in it afterwards.
pub(crate) fn around<F>(answer: F) -> Around<F>
where
    F: Fn(Request, Next) -> ResponseFuture + Clone,
{
    Around(answer)
}

#[derive(Clone)]
pub(crate) struct Around<F>(F);

impl<S, F: Clone> Layer<S> for Around<F> {
    type Service = Wrapped<S, F>;

    fn layer(&self, inner: S) -> Wrapped<S, F> {
        Wrapped { inner, answer: self.0.clone() }
    }
}

/// A service inside of such a layer.
#[derive(Clone)]
pub(crate) struct Wrapped<S, F> {
    inner: S,
    answer: F,
}

impl<S, F> Service<Request> for Wrapped<S, F>
where
    S: Service<Request, Error = Infallible> + Clone + Send + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
    F: Fn(Request, Next) -> ResponseFuture,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Map<ResponseFuture, fn(Response) -> Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The one that is ready goes along.
        let next = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, next);
        let run = move |request| -> ResponseFuture {
            Box::pin(inner.call(request).map(|answer| match answer {
                Ok(answer) => answer.into_response(),
                Err(never) => match never {},
            }))
        };
        (self.answer)(request, Next(Box::new(run))).map(Ok)
    }
}
