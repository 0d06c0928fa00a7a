//! Answers that may take minutes. A handler answers at once with one that is only to come later, so that
//! nothing of the request, of the layers around the handler and of the connection has to be kept for it: what they
//! add to the answer, they have added already.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::FutureExt as _;

use crate::layers::{ResponseFuture, panicked};

/// An answer to come, among the extensions of one that has but headers.
#[derive(Clone)]
struct Deferred(Arc<Mutex<Option<ResponseFuture>>>);

/// An answer to come, for a listener that asks for it with [`deferred_response`].
pub fn deferred<T: IntoResponse>(answer: impl Future<Output = T> + Send + 'static) -> Response {
    let answer = AssertUnwindSafe(answer).catch_unwind();
    let mut response = Response::default();
    put(
        &mut response,
        Box::pin(answer.map(|answer| match answer {
            Ok(answer) => answer.into_response(),
            Err(panic) => panicked(panic),
        })),
    );
    response
}

/// Takes the answer to come out of an answer, if it has one.
pub(crate) fn take(response: &mut Response) -> Option<ResponseFuture> {
    let Deferred(work) = response.extensions_mut().remove()?;
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Puts back what was taken.
pub(crate) fn put(response: &mut Response, work: ResponseFuture) {
    response.extensions_mut().insert(Deferred(Arc::new(Mutex::new(Some(work)))));
}

/// The answer that is to come instead of this one, with its headers, or this one. Who puts a [`crate::Client`] into a
/// request is to ask for it.
///
/// # Errors
///
/// The answer itself, when no other is to come.
pub fn deferred_response(mut response: Response) -> Result<ResponseFuture, Box<Response>> {
    let Some(work) = take(&mut response) else { return Err(Box::new(response)) };
    let headers = response.headers().iter().filter(|(name, _)| *name != header::CONTENT_LENGTH);
    let headers: Box<[(HeaderName, HeaderValue)]> =
        headers.map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Box::pin(work.map(move |mut answer| {
        for (name, value) in headers {
            answer.headers_mut().entry(name).or_insert(value);
        }
        answer
    })))
}
