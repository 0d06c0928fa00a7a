//! Names of the stream, its subjects and its messages.

use data_encoding::BASE32HEX_NOPAD;
use trapline_store::{Lane, PortError, Result};

use crate::is_namespace;

/// The longest id, in bytes: it becomes part of a subject, and a protocol line holds 4 KB.
const MAX_ID_BYTES: usize = 1024;

/// Names that start with one namespace.
#[derive(Debug, Clone)]
pub(super) struct Names(String);

impl Names {
    /// Nothing unless the namespace is a word of `[a-z][a-z0-9_]{0,31}`.
    pub(super) fn new(namespace: &str) -> Option<Self> {
        is_namespace(namespace).then(|| Self(namespace.to_owned()))
    }

    pub(super) fn stream(&self) -> String {
        format!("{}_JOBS", self.0.to_ascii_uppercase())
    }

    /// Subjects of everything in the stream.
    pub(super) fn subjects(&self) -> Vec<String> {
        vec![format!("{}.jobs.ready.*", self.0), format!("{}.jobs.delayed.*.*", self.0)]
    }

    pub(super) fn ready(&self, lane: Lane) -> String {
        format!("{}.jobs.ready.{}", self.0, lane.name())
    }

    /// Every delayed job of a lane.
    pub(super) fn all_delayed(&self, lane: Lane) -> String {
        format!("{}.jobs.delayed.{}.*", self.0, lane.name())
    }

    pub(super) fn delayed(&self, lane: Lane, id: &str) -> Result<String> {
        Ok(format!("{}.jobs.delayed.{}.{}", self.0, lane.name(), encoded(id)?))
    }
}

/// What makes the server store a publish of one id once: ids are their lane's own.
pub(super) fn publish_mark(lane: Lane, id: &str) -> Result<String> {
    Ok(format!("{}.{}", lane.name(), encoded(id)?))
}

/// What makes the server store the retry of one lease once, whatever the next id is.
pub(super) fn retry_mark(sequence: u64) -> String {
    format!("retry.{sequence}")
}

/// An id, which is any text, as one token of a subject.
fn encoded(id: &str) -> Result<String> {
    if id.is_empty() || id.len() > MAX_ID_BYTES {
        return Err(PortError::Misuse("a job's id has 1 to 1024 bytes"));
    }
    Ok(BASE32HEX_NOPAD.encode(id.as_bytes()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn namespaces_are_short_words() {
        for good in ["a", "trapline", "t_2", &"x".repeat(32)] {
            assert!(Names::new(good).is_some(), "{good}");
        }
        for bad in ["", "2a", "_a", "A", "a.b", "a-b", "a b", "ä", "a*", &"x".repeat(33)] {
            assert!(Names::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn any_id_is_one_token() {
        let names = Names::new("ns").unwrap();
        for id in ["a:b", "a.b", "*", ">", " ", "\r\n", "ü", &"x".repeat(MAX_ID_BYTES)] {
            let subject = names.delayed(Lane::Mail, id).unwrap();
            let token = subject.strip_prefix("ns.jobs.delayed.mail.").unwrap();
            assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id:?}: {token}");
            assert_eq!(BASE32HEX_NOPAD.decode(token.as_bytes()).unwrap(), id.as_bytes());
        }
        for id in [String::new(), "x".repeat(MAX_ID_BYTES + 1)] {
            assert!(matches!(names.delayed(Lane::Mail, &id), Err(PortError::Misuse(_))));
        }
    }

    #[test]
    fn marks_are_apart() {
        let marks = [
            publish_mark(Lane::Mail, "1").unwrap(),
            publish_mark(Lane::Webhook, "1").unwrap(),
            publish_mark(Lane::Mail, "2").unwrap(),
            retry_mark(1),
            retry_mark(2),
        ];
        let unique: std::collections::HashSet<_> = marks.iter().collect();
        assert_eq!(unique.len(), marks.len());
    }
}
