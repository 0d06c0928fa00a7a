//! The body of a request, of which the rest is read even when nobody wants it: a connection that is closed while the
//! client still sends is reset, and the client may then never see the answer that says why (RFC 9112, section 9.6).

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    Request,
    body::{Body, Frame, Incoming, SizeHint},
    header,
};
use tokio::{runtime::Handle, time::timeout};

/// Bytes that are read for nobody: as many as the largest body that any route takes.
const MAX_DISCARDED: usize = 32 << 20;
/// The time for them.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// A body that is read to its end in the background when it is dropped before, within bounds.
pub(super) struct RequestBody {
    body: Option<Incoming>,
}

impl RequestBody {
    /// The body of this request. A client that asks before it sends (RFC 9110, section 10.1.1) is not
    /// made to send what nobody wants.
    pub(super) fn of(request: Request<Incoming>) -> Request<axum::body::Body> {
        if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
            return request.map(axum::body::Body::new);
        }
        request.map(|body| axum::body::Body::new(Self { body: Some(body) }))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(timeout(DISCARD_TIMEOUT, discard(body)));
        }
    }
}

async fn discard(mut body: Incoming) {
    let mut left = MAX_DISCARDED;
    while let Some(Ok(frame)) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
    {
        let Some(rest) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
        left = rest;
    }
}
