//! Parses a webhook's URL. Whether its host may be called is checked by the sender, on every attempt.

use url::Url;

use crate::{Error, Result};

/// The longest address, in bytes.
const MAX_URL_BYTES: usize = 2048;

/// Reads an address as browsers do (WHATWG URL), which also makes `0x7f.1` the address it stands
/// for.
pub(super) fn parse(text: &str) -> Result<Url> {
    if text.len() > MAX_URL_BYTES {
        return Err(invalid_url("too_long", "must have at most 2048 bytes"));
    }
    let url = Url::parse(text).map_err(|error| invalid_url("invalid_url", error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid_url("invalid_scheme", "must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid_url("credentials", "must not contain a user name or a password"));
    }
    if url.fragment().is_some() {
        return Err(invalid_url("fragment", "must not have a fragment"));
    }
    if url.port() == Some(0) {
        return Err(invalid_url("invalid_port", "must not name port 0"));
    }
    Ok(url)
}

pub(super) fn invalid_url(code: &'static str, message: impl Into<String>) -> Error {
    Error::invalid("url", code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_web_addresses_are_taken() {
        let long = format!("https://example.com/{}", "x".repeat(2048));
        let cases = [
            ("https://example.com/hooks?a=1", ""),
            ("http://127.0.0.1:9000/", ""),
            ("https://[2001:db8::1]/", ""),
            ("", "invalid_url"),
            ("/hooks", "invalid_url"),
            ("https://", "invalid_url"),
            ("https://exa mple.com", "invalid_url"),
            ("http://1.2.3.4.5/", "invalid_url"),
            ("ftp://example.com", "invalid_scheme"),
            ("javascript:alert(1)", "invalid_scheme"),
            ("https://ada@example.com", "credentials"),
            ("https://:secret@example.com", "credentials"),
            ("https://example.com/#here", "fragment"),
            ("https://example.com:0/", "invalid_port"),
            (&long, "too_long"),
        ];
        for (text, code) in cases {
            let found = match parse(text) {
                Ok(_) => "",
                Err(Error::Invalid(issues)) => issues[0].code,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, code, "{text}");
        }
    }
}
