//! `filterByFormula`: what is asked of it most, and an error for all else.

mod reader;
#[cfg(test)]
mod tests;

use reader::FormulaReader;

use super::formula_values::{CellValue, is_same, order};
use crate::StoredObject;

/// Letters of a formula.
const MAX_LETTERS: usize = 16_000;

/// A record as a formula sees it.
pub(super) struct RecordRow<'a>(pub(super) &'a StoredObject);

/// A formula that was understood.
#[derive(Debug)]
pub(super) enum Formula {
    Value(CellValue),
    Field(String),
    Call(Function, Vec<Formula>),
    Operation(&'static str, Box<(Formula, Formula)>),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Function {
    And,
    Or,
    Not,
    Xor,
    If,
    True,
    False,
    Blank,
    RecordId,
    CreatedTime,
    Find,
    Search,
    Len,
    Lower,
    Upper,
    Trim,
    Concatenate,
    Value,
}

type FormulaResult<T> = Result<T, String>;

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or not known here.
    pub(super) fn parse(text: &str) -> FormulaResult<Self> {
        if text.chars().count() > MAX_LETTERS {
            return Err(format!("it has more than {MAX_LETTERS} characters"));
        }
        FormulaReader::new(text).formula()
    }

    pub(super) fn holds(&self, row: &RecordRow<'_>) -> bool {
        self.value(row).is_true()
    }

    fn value(&self, row: &RecordRow<'_>) -> CellValue {
        match self {
            Self::Value(value) => value.clone(),
            Self::Field(name) => CellValue::of(row.0.object["fields"].get(name)),
            Self::Operation(operator, sides) => {
                applied(operator, &sides.0.value(row), &sides.1.value(row))
            }
            Self::Call(function, given) => called(*function, given, row),
        }
    }
}

fn applied(operator: &str, one: &CellValue, other: &CellValue) -> CellValue {
    let (left, right) = (one.number(), other.number());
    match operator {
        "=" => CellValue::Bool(is_same(one, other)),
        "!=" => CellValue::Bool(!is_same(one, other)),
        "<" => CellValue::Bool(order(one, other).is_lt()),
        "<=" => CellValue::Bool(order(one, other).is_le()),
        ">" => CellValue::Bool(order(one, other).is_gt()),
        ">=" => CellValue::Bool(order(one, other).is_ge()),
        "&" => CellValue::Text(one.text() + &other.text()),
        "+" => CellValue::Number(left + right),
        "-" => CellValue::Number(left - right),
        "*" => CellValue::Number(left * right),
        _ => CellValue::Number(left / right),
    }
}

fn called(function: Function, given: &[Formula], row: &RecordRow<'_>) -> CellValue {
    let value = |place: usize| given.get(place).map_or(CellValue::Blank, |one| one.value(row));
    let mut truths = given.iter().map(|one| one.holds(row));
    match function {
        Function::And => CellValue::Bool(truths.all(|holds| holds)),
        Function::Or => CellValue::Bool(truths.any(|holds| holds)),
        Function::Not => CellValue::Bool(!value(0).is_true()),
        Function::Xor => CellValue::Bool(truths.filter(|holds| *holds).count() % 2 == 1),
        Function::If => value(if value(0).is_true() { 1 } else { 2 }),
        Function::True => CellValue::Bool(true),
        Function::False => CellValue::Bool(false),
        Function::Blank => CellValue::Blank,
        Function::RecordId => CellValue::Text(row.0.id.clone()),
        Function::CreatedTime => CellValue::of(row.0.object.get("createdTime")),
        Function::Find => found(&value(0).text(), &value(1).text(), &value(2)),
        Function::Search => {
            let (what, text) = (value(0).text().to_lowercase(), value(1).text().to_lowercase());
            match found(&what, &text, &value(2)) {
                CellValue::Number(0.0) => CellValue::Blank,
                place => place,
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no text has so many letters")]
        Function::Len => CellValue::Number(value(0).text().chars().count() as f64),
        Function::Lower => CellValue::Text(value(0).text().to_lowercase()),
        Function::Upper => CellValue::Text(value(0).text().to_uppercase()),
        Function::Trim => CellValue::Text(value(0).text().trim().to_owned()),
        Function::Concatenate => {
            CellValue::Text(given.iter().map(|one| one.value(row).text()).collect())
        }
        Function::Value => CellValue::Number(value(0).number()),
    }
}

/// The place of a text in another one, from 1; zero where it is not there. It is looked for behind a place.
fn found(what: &str, text: &str, behind: &CellValue) -> CellValue {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place that is too large is behind all"
    )]
    let skipped = behind.number().max(0.0) as usize;
    let start = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
    let Some(at) = text[start..].find(what) else { return CellValue::Number(0.0) };
    #[expect(clippy::cast_precision_loss, reason = "no text has so many letters")]
    CellValue::Number((text[..start + at].chars().count() + 1) as f64)
}
