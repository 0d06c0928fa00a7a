//! Large bodies, in both directions, count against the memory that all clients share.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    body::{Body, HttpBody},
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use trapline_app::{App, Room};

use crate::{error::Error, layers::MAX_BODY, state::Client};

/// What every connection may have without being counted, as its buffers are.
const SMALL: usize = 16 * 1024;

/// Counts the bytes of requests that end soon, which keep what they have had until they are answered.
pub(crate) async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    counted(&app, true, request, next).await
}

/// Counts the bytes of requests that may last, which keep nothing while they wait.
pub(crate) async fn count_lasting(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    counted(&app, false, request, next).await
}

async fn counted(app: &App, keeps: bool, request: Request, next: Next) -> Response {
    let share = request.extensions().get::<Client>().map(|client| client.share.clone());
    let incoming = incoming(&request);
    let work = next.run(request);
    let (response, answer) = match app.answers().counted(share, keeps, incoming, work).await {
        Ok(done) => done,
        Err(error) => return Error::from(error).into_response(),
    };
    let len = response.body().size_hint().exact().and_then(|len| usize::try_from(len).ok());
    let Some(len) = len.filter(|len| *len > SMALL) else { return response };
    match answer.room(len).await {
        Ok(room) => response.map(|body| Body::new(Roomed { body, room })),
        Err(error) => Error::from(error).into_response(),
    }
}

/// Bytes that the client may send: as many as it says, or as are allowed when it does not.
fn incoming(request: &Request) -> usize {
    let headers = request.headers();
    let said = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let len = match said {
        Some(said) => said.parse().unwrap_or(MAX_BODY).min(MAX_BODY),
        None if headers.contains_key(header::TRANSFER_ENCODING) => MAX_BODY,
        None => 0,
    };
    if len > SMALL { len } else { 0 }
}

/// A body whose bytes have their room until the connection has written them.
struct Roomed {
    body: Body,
    room: Room,
}

impl HttpBody for Roomed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(
            frame.map(|frame| frame.map(|frame| frame.map_data(|data| self.room.with(data)))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
