//! Values of formulas, and how they compare.

use std::cmp::Ordering;

use serde_json::Value;

/// What a formula or a cell comes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CellValue {
    Blank,
    Text(String),
    Number(f64),
    Bool(bool),
}

impl CellValue {
    pub(super) fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Blank,
            Some(Value::Bool(flag)) => Self::Bool(*flag),
            Some(Value::String(text)) => Self::Text(text.clone()),
            Some(Value::Number(number)) => number.as_f64().map_or(Self::Blank, Self::Number),
            Some(Value::Array(list)) => {
                let texts: Vec<_> = list.iter().map(|one| Self::of(Some(one)).text()).collect();
                Self::Text(texts.join(", "))
            }
            Some(object) => Self::Text(object.to_string()),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Blank => false,
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0.0,
            Self::Bool(flag) => *flag,
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Blank => String::new(),
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Bool(flag) => u8::from(*flag).to_string(),
        }
    }

    /// As a number; a text that is none is zero.
    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Blank => 0.0,
            Self::Text(text) => text.trim().parse().unwrap_or(0.0),
            Self::Number(number) => *number,
            Self::Bool(flag) => f64::from(u8::from(*flag)),
        }
    }
}

/// Numbers compare as numbers, texts without regard to case, and a blank is before all.
pub(super) fn order(one: &CellValue, other: &CellValue) -> Ordering {
    match (one, other) {
        (CellValue::Blank, CellValue::Blank) => Ordering::Equal,
        (CellValue::Blank, _) => Ordering::Less,
        (_, CellValue::Blank) => Ordering::Greater,
        (CellValue::Text(_), _) | (_, CellValue::Text(_)) => {
            let (one, other) = (one.text(), other.text());
            one.to_lowercase().cmp(&other.to_lowercase()).then_with(|| one.cmp(&other))
        }
        _ => one.number().total_cmp(&other.number()),
    }
}

/// Whether two are the same: a blank is the empty text, zero and false.
pub(super) fn is_same(one: &CellValue, other: &CellValue) -> bool {
    match (one, other) {
        (CellValue::Blank, other) | (other, CellValue::Blank) => !other.is_true(),
        (CellValue::Text(one), CellValue::Text(other)) => one == other,
        (CellValue::Text(_), _) | (_, CellValue::Text(_)) => one.text() == other.text(),
        _ => one.number().total_cmp(&other.number()).is_eq(),
    }
}
