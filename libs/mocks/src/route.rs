//! Which route of a provider a path means.

use percent_encoding::percent_decode_str;

use crate::provider::{MockRoute, Provider};

/// A route, and the values of its parameters.
pub(crate) struct Matched {
    pub(crate) route: &'static MockRoute,
    pub(crate) parameters: Vec<(&'static str, String)>,
}

impl Matched {
    /// Method and path of the route, as calls are listed.
    pub(crate) fn operation(&self) -> String {
        format!("{} {}", self.route.0, self.route.1)
    }
}

/// The first route of the table that takes this method and path. A trailing slash changes nothing; segments are
/// decoded one by one, so that an encoded slash is none.
pub(crate) fn find(provider: &'static Provider, method: &str, path: &str) -> Option<Matched> {
    let method = if method == "HEAD" { "GET" } else { method };
    let path = path.strip_suffix('/').unwrap_or(path);
    let given = segments(path)?;
    let mut of_method = provider.routes.iter().filter(|route| route.0 == method);
    of_method.find_map(|route| Some(Matched { route, parameters: parameters(route.1, &given)? }))
}

fn segments(path: &str) -> Option<Vec<String>> {
    let decoded = path.split('/').map(|part| percent_decode_str(part).decode_utf8().ok());
    decoded.map(|part| part.map(std::borrow::Cow::into_owned)).collect()
}

fn parameters(pattern: &'static str, given: &[String]) -> Option<Vec<(&'static str, String)>> {
    let parts: Vec<_> = pattern.split('/').collect();
    if parts.len() != given.len() {
        return None;
    }
    let mut found = Vec::new();
    for (part, given) in parts.into_iter().zip(given) {
        match part.split_once('{') {
            None if part == given => {}
            Some((before, rest)) if !given.is_empty() => {
                let (name, after) = rest.split_once('}')?;
                let value = given.strip_prefix(before)?.strip_suffix(after)?;
                found.push((name, value.to_owned()));
            }
            _ => return None,
        }
    }
    Some(found)
}

/// Whether a path is of the form of a pattern, in which `*` is any text.
pub(crate) fn is_like(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(middle) = last.replace(part) {
            let Some(at) = rest.find(middle) else { return false };
            rest = &rest[at + middle.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        let cases = [
            ("/v1/refunds", "/v1/refunds", true),
            ("/v1/refunds", "/v1/refunds/re_1", false),
            ("/v1/*/confirm", "/v1/payment_intents/pi_1/confirm", true),
            ("/v1/*/confirm", "/v1/payment_intents/pi_1/cancel", false),
            ("*", "/anything", true),
            ("/v1/*/a/*", "/v1/x/a/y", true),
            ("/v1/*/a/*b", "/v1/x/a/", false),
        ];
        for (pattern, path, wanted) in cases {
            assert_eq!(is_like(pattern, path), wanted, "{pattern} {path}");
        }
    }
}
