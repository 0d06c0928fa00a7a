//! The published schema of an input is also its check, so that the document cannot promise anything
//! else than what is enforced, and every wrong field is named at once.

mod check;
mod compile;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use regex::Regex;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trapline_app::{Error as AppError, Issue};

use crate::error::{Error, Result};

/// What a value must be.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    kind: Kind,
    nullable: bool,
}

#[derive(Debug, Clone)]
enum Kind {
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
    Object {
        fields: Vec<Field>,
        closed: bool,
    },
    /// Whatever the type itself takes.
    Any,
}

#[derive(Debug, Clone)]
struct Text {
    /// In characters.
    min: usize,
    max: usize,
    pattern: Option<Regex>,
    /// The only texts that are taken; empty when any is.
    one_of: Vec<String>,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    required: bool,
    rule: Rule,
}

/// The rule of a type, made at its first use.
pub(super) fn of<T: 'static>(make: impl FnOnce() -> Rule) -> Arc<Rule> {
    static KNOWN: LazyLock<RwLock<HashMap<TypeId, Arc<Rule>>>> = LazyLock::new(RwLock::default);
    let id = TypeId::of::<T>();
    if let Some(rule) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return rule.clone();
    }
    let rule = Arc::new(make());
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(id, rule.clone());
    rule
}

impl Rule {
    /// The value as its type, or every issue it has.
    pub(super) fn read<T: DeserializeOwned>(&self, mut value: Value) -> Result<T> {
        let mut issues = Vec::new();
        self.check(&mut value, "", &mut issues);
        if !issues.is_empty() {
            return Err(AppError::Invalid(issues).into());
        }
        // What a schema cannot say, such as which texts are times, the types themselves check.
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "" } else { &path };
            Error::invalid(path, "invalid_value", error.inner().to_string())
        })
    }

    /// The value that a query parameter's text stands for.
    pub(super) fn of_text(&self, name: &str, text: String) -> Value {
        let Kind::Object { fields, .. } = &self.kind else { return text.into() };
        let field = fields.iter().find(|field| field.name == name);
        match field.map(|field| &field.rule.kind) {
            Some(Kind::Integer { .. }) => text.parse::<i64>().map_or(text.into(), Value::from),
            _ => text.into(),
        }
    }
}

fn issue(path: &str, code: &'static str, message: impl Into<String>) -> Issue {
    Issue { path: path.to_owned(), code, message: message.into() }
}

#[cfg(test)]
mod tests;
