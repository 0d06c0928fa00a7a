//! The published description of an operation is also its check, so that the document cannot promise
//! anything else than what is enforced, and everything that is wrong is named at once.

mod check;
mod compile;
mod gate;
mod operation;

use regex::Regex;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trapline_app::{Error as AppError, Issue};

pub(crate) use gate::BODY_TIMEOUT;
pub(crate) use gate::{Contract, enforce};
pub(super) use operation::CheckedRequest;

use crate::error::{Error, Result};

/// A description that cannot be held as a check. Where one is met, there is no router.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnsupportedSchema(String);

/// What a value must be.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    kind: RuleKind,
    nullable: bool,
}

#[derive(Debug, Clone)]
enum RuleKind {
    Text(Text),
    Integer {
        min: i64,
        max: i64,
    },
    Boolean,
    Array {
        item: Box<Rule>,
        min: usize,
        max: usize,
    },
    /// Has whatever fields; their handler bounds them.
    AnyObject,
    /// Has these fields and no others.
    Object(Vec<Field>),
}

#[derive(Debug, Clone)]
struct Text {
    /// In characters.
    min: usize,
    max: usize,
    pattern: Option<Regex>,
    format: Option<Format>,
    /// The only texts that are taken; empty when any is.
    one_of: Vec<String>,
}

/// What only a parser can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    DateTime,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    required: bool,
    rule: Rule,
}

impl Rule {
    /// The value as its type, or every issue it has.
    pub(super) fn read<T: DeserializeOwned>(&self, mut value: Value) -> Result<T> {
        let mut issues = Vec::new();
        self.check(&mut value, "", &mut issues);
        if issues.is_empty() { typed(value) } else { Err(AppError::Invalid(issues).into()) }
    }
}

/// A checked value as its type. What no rule can say, the type itself checks.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { "" } else { &path };
        Error::invalid(path, "invalid_value", error.inner().to_string())
    })
}

fn issue(path: &str, code: &'static str, message: impl Into<String>) -> Issue {
    Issue { path: path.to_owned(), code, message: message.into() }
}

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
