//! The grammar of formulas.

use super::{Formula, FormulaResult, Function};
use crate::providers::airtable::formula_values::CellValue;

/// How deep a formula may go.
const MAX_DEPTH: usize = 32;

/// Functions, with the least and the most that they are given.
const FUNCTIONS: [(&str, Function, usize, usize); 18] = [
    ("AND", Function::And, 1, usize::MAX),
    ("OR", Function::Or, 1, usize::MAX),
    ("NOT", Function::Not, 1, 1),
    ("XOR", Function::Xor, 1, usize::MAX),
    ("IF", Function::If, 2, 3),
    ("TRUE", Function::True, 0, 0),
    ("FALSE", Function::False, 0, 0),
    ("BLANK", Function::Blank, 0, 0),
    ("RECORD_ID", Function::RecordId, 0, 0),
    ("CREATED_TIME", Function::CreatedTime, 0, 0),
    ("FIND", Function::Find, 2, 3),
    ("SEARCH", Function::Search, 2, 3),
    ("LEN", Function::Len, 1, 1),
    ("LOWER", Function::Lower, 1, 1),
    ("UPPER", Function::Upper, 1, 1),
    ("TRIM", Function::Trim, 1, 1),
    ("CONCATENATE", Function::Concatenate, 1, usize::MAX),
    ("VALUE", Function::Value, 1, 1),
];

/// Operators that bind equally, the loosest first; of two that begin alike the longer is first.
const OPERATORS: [&[&str]; 4] =
    [&["<=", ">=", "!=", "=", "<", ">"], &["&"], &["+", "-"], &["*", "/"]];

/// Reads a formula from its beginning on, by recursive descent.
pub(super) struct FormulaReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> FormulaReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, depth: 0 }
    }

    /// The whole text as one formula.
    pub(super) fn formula(mut self) -> FormulaResult<Formula> {
        let formula = self.operation(0)?;
        if self.skip().is_empty() { Ok(formula) } else { Err(self.unexpected()) }
    }

    fn skip(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.rest
    }

    fn unexpected(&mut self) -> String {
        let near: String = self.skip().chars().take(20).collect();
        if near.is_empty() { "it ends too early".to_owned() } else { format!("near {near}") }
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.skip().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> FormulaResult<()> {
        if self.take(token) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Operators of a level and all that bind more.
    fn operation(&mut self, level: usize) -> FormulaResult<Formula> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand() };
        let mut left = self.operation(level + 1)?;
        // Each operator makes what is read one deeper.
        let depth = self.depth;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            self.deeper()?;
            let right = self.operation(level + 1)?;
            left = Formula::Operation(operator, Box::new((left, right)));
        }
        self.depth = depth;
        Ok(left)
    }

    fn deeper(&mut self) -> FormulaResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err("it is too deep".to_owned()) } else { Ok(()) }
    }

    fn operand(&mut self) -> FormulaResult<Formula> {
        self.deeper()?;
        let operand = self.operand_inside();
        self.depth -= 1;
        operand
    }

    fn operand_inside(&mut self) -> FormulaResult<Formula> {
        if self.take("(") {
            let inner = self.operation(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("-") {
            let zero = Formula::Value(CellValue::Number(0.0));
            return Ok(Formula::Operation("-", Box::new((zero, self.operand()?))));
        }
        if self.take("{") {
            return self.quoted('}').map(Formula::Field);
        }
        for quote in ['\'', '"'] {
            if self.take(quote.encode_utf8(&mut [0; 4])) {
                return self.quoted(quote).map(|text| Formula::Value(CellValue::Text(text)));
            }
        }
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
        let digits = self.word(is_digit);
        if !digits.is_empty() {
            let number = digits.parse().map_err(|_| format!("{digits} is no number"))?;
            return Ok(Formula::Value(CellValue::Number(number)));
        }
        let word = self.word(|letter| letter.is_alphanumeric() || letter == '_');
        if word.is_empty() {
            return Err(self.unexpected());
        }
        if self.take("(") { self.call(word) } else { Ok(Formula::Field(word.to_owned())) }
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.skip();
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        &rest[..end]
    }

    /// What is before a closing letter, which a backslash before it makes a part of it.
    fn quoted(&mut self, end: char) -> FormulaResult<String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter == end {
                self.rest = &self.rest[at + letter.len_utf8()..];
                return Ok(text);
            }
            text.push(match letter {
                '\\' => match letters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 't')) => '\t',
                    Some((_, 'r')) => '\r',
                    Some((_, escaped)) => escaped,
                    None => break,
                },
                letter => letter,
            });
        }
        Err(format!("there is no {end} at the end"))
    }

    fn call(&mut self, name: &str) -> FormulaResult<Formula> {
        let upper = name.to_uppercase();
        let known = FUNCTIONS.into_iter().find(|(known, ..)| *known == upper);
        let (_, function, least, most) =
            known.ok_or_else(|| format!("the function {name} is not known"))?;
        let mut given = Vec::new();
        if !self.take(")") {
            loop {
                given.push(self.operation(0)?);
                if self.take(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        if (least..=most).contains(&given.len()) {
            return Ok(Formula::Call(function, given));
        }
        Err(format!("{name} cannot have {} arguments", given.len()))
    }
}
