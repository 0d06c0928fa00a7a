//! What of a call is remembered.

use std::borrow::Cow;

use serde::Deserialize;

/// Characters of each part that are kept.
const LONGEST: usize = 64;

/// One call of an endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Nanoseconds since 1970 at which it was read to its end.
    pub(crate) at: u64,
    /// The endpoint.
    pub(crate) path: &'a str,
    /// The delivery's id, where the caller gives one.
    pub(crate) delivery: &'a str,
    /// The mail's subject.
    pub(crate) subject: &'a str,
}

impl Call<'_> {
    /// One line of the log.
    pub(crate) fn line(&self) -> String {
        let Self { at, path, delivery, subject } = self;
        let (path, delivery, subject) = (word(path), word(delivery), clean(subject));
        format!("{at} {path} {delivery} {subject}\n")
    }
}

/// Without spaces and never empty, so that a line can be split.
fn word(text: &str) -> String {
    let text = clean(text).replace(' ', "_");
    if text.is_empty() { "-".to_owned() } else { text }
}

fn clean(text: &str) -> String {
    text.chars()
        .take(LONGEST)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Trapline has the subject in the message, Mailpit at the top.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, rename = "Subject")]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    subject: Option<Cow<'a, str>>,
}

/// The subject that a payload tells of; empty where there is none.
pub(crate) fn subject(body: &[u8]) -> Cow<'_, str> {
    let Ok(body) = serde_json::from_slice::<Body<'_>>(body) else { return Cow::default() };
    body.message.and_then(|message| message.subject).or(body.subject).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_in_both_payloads() {
        let cases = [
            (r#"{"event":"message.received","message":{"id":"x","subject":"Hello 1"}}"#, "Hello 1"),
            (r#"{"ID":"x","Subject":"Hello 2","Size":7}"#, "Hello 2"),
            (r#"{"message":{"subject":"a \"b\" \u00e9"}}"#, "a \"b\" \u{e9}"),
            (r#"{"message":{}}"#, ""),
            (r#"{"message":7}"#, ""),
            ("", ""),
            ("not JSON", ""),
        ];
        for (body, expected) in cases {
            assert_eq!(subject(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn a_line_has_four_parts_and_one_end() {
        let call = Call { at: 7, path: "/200/a b", delivery: "", subject: "one\r\ntwo three" };
        assert_eq!(call.line(), "7 /200/a_b - one  two three\n");
    }

    #[test]
    fn each_part_is_bounded() {
        let long = "\u{e9}".repeat(1000);
        let line = Call { at: 7, path: &long, delivery: &long, subject: &long }.line();
        assert_eq!(line.chars().count(), 2 + 3 * LONGEST + 3);
    }
}
