//! Inputs that are HTTP calls as text, one after the other, with names in braces for what only a run knows.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::Value;

/// Between two calls of an input, and between a call's head and its body.
const NEXT: &[u8] = b"\n%%\n";
const BODY: &[u8] = b"\n\n";
/// Calls of one input.
const MAX_CALLS: usize = 12;
/// Words that there are.
const MAX_WORDS: usize = 100;

/// An input: what it is for, headers of all its calls, and the calls.
pub(crate) struct Session<'i> {
    pub(crate) name: String,
    shared: String,
    pub(crate) calls: Vec<&'i [u8]>,
}

/// A call.
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What the names in braces stand for.
#[derive(Clone, Default)]
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        if self.0.len() < MAX_WORDS || self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Keeps the texts at the top of an answer for later calls.
    pub(crate) fn remember(&mut self, body: &[u8]) {
        let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return };
        for (name, value) in members {
            if let Some(text) = value.as_str() {
                self.set(&name, text);
            }
        }
    }

    fn filled(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in &self.0 {
            let name = format!("{{{name}}}");
            if filled.contains(&name) {
                filled = filled.replace(&name, value);
            }
        }
        filled
    }
}

impl<'i> Session<'i> {
    pub(crate) fn of(input: &'i [u8]) -> Self {
        let mut calls = split(input, NEXT);
        let head = String::from_utf8_lossy(calls.remove(0)).into_owned();
        calls.truncate(MAX_CALLS);
        let (name, shared) = head.split_once('\n').unwrap_or((&head, ""));
        Self { name: name.to_owned(), shared: shared.to_owned(), calls }
    }

    /// A call as its text has it.
    pub(crate) fn call(&self, text: &[u8], words: &Words) -> Call {
        let parts = split(text, BODY);
        let head = parts.first().copied().unwrap_or_default();
        let body = text.get(head.len() + BODY.len()..).unwrap_or_default();
        let body = match std::str::from_utf8(body) {
            Ok(text) => words.filled(text).into_bytes(),
            Err(_) => body.to_vec(),
        };
        let head = words.filled(&String::from_utf8_lossy(head));
        let (first, own) = head.split_once('\n').unwrap_or((&head, ""));
        let (method, target) = first.split_once(' ').unwrap_or((first, ""));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let shared = words.filled(&self.shared);
        let headers = shared.lines().chain(own.lines()).filter_map(header).collect();
        let [method, path, query] = [method, path, query].map(str::to_owned);
        Call { method, path, query, headers, body }
    }
}

/// Cuts bytes up at a mark; there is always one part.
fn split<'i>(input: &'i [u8], mark: &[u8]) -> Vec<&'i [u8]> {
    let (mut parts, mut rest) = (Vec::new(), input);
    while let Some(at) = rest.windows(mark.len()).position(|found| found == mark) {
        parts.push(&rest[..at]);
        rest = &rest[at + mark.len()..];
    }
    parts.push(rest);
    parts
}

/// The header of a line; `Basic` takes a name and a secret in clear.
fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let value = value.trim();
    let value = match value.strip_prefix("Basic ") {
        Some(clear) => format!("Basic {}", BASE64.encode(clear.as_bytes())),
        None => value.to_owned(),
    };
    Some((name.trim().to_ascii_lowercase(), value))
}
