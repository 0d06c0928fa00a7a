//! Answers that this service itself reads: of identity providers. What is in them is shown to nobody.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{Client, OutboundFailure, bounded_connection::Budget, client::forbid_reuse};

/// The longest body that is read. Keys of large providers take a third of it.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

impl Client {
    /// Sends a request and reads the answer, of 64 KiB at most. `until` holds for everything together.
    /// Nothing is followed or sent twice.
    pub async fn fetch(
        &self,
        request: Request<Bytes>,
        until: Instant,
    ) -> Result<Response<Vec<u8>>, OutboundFailure> {
        let url = Url::parse(&request.uri().to_string())
            .map_err(|_| OutboundFailure::AddressNotAllowed)?;
        let (head, connection) = self.send(&url, request.map(Full::new), until).await?;
        let (parts, mut body) = head.into_parts();
        let budget = parts.extensions.get::<Budget>().cloned();
        let read = timeout_at(until, read_body(&mut body)).await;
        match read.unwrap_or(Err(OutboundFailure::Timeout)) {
            Ok(bytes) => {
                if let Some(budget) = budget {
                    budget.refill();
                }
                Ok(Response::from_parts(parts, bytes))
            }
            Err(failure) => {
                forbid_reuse(&connection);
                Err(failure)
            }
        }
    }
}

async fn read_body(body: &mut Incoming) -> Result<Vec<u8>, OutboundFailure> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| OutboundFailure::Reset)?;
        let Some(data) = frame.data_ref() else { continue };
        if bytes.len() + data.len() > MAX_ANSWER_BYTES {
            return Err(OutboundFailure::Reset);
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}
