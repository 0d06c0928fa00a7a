//! What a request says: its query and its body as one kind of value.

use std::{
    borrow::Cow,
    io::{Error, Read},
};

use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::{Map, Value};

use crate::{MockCall, failure::CallFailure, form, multipart};

/// The fields of a body: a form, several parts, or JSON, by its content type. It is of at most `most` bytes, also after it is
/// inflated.
pub(crate) fn body(call: &MockCall, most: usize) -> Result<Value, CallFailure> {
    if call.body.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let bytes = plain(call, most)?;
    let kind = call.header("content-type").unwrap_or_default().to_ascii_lowercase();
    if kind.starts_with("application/x-www-form-urlencoded") {
        return fields(&bytes);
    }
    if kind.starts_with("multipart/") {
        // The boundary is in letters of either case.
        let kind = call.header("content-type").unwrap_or_default();
        return multipart::parse(kind, &bytes).map_err(|error| CallFailure::invalid("body", error));
    }
    let wrong = |error: serde_json::Error| CallFailure::invalid("body", error.to_string());
    serde_json::from_slice(&bytes).map_err(wrong)
}

/// The body as an app wrote it, before its client compressed it; as it came, where it cannot be inflated within
/// `most` bytes.
#[must_use]
pub fn plain_body(call: &MockCall, most: usize) -> Cow<'_, [u8]> {
    plain(call, most).unwrap_or(Cow::Borrowed(&call.body))
}

/// The body without its content encoding.
fn plain(call: &MockCall, most: usize) -> Result<Cow<'_, [u8]>, CallFailure> {
    let encoding = call.header("content-encoding").unwrap_or("identity").trim();
    let body = call.body.as_slice();
    match encoding.to_ascii_lowercase().as_str() {
        "identity" | "" => Ok(body.into()),
        "gzip" | "x-gzip" => inflated(GzDecoder::new(body), most),
        "deflate" => inflated(ZlibDecoder::new(body), most),
        _ => Err(CallFailure::invalid("Content-Encoding", "the encoding is not supported")),
    }
}

/// Reads no further than `most` bytes, whatever a few bytes claim to hold.
fn inflated<'a>(stream: impl Read, most: usize) -> Result<Cow<'a, [u8]>, CallFailure> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let wrong = |_: Error| CallFailure::invalid("Content-Encoding", "the body cannot be inflated");
    stream.take(bound).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > most { Err(CallFailure::TooLarge) } else { Ok(bytes.into()) }
}

/// The parameters of a query.
pub(crate) fn query(call: &MockCall) -> Result<Value, CallFailure> {
    fields(call.query.as_bytes())
}

fn fields(text: &[u8]) -> Result<Value, CallFailure> {
    form::parse(text).map_err(|error| {
        let message = match error {
            form::FormError::TooManyKeys => "there are too many parameters",
            form::FormError::TooDeep => "parameters are nested too deeply",
            form::FormError::IndexTooLarge => "the index of a list is too large",
            form::FormError::Mixed => "a parameter is a value and a hash at once",
        };
        CallFailure::invalid("", message)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
    use serde_json::json;

    use super::*;

    const MOST: usize = 1 << 20;

    fn call(encoding: &str, kind: &str, body: Vec<u8>) -> MockCall {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![header("content-encoding", encoding), header("content-type", kind)];
        MockCall { headers, body, ..MockCall::default() }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn bodies_are_inflated() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(b"{\"a\": 1}").unwrap();
        let cases = [
            call("gzip", "application/json", gzip(b"{\"a\": 1}")),
            call("GZIP", "application/json", gzip(b"{\"a\": 1}")),
            call("deflate", "application/json", zlib.finish().unwrap()),
            call("identity", "application/json", b"{\"a\": 1}".to_vec()),
        ];
        for call in cases {
            assert_eq!(body(&call, MOST).unwrap(), json!({"a": 1}));
        }
        let form = call("gzip", "application/x-www-form-urlencoded", gzip(b"a=1"));
        assert_eq!(body(&form, MOST).unwrap(), json!({"a": "1"}));
    }

    #[test]
    fn what_cannot_be_read_is_refused_before_it_takes_memory() {
        let bomb = gzip(&vec![b' '; 64 << 20]);
        assert!(bomb.len() < 100_000);
        let refused = body(&call("gzip", "application/json", bomb), MOST);
        assert!(matches!(refused, Err(CallFailure::TooLarge)), "{refused:?}");
        let deep = "[".repeat(100_000).into_bytes();
        let cut = gzip(b"{}")[..8].to_vec();
        let cases = [
            call("br", "application/json", b"{}".to_vec()),
            call("gzip", "application/json", b"{}".to_vec()),
            call("gzip", "application/json", cut),
            call("identity", "application/json", deep),
        ];
        for call in cases {
            let refused = body(&call, MOST);
            assert!(matches!(refused, Err(CallFailure::Invalid { .. })), "{refused:?}");
        }
    }
}
