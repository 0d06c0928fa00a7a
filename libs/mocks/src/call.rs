//! A request to a mock, and its reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to a mock, without the part of the path that names the mock.
#[derive(Debug, Clone, Default)]
pub struct MockCall {
    /// In upper case.
    pub method: String,
    /// Begins with a slash; percent-encoded as it came.
    pub path: String,
    /// What follows the question mark, as it came.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the body was longer than any provider takes, and is not here.
    pub is_cut: bool,
}

impl MockCall {
    /// The first header of this name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// What a mock answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockReply {
    /// The HTTP status.
    pub status: u16,
    /// Every header, the content type among them.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl MockReply {
    /// A JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body: body.to_string() }
    }

    /// Nothing but a status.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    /// 200 with a JSON body.
    pub(crate) fn ok(body: &Value) -> Self {
        Self::json(200, body)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}
