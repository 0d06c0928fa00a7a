//! A value held against its rule.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use trapline_app::Issue;
use trapline_model::Time;

use super::{Field, Format, Rule, RuleKind, Text, issue};

impl Rule {
    pub(super) fn check(&self, value: &mut Value, path: &str, issues: &mut Vec<Issue>) {
        if value.is_null() && self.nullable {
            return;
        }
        match (&self.kind, value) {
            (RuleKind::Boolean, Value::Bool(_)) | (RuleKind::AnyObject, Value::Object(_)) => {}
            (RuleKind::Text(rule), Value::String(text)) => rule.check(text, path, issues),
            (RuleKind::Integer { min, max }, value @ Value::Number(_)) => {
                check_integer(value, *min, *max, path, issues);
            }
            (RuleKind::Array { item, min, max }, Value::Array(items)) => {
                check_items(item, *min..=*max, items, path, issues);
            }
            (RuleKind::Object(fields), Value::Object(members)) => {
                check_fields(fields, members, path, issues);
            }
            (kind, _) => issues.push(issue(path, "invalid_type", kind.wanted())),
        }
    }
}

impl RuleKind {
    fn wanted(&self) -> &'static str {
        match self {
            Self::Text(_) => "must be a string",
            Self::Integer { .. } => "must be an integer",
            Self::Boolean => "must be true or false",
            Self::Array { .. } => "must be an array",
            Self::AnyObject | Self::Object(_) => "must be an object",
        }
    }
}

impl Text {
    fn check(&self, text: &str, path: &str, issues: &mut Vec<Issue>) {
        let length = text.chars().count();
        let found = if !self.one_of.is_empty() && !self.one_of.iter().any(|known| known == text) {
            ("invalid_value", format!("must be one of {}", self.one_of.join(", ")))
        } else if length < self.min {
            ("too_short", format!("must have at least {}", characters(self.min)))
        } else if length > self.max {
            ("too_long", format!("must have at most {}", characters(self.max)))
        } else if let Some(pattern) = self.pattern.as_ref().filter(|form| !form.is_match(text)) {
            ("invalid_format", format!("must match {pattern}"))
        } else if let Some(wrong) = self.format.and_then(|format| format.objection(text)) {
            ("invalid_value", wrong)
        } else {
            return;
        };
        issues.push(issue(path, found.0, found.1));
    }
}

impl Format {
    /// Why the text is not of this format.
    fn objection(self, text: &str) -> Option<String> {
        match self {
            // A plus sign in a query that is not written as %2B arrives as a blank.
            Self::DateTime if text.contains(' ') => Some(
                "is not an ISO 8601 time: it has a blank in it; in a URL write + as %2B".to_owned(),
            ),
            Self::DateTime => text.parse::<Time>().err().map(|error| format!("is {error}")),
        }
    }
}

fn characters(count: usize) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

fn check_integer(value: &mut Value, min: i64, max: i64, path: &str, issues: &mut Vec<Issue>) {
    match whole(value) {
        None => issues.push(issue(path, "invalid_type", RuleKind::Integer { min, max }.wanted())),
        Some(number) if number < min => {
            issues.push(issue(path, "too_small", format!("must be at least {min}")));
        }
        Some(number) if number > max => {
            issues.push(issue(path, "too_big", format!("must be at most {max}")));
        }
        Some(number) => *value = number.into(),
    }
}

/// The integer that a number is; JSON Schema counts 3.0 among them. Beyond 64 bits it is only known
/// to be large.
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "the cast stops at the ends of the range")]
    Some(value.as_i64().unwrap_or(number as i64))
}

fn check_items(
    rule: &Rule,
    bounds: RangeInclusive<usize>,
    items: &mut [Value],
    path: &str,
    issues: &mut Vec<Issue>,
) {
    let (min, max) = (bounds.start(), bounds.end());
    if items.len() < *min {
        issues.push(issue(path, "too_short", format!("must have at least {min} items")));
    }
    if items.len() > *max {
        issues.push(issue(path, "too_long", format!("must have at most {max} items")));
        return;
    }
    for (place, item) in items.iter_mut().enumerate() {
        rule.check(item, &format!("{path}[{place}]"), issues);
    }
}

pub(super) fn check_fields(
    fields: &[Field],
    members: &mut Map<String, Value>,
    path: &str,
    issues: &mut Vec<Issue>,
) {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for field in fields {
        match members.get_mut(&field.name) {
            Some(value) => field.rule.check(value, &at(&field.name), issues),
            None if field.required => {
                issues.push(issue(&at(&field.name), "required", "is required"));
            }
            None => {}
        }
    }
    let known = |name: &str| fields.iter().any(|field| field.name == name);
    for name in members.keys().filter(|name| !known(name)) {
        issues.push(issue(&at(name), "unknown", "is not known here"));
    }
}
