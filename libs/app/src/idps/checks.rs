//! Input held against its bounds, with all that is wrong told at once.

use serde_json::Value;

use crate::{Error, Issue, Result};

/// What is wrong with an input.
#[derive(Default)]
pub(super) struct Issues(Vec<Issue>);

impl Issues {
    pub(super) fn add(&mut self, path: &str, code: &'static str, message: impl Into<String>) {
        self.0.push(Issue { path: path.to_owned(), code, message: message.into() });
    }

    /// Adds what a check found.
    pub(super) fn note(&mut self, path: &str, found: Result<(), Objection>) {
        if let Err(Objection { code, message }) = found {
            self.add(path, code, message);
        }
    }

    pub(super) fn done(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }
}

/// Why a value is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) code: &'static str,
    pub(super) message: String,
}

pub(super) fn objection<T>(code: &'static str, message: impl Into<String>) -> Result<T, Objection> {
    Err(Objection { code, message: message.into() })
}

/// Bytes of a mail address (RFC 5321, section 4.5.3.1.3, without the angle brackets).
const MAX_EMAIL: usize = 254;

/// An address as an application may have it: tests need odd ones too.
pub(super) fn check_email(email: &str) -> Result<(), Objection> {
    if email.len() > MAX_EMAIL {
        return objection("too_long", format!("must have at most {MAX_EMAIL} bytes"));
    }
    let (mut quoted, mut ats) = (false, 0);
    for letter in email.chars() {
        match letter {
            '"' => quoted = !quoted,
            '@' if !quoted => ats += 1,
            _ => {}
        }
    }
    let has_both_sides = !email.starts_with('@') && !email.ends_with('@');
    if ats != 1 || !has_both_sides || email.chars().any(char::is_control) {
        return objection("invalid_address", "must be a mail address, such as ada@example.com");
    }
    Ok(())
}

/// Characters of a subject (`OpenID` Connect Core, section 2).
const MAX_SUBJECT: usize = 255;

pub(super) fn check_subject(subject: &str) -> Result<(), Objection> {
    let is_visible = subject.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if subject.is_empty() || subject.len() > MAX_SUBJECT || !is_visible {
        let message = format!("must have 1 to {MAX_SUBJECT} ASCII characters that can be seen");
        return objection("invalid_value", message);
    }
    Ok(())
}

/// Claims that the provider itself says, which a user's own would contradict.
const RESERVED: [&str; 15] = [
    "iss",
    "aud",
    "exp",
    "iat",
    "nbf",
    "jti",
    "sub",
    "nonce",
    "at_hash",
    "c_hash",
    "s_hash",
    "azp",
    "sid",
    "client_id",
    "scope",
];
/// Bytes of a user's claims as JSON.
const MAX_CLAIMS: usize = 16 * 1024;
const MAX_DEPTH: usize = 8;

pub(super) fn check_claims(claims: &serde_json::Map<String, Value>, issues: &mut Issues) {
    for name in claims.keys().filter(|name| RESERVED.contains(&name.as_str())) {
        let path = format!("claims.{name}");
        issues.add(&path, "reserved", "is said by the provider itself, and no user can change it");
    }
    if serde_json::to_string(claims).is_ok_and(|text| text.len() > MAX_CLAIMS) {
        issues.add("claims", "too_long", format!("must have at most {MAX_CLAIMS} bytes as JSON"));
    }
    if claims.values().any(|value| is_deeper(value, MAX_DEPTH - 1)) {
        issues.add("claims", "too_deep", format!("must have at most {MAX_DEPTH} levels"));
    }
}

/// Whether a value has more than `levels` levels of objects and arrays.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let is_deeper_inside = |value| levels == 0 || is_deeper(value, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(is_deeper_inside),
        Value::Object(members) => levels == 0 || members.values().any(is_deeper_inside),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn addresses_are_told_from_other_text() {
        for email in ["a@b", "ada@example.com", "\"a@b\"@c", "ada+x@[::1]", "ä@ö"] {
            assert_eq!(check_email(email), Ok(()), "{email}");
        }
        let long = format!("{}@b", "a".repeat(MAX_EMAIL));
        for email in ["", "@", "a@", "@b", "a", "a@b@c", "a\n@b", &long] {
            assert!(check_email(email).is_err(), "{email}");
        }
    }

    #[test]
    fn claims_are_bounded_and_some_are_reserved() {
        let codes = |claims: Value| {
            let mut issues = Issues::default();
            check_claims(claims.as_object().unwrap(), &mut issues);
            issues.0.iter().map(|issue| (issue.path.clone(), issue.code)).collect::<Vec<_>>()
        };
        let nested = |levels: usize| {
            let text = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
            serde_json::json!({ "a": serde_json::from_str::<Value>(&text).unwrap() })
        };
        assert_eq!(codes(nested(7)), []);
        assert_eq!(codes(nested(8)), [("claims".to_owned(), "too_deep")]);
        let wrong = serde_json::json!({ "sub": 1, "role": "x".repeat(MAX_CLAIMS) });
        let expected = [("claims.sub", "reserved"), ("claims", "too_long")];
        assert_eq!(codes(wrong), expected.map(|(path, code)| (path.to_owned(), code)));
    }
}
