//! Large bodies, in both directions, count against the memory that all clients share.

use std::{
    pin::Pin,
    sync::Arc,
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
use trapline_app::{Answer, App, Room};

use crate::{
    error::Error,
    later,
    layers::{MAX_BODY, Next, Work},
    state::Client,
};

/// What every connection may have without being counted, as its buffers are.
const SMALL: usize = 16 * 1024;

/// What a request keeps of the room that it has had, until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// All of it, as it ends soon.
    Everything,
    /// None, as it may last.
    Nothing,
}

/// Counts the bytes of requests and their answers.
pub(crate) fn count(app: Arc<App>, keeps: Keeps) -> impl Fn(Request, Next) -> Work + Clone {
    move |request, next| {
        let share = request.extensions().get::<Client>().map(|client| client.share.clone());
        let (incoming, answers) = (incoming(&request), app.answers().clone());
        let work = next.run(request);
        Box::pin(async move {
            let keeps = keeps == Keeps::Everything;
            let (mut response, answer) = match answers.counted(share, keeps, incoming, work).await {
                Ok(done) => done,
                Err(error) => return Error::from(error).into_response(),
            };
            let Some(work) = later::take(&mut response) else {
                return roomed(response, answer).await;
            };
            let later = async move {
                let (response, answer) = answer.go_on(work).await;
                roomed(response, answer).await
            };
            later::put(&mut response, Box::pin(later));
            response
        })
    }
}

/// An answer, once there is room for it.
async fn roomed(response: Response, answer: Answer) -> Response {
    let len = response.body().size_hint().exact().and_then(|len| usize::try_from(len).ok());
    let Some(len) = len.filter(|len| *len > SMALL) else { return response };
    match Box::pin(answer.room(len)).await {
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
