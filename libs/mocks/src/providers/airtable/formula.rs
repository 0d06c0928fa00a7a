//! `filterByFormula`: what is asked of it most, and an error for all else.

use super::formula_values::{CellValue, is_same, order};
use crate::StoredObject;

/// How deep a formula may go.
const MAX_DEPTH: usize = 32;
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
        let mut reader = FormulaReader { rest: text, depth: 0 };
        let formula = reader.operation(0)?;
        if reader.skip().is_empty() { Ok(formula) } else { Err(reader.unexpected()) }
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

struct FormulaReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> FormulaReader<'a> {
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;
    use serde_json::json;
    use trapline_model::Time;

    use super::*;

    fn record() -> StoredObject {
        let fields = json!({
            "Name": "Ada's", "Age": 36, "Done": true, "Tags": ["a", "b"], "Odd } name": "x", "Größe": 3,
        });
        let at = Time::from_millis(0);
        StoredObject {
            kind: "records".to_owned(),
            id: "rec1".to_owned(),
            state: None,
            created_at: at,
            updated_at: at,
            object: json!({"id": "rec1", "fields": fields}),
            hidden: json!({}),
        }
    }

    #[test]
    fn formulas_hold_or_not() {
        let cases = [
            ("{Name}='Ada\\'s'", true),
            ("Name = \"Ada's\"", true),
            ("AND({Age}>=36, {Age}<37, Done)", true),
            ("AND({Age}>36, Done)", false),
            ("OR({Age}=1, {Name}='x')", false),
            ("NOT({Missing})", true),
            ("{Missing}=BLANK()", true),
            ("{Name}=BLANK()", false),
            ("{Missing}=''", true),
            ("RECORD_ID()='rec1'", true),
            ("FIND('da', {Name})=2", true),
            ("find('zz', {Name})", false),
            ("SEARCH('ADA', {Name})", true),
            ("FIND('b', {Tags})", true),
            ("{Odd \\} name}='x'", true),
            ("Größe+1=4", true),
            ("LOWER({Name})&'!'=\"ada's!\"", true),
            ("(1+2)*3=9", true),
            ("-{Age}<-35", true),
            ("IF({Done}, 'yes', 'no')='yes'", true),
            ("{Done}=TRUE()", true),
            ("{Done}=1", true),
            ("LEN({Name})=5", true),
            ("XOR(1, 1)", false),
            ("{Age}!=36", false),
            ("VALUE('12')>9", true),
        ];
        let record = record();
        for (text, wanted) in cases {
            assert_eq!(Formula::parse(text).unwrap().holds(&RecordRow(&record)), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
        let long = format!("1{}", "+1".repeat(40));
        let cases = [
            "",
            "{Name",
            "'x",
            "1+",
            "AND(",
            "AND()",
            "NOT(1,2)",
            "FOO(1)",
            "1 2",
            "=1",
            "1..2",
            &deep,
            &long,
            "DATETIME_DIFF(1,2)",
        ];
        for text in cases {
            assert!(Formula::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_formula_is_a_panic(text in "[-A-Za-z{}()'\"\\\\ä&+*/=<>!,.0-9 ]{0,120}") {
            if let Ok(formula) = Formula::parse(&text) {
                formula.holds(&RecordRow(&record()));
            }
        }
    }
}
