//! Where browsers may be sent: what can be registered, and what matches it.

use url::Url;

use super::checks::{Objection, objection};

/// Bytes of an address.
pub(super) const MAX_URI: usize = 2_048;
/// Addresses of one kind.
pub(super) const MAX_URIS: usize = 50;

/// Schemes that name no place where an application runs.
const REFUSED_SCHEMES: [&str; 9] =
    ["javascript", "data", "vbscript", "file", "blob", "about", "ws", "wss", "filesystem"];

/// An address that can be registered: absolute, without a fragment (RFC 6749, section 3.1.2) or a user
/// name, of `https`, `http`, or a private-use scheme with a dot (RFC 8252, section 7.1).
pub(super) fn check_redirect_uri(uri: &str) -> Result<(), Objection> {
    let url = parse(uri)?;
    let scheme = url.scheme();
    if REFUSED_SCHEMES.contains(&scheme) {
        let message = format!("must not be a {scheme}: URL, in which no application runs");
        return objection("invalid_scheme", message);
    }
    if !["http", "https"].contains(&scheme) && !scheme.contains('.') {
        let message = "must be http, https, or a scheme of an app's own with a dot in it";
        return objection("invalid_scheme", message);
    }
    if url.fragment().is_some() {
        return objection("invalid_url", "must have no fragment");
    }
    Ok(())
}

/// An address that forms are sent to.
pub(super) fn check_web_url(uri: &str) -> Result<(), Objection> {
    if !["http", "https"].contains(&parse(uri)?.scheme()) {
        return objection("invalid_scheme", "must be http or https");
    }
    Ok(())
}

/// What is wrong with an address that a form is to be sent to; `None` for a good one.
#[must_use]
pub fn web_url_problem(uri: &str) -> Option<String> {
    check_web_url(uri).err().map(|objection| objection.message)
}

fn parse(uri: &str) -> Result<Url, Objection> {
    if uri.len() > MAX_URI {
        return objection("too_long", format!("must have at most {MAX_URI} bytes"));
    }
    // What browsers would change on the way, so that it would not be the same text any more.
    let is_unsafe = |byte: u8| !byte.is_ascii_graphic() || b"\"<>\\^`{|}".contains(&byte);
    if uri.bytes().any(is_unsafe) {
        return objection("invalid_url", "must have no blanks and only characters of RFC 3986");
    }
    let Ok(url) = Url::parse(uri) else {
        return objection("invalid_url", "must be an absolute URL");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return objection("invalid_url", "must have no user name or password");
    }
    Ok(url)
}

/// Whether a browser may be sent to an address: it is one of those that are registered, byte for byte
/// (RFC 9700, section 2.1). Only the port of a loopback address may be another (RFC 8252, section
/// 7.3), since apps take any that is free.
#[must_use]
pub(super) fn is_registered(registered: &[String], uri: &str) -> bool {
    let is_same = |known: &String| {
        known == uri || without_port(known).is_some_and(|it| without_port(uri) == Some(it))
    };
    registered.iter().any(is_same)
}

const LOOPBACK: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// A loopback address apart from its port: what is before it and what comes after it.
fn without_port(uri: &str) -> Option<(&'static str, &str)> {
    let of = |origin: &'static str| uri.strip_prefix(origin).map(|rest| (origin, rest));
    let (origin, rest) = LOOPBACK.into_iter().find_map(of)?;
    let after = match rest.strip_prefix(':') {
        None => rest,
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest[..digits].parse::<u16>().ok()?;
            &rest[digits..]
        }
    };
    let is_end = after.is_empty() || after.starts_with(['/', '?']);
    is_end.then_some((origin, after))
}

#[cfg(test)]
mod tests;
