//! Requests that only ask whether an address works: of an answer, the status and where it leads on.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request,
    header::{LOCATION, RANGE, USER_AGENT},
};
use http_body_util::Full;
use tokio::time::Instant;
use url::Url;

use super::{Client, OutboundFailure, client::drain};

/// By which the owners of addresses know who asked.
const AGENT: HeaderValue = HeaderValue::from_static("trapline-link-check/1");
/// The longest address that an answer may lead to, as for one that a user gives.
const MAX_LOCATION_BYTES: usize = 2_048;

/// The head of an answer, as far as a link check tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitHead {
    /// 200 to 999.
    pub status: u16,
    /// Where it leads on, as the answer has it; at most 2,048 bytes.
    pub location: Option<String>,
}

impl Client {
    /// Asks for the head of what is at an address.
    ///
    /// # Errors
    ///
    /// Why there is no answer by `until`.
    pub async fn head(&self, url: &Url, until: Instant) -> Result<VisitHead, OutboundFailure> {
        self.ask(Method::HEAD, url, &[], until).await
    }

    /// Asks for the first byte of what is at an address. At most 16 KiB of what comes is read, and none kept.
    ///
    /// # Errors
    ///
    /// Why there is no answer by `until`.
    pub async fn get(&self, url: &Url, until: Instant) -> Result<VisitHead, OutboundFailure> {
        let range = (RANGE, HeaderValue::from_static("bytes=0-0"));
        self.ask(Method::GET, url, &[range], until).await
    }

    async fn ask(
        &self,
        method: Method,
        url: &Url,
        headers: &[(HeaderName, HeaderValue)],
        until: Instant,
    ) -> Result<VisitHead, OutboundFailure> {
        let mut request = Request::builder().method(method).uri(url.as_str());
        for (name, value) in headers.iter().cloned().chain([(USER_AGENT, AGENT)]) {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::new()));
        let request = request.map_err(|_| OutboundFailure::AddressNotAllowed)?;
        let (head, connection) = self.send(url, request, until).await?;
        let location = location(head.headers());
        let status = drain(head, &connection, until.min(soon())).await.status;
        Ok(VisitHead { status, location })
    }
}

/// The rest of an answer is read so that its connection can be used again, which is not worth a wait.
fn soon() -> Instant {
    Instant::now() + Duration::from_millis(500)
}

fn location(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(LOCATION)?.to_str().ok()?;
    (value.len() <= MAX_LOCATION_BYTES).then(|| value.to_owned())
}
