//! Counts large bodies, in both directions, against the memory that all clients share.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use trapline_app::{AnswerReservation, App, BodyMemory, ClientShare, HandledRequest, MemoryHold};

use crate::{
    deferred,
    error::Error,
    layers::{MAX_BODY, Next, ResponseFuture},
    mock::MAX_CALL,
    state::Client,
};

/// Bytes of a body that is not counted; a connection's own buffers are as large.
const MAX_UNCOUNTED: usize = 16 * 1024;

/// Counts the bytes of requests and their answers.
pub(crate) fn count(
    app: &App,
    hold: MemoryHold,
) -> impl Fn(Request, Next) -> ResponseFuture + Clone + use<> {
    let memory = app.body_memory().clone();
    move |request, next| {
        let share = request.extensions().get::<Client>().map(|client| client.share.clone());
        let incoming = incoming(&request, MAX_BODY);
        counted(memory.clone(), share, hold, incoming, next.run(request))
    }
}

/// Counts the bytes of calls to mocks and their answers, in memory of their own: a test that uploads much is in no
/// way of the API. Apps of many people have one address there, so addresses have no shares.
pub(crate) fn count_of_mocks(
    app: &App,
) -> impl Fn(Request, Next) -> ResponseFuture + Clone + use<> {
    let memory = app.mock_memory().clone();
    move |request, next| {
        let incoming = incoming(&request, MAX_CALL);
        counted(memory.clone(), None, MemoryHold::WhileInUse, incoming, next.run(request))
    }
}

fn counted(
    memory: BodyMemory,
    share: Option<ClientShare>,
    hold: MemoryHold,
    incoming: usize,
    work: impl Future<Output = Response> + Send + 'static,
) -> ResponseFuture {
    Box::pin(async move {
        let counted = memory.count_request(share, hold, incoming, work).await;
        let (mut response, handled) = match counted {
            Ok(counted) => counted,
            Err(error) => return Error::from(error).into_response(),
        };
        let Some(work) = deferred::take(&mut response) else {
            return reserve(response, handled).await;
        };
        let later = async move {
            let (response, handled) = handled.resume(work).await;
            reserve(response, handled).await
        };
        deferred::put(&mut response, Box::pin(later));
        response
    })
}

/// The answer, once there is memory for it; else a 503.
async fn reserve(response: Response, handled: HandledRequest) -> Response {
    let len = response.body().size_hint().exact().and_then(|len| usize::try_from(len).ok());
    let Some(len) = len.filter(|len| *len > MAX_UNCOUNTED) else { return response };
    match Box::pin(handled.reserve(len)).await {
        Ok(memory) => response.map(|body| Body::new(ReservedBody { body, memory })),
        Err(error) => Error::from(error).into_response(),
    }
}

/// Bytes that the client may send: as many as it says, up to `most`, or as are usual when it does not.
fn incoming(request: &Request, most: usize) -> usize {
    let headers = request.headers();
    let said = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let len = match said {
        Some(said) => said.parse().unwrap_or(most).min(most),
        None if headers.contains_key(header::TRANSFER_ENCODING) => MAX_BODY,
        None => 0,
    };
    if len > MAX_UNCOUNTED { len } else { 0 }
}

/// A body whose bytes hold their memory until the connection has written them.
struct ReservedBody {
    body: Body,
    memory: AnswerReservation,
}

impl HttpBody for ReservedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(
            frame.map(|frame| frame.map(|frame| frame.map_data(|data| self.memory.attach(data)))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
