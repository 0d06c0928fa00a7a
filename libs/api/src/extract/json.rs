//! JSON bodies.

use axum::{
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use tokio::time::timeout;

use super::contract::{BODY_TIMEOUT, CheckedRequest};
use crate::error::{Error, Result};

/// A JSON body that keeps to the schema that the document has for its operation.
pub(crate) struct Body<T>(pub T);

impl<S, T> FromRequest<S> for Body<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let taken =
            request.extensions().get::<CheckedRequest>().cloned().ok_or(Error::Undescribed)?;
        let rule = taken.operation.body().ok_or(Error::Undescribed)?;
        if !is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType);
        }
        let read = timeout(BODY_TIMEOUT, Bytes::from_request(request, state));
        let bytes = read.await.map_err(|_elapsed| Error::BodyTimeout)?.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                Error::TooLarge
            } else {
                Error::invalid("", "malformed_body", rejection.body_text())
            }
        })?;
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| Error::invalid("", "malformed_json", error.to_string()))?;
        rule.read(value).map(Self)
    }
}

/// `application/json`, or a type that is JSON by its suffix (RFC 6839, section 3.1).
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let Some((kind, subtype)) = essence.split_once('/') else { return false };
    let subtype = subtype.to_ascii_lowercase();
    kind.eq_ignore_ascii_case("application") && (subtype == "json" || subtype.ends_with("+json"))
}

/// Tells a field that is `null` from one that is left out.
pub(crate) fn given<'de, T, D>(deserializer: D) -> std::result::Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests;
