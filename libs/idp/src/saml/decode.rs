//! What a binding carries (saml-bindings, sections 3.4 and 3.5), as the text of a message.

use std::io::Read as _;

use data_encoding::BASE64;
use flate2::read::DeflateDecoder;

use super::Refusal;
use crate::params::RequestParams;

/// The only encoding of the Redirect binding (saml-bindings, section 3.4.4.1).
const DEFLATE: &str = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE";
/// Bytes of a message as it comes.
const MAX_ENCODED: usize = 64 * 1024;
/// Bytes of a message as XML: more than any real one has.
const MAX_XML: usize = 128 * 1024;
/// Bytes of `RelayState`. The standard says 80, and many applications put an address in it.
const MAX_RELAY_STATE: usize = 4_096;

/// How a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    Redirect,
    Post,
}

impl Binding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Post => "post",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Redirect, Self::Post].into_iter().find(|binding| binding.name() == name)
    }

    pub(crate) fn urn(self) -> &'static str {
        match self {
            Self::Redirect => "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect",
            Self::Post => "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
        }
    }
}

fn malformed(hint: impl Into<String>) -> Refusal {
    Refusal::new("malformed_message", hint)
}

/// The XML of a parameter, `SAMLRequest` or `SAMLResponse`.
pub(crate) fn message(
    binding: Binding,
    name: &str,
    params: &RequestParams,
) -> Result<String, Refusal> {
    params.once_each()?;
    let encoded = params.required(name)?;
    if encoded.len() > MAX_ENCODED {
        return Err(malformed(format!("{name} must have at most 64 KiB")));
    }
    let bytes = match binding {
        Binding::Post => of_base64(name, encoded)?,
        Binding::Redirect => {
            let encoding = params.get("SAMLEncoding");
            if encoding.is_some_and(|encoding| encoding != DEFLATE) {
                return Err(malformed(format!("SAMLEncoding must be {DEFLATE}")));
            }
            inflated(name, &of_base64(name, encoded)?)?
        }
    };
    String::from_utf8(bytes).map_err(|_| malformed(format!("{name} is not in UTF-8")))
}

/// `RelayState`, which goes back as it came.
pub(crate) fn relay_state(params: &RequestParams) -> Result<Option<String>, Refusal> {
    match params.get("RelayState") {
        Some(state) if state.len() > MAX_RELAY_STATE => {
            Err(malformed(format!("RelayState must have at most {MAX_RELAY_STATE} bytes")))
        }
        state => Ok(state.map(str::to_owned)),
    }
}

fn of_base64(name: &str, encoded: &str) -> Result<Vec<u8>, Refusal> {
    let compact: Vec<u8> = encoded.bytes().filter(|byte| !b"\r\n".contains(byte)).collect();
    BASE64.decode(&compact).map_err(|_| {
        malformed(if compact.contains(&b' ') {
            format!("{name} is not base64: a + that is not sent as %2B is read as a blank")
        } else {
            format!("{name} is not base64")
        })
    })
}

/// Inflates up to the bound and no further.
fn inflated(name: &str, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut xml = Vec::new();
    let most = u64::try_from(MAX_XML).unwrap_or(u64::MAX).saturating_add(1);
    let read = DeflateDecoder::new(bytes).take(most).read_to_end(&mut xml);
    if read.is_err() {
        let is_plain = bytes.trim_ascii_start().starts_with(b"<");
        return Err(malformed(if is_plain {
            format!("{name} is not deflated, which the Redirect binding wants")
        } else {
            format!("{name} is not raw DEFLATE (RFC 1951), without a header of zlib or gzip")
        }));
    }
    if xml.len() > MAX_XML {
        return Err(malformed(format!("{name} inflates to more than {} KiB", MAX_XML / 1024)));
    }
    Ok(xml)
}
