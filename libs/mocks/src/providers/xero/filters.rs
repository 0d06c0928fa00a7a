//! `where`: comparisons of fields with values, joined by AND and OR.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::wire::{ms_date, time_of};

/// Comparisons of which all of one group have to hold; one group is enough. No group holds for all.
pub(super) struct WhereFilter(Vec<Vec<WhereComparison>>);

struct WhereComparison {
    pointer: String,
    operator: &'static str,
    value: Value,
}

const OPERATORS: [&str; 6] = ["==", "!=", ">=", "<=", ">", "<"];
const METHODS: [&str; 3] = ["Contains", "StartsWith", "EndsWith"];

impl WhereFilter {
    /// Reads a filter; an empty one holds for all.
    ///
    /// # Errors
    ///
    /// What of it is not understood.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let words = words(text);
        let groups = joined(&words, &["OR", "||"]);
        let groups = groups.into_iter().map(|group| {
            joined(group, &["AND", "&&"])
                .into_iter()
                .map(|words| WhereComparison::parse(&words.concat()))
                .collect()
        });
        Ok(Self(groups.collect::<Result<_, String>>()?))
    }

    pub(super) fn holds(&self, object: &Value) -> bool {
        self.0.is_empty()
            || self.0.iter().any(|group| group.iter().all(|comparison| comparison.holds(object)))
    }
}

/// Words between spaces, of which one in quotes may have some.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        is_quoted ^= letter == '"';
        if letter.is_whitespace() && !is_quoted {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(letter);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn joined<'a>(words: &'a [String], by: &[&str]) -> Vec<&'a [String]> {
    words.split(|word| by.iter().any(|one| word.eq_ignore_ascii_case(one))).collect()
}

impl WhereComparison {
    fn parse(text: &str) -> Result<Self, String> {
        let unclear = || format!("{text} is not understood");
        let pointer = |field: &str| {
            let is_name =
                |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric());
            field.split('.').all(is_name).then(|| format!("/{}", field.replace('.', "/")))
        };
        for method in METHODS {
            if let Some((field, rest)) = text.split_once(&format!(".{method}(")) {
                let value = rest.strip_suffix(')').and_then(literal).ok_or_else(unclear)?;
                let pointer = pointer(field).ok_or_else(unclear)?;
                return Ok(Self { pointer, operator: method, value });
            }
        }
        let at = text.find(['=', '!', '<', '>']).ok_or_else(unclear)?;
        let (field, rest) = text.split_at(at);
        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
        let operator = operator.ok_or_else(unclear)?;
        let value = literal(&rest[operator.len()..]).ok_or_else(unclear)?;
        Ok(Self { pointer: pointer(field).ok_or_else(unclear)?, operator, value })
    }

    fn holds(&self, object: &Value) -> bool {
        let found = object.pointer(&self.pointer).unwrap_or(&Value::Null);
        if let Some(text) = found.as_str()
            && let Some(part) = self.value.as_str()
        {
            let (text, part) = (text.to_lowercase(), part.to_lowercase());
            match self.operator {
                "Contains" => return text.contains(&part),
                "StartsWith" => return text.starts_with(&part),
                "EndsWith" => return text.ends_with(&part),
                _ => {}
            }
        }
        let order = compare(found, &self.value);
        match self.operator {
            "==" => order == Some(Ordering::Equal),
            "!=" => order != Some(Ordering::Equal),
            ">" => order.is_some_and(Ordering::is_gt),
            ">=" => order.is_some_and(Ordering::is_ge),
            "<" => order.is_some_and(Ordering::is_lt),
            "<=" => order.is_some_and(Ordering::is_le),
            _ => false,
        }
    }
}

/// A text, a number, a GUID, a day, a truth or null.
fn literal(text: &str) -> Option<Value> {
    let inside = |begin: &str| text.strip_prefix(begin)?.strip_suffix(')');
    if let Some(quoted) = text.strip_prefix('"') {
        return Some(json!(quoted.strip_suffix('"')?));
    }
    if let Some(guid) = inside("Guid(").or_else(|| inside("GUID(")) {
        return Some(json!(guid.trim_matches('"')));
    }
    if let Some(parts) = inside("DateTime(") {
        let parts: Vec<u32> =
            parts.split(',').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let [year, month, day, ..] = parts.as_slice() else { return None };
        return time_of(&format!("{year:04}-{month:02}-{day:02}")).map(|time| json!(ms_date(time)));
    }
    match text.to_lowercase().as_str() {
        "null" => Some(Value::Null),
        "true" => Some(json!(true)),
        "false" => Some(json!(false)),
        number => number.parse::<f64>().ok().map(|number| json!(number)),
    }
}

/// Dates compare as instants, numbers as numbers, texts without regard to case; none where they cannot.
pub(super) fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Number(one), Value::Number(other)) => {
            Some(one.as_f64()?.total_cmp(&other.as_f64()?))
        }
        (Value::String(one), Value::String(other)) => {
            let date = |text: &str| text.starts_with("/Date(").then(|| time_of(text)).flatten();
            match (date(one), date(other)) {
                (Some(one), Some(other)) => Some(one.cmp(&other)),
                _ => Some(one.to_lowercase().cmp(&other.to_lowercase())),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn filters_hold_or_not() {
        let object = json!({
            "Name": "Ada Ltd", "Status": "PAID", "Total": 12.5, "Date": "/Date(1767312000000+0000)/",
            "Contact": {"ContactID": "c1"}, "IsSupplier": false, "Odd": "a AND b",
        });
        let cases = [
            ("", true),
            ("Name==\"ada ltd\"", true),
            ("Status == \"PAID\" AND Total > 12", true),
            ("Status==\"DRAFT\" OR Total<=12.5", true),
            ("Status==\"DRAFT\" && Total<=12.5", false),
            ("Name.Contains(\"da l\")", true),
            ("Name.StartsWith(\"Ltd\")", false),
            ("Name.EndsWith(\"Ltd\") AND IsSupplier==false", true),
            ("Date>=DateTime(2026, 01, 01) AND Date < DateTime(2026,2,1)", true),
            ("Contact.ContactID==Guid(\"c1\")", true),
            ("Missing==null", true),
            ("Name!=null", true),
            ("Odd==\"a AND b\"", true),
        ];
        for (text, wanted) in cases {
            assert_eq!(WhereFilter::parse(text).unwrap().holds(&object), wanted, "{text}");
        }
        for text in [
            "Name",
            "Name==",
            "==\"x\"",
            "Name~\"x\"",
            "Name==\"x\" AND",
            "Date==DateTime(1)",
            "(a==1)",
        ] {
            assert!(WhereFilter::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_filter_is_a_panic(text in "[A-Za-z .=!<>\"()0-9,&|ä]{0,80}") {
            if let Ok(filter) = WhereFilter::parse(&text) {
                filter.holds(&json!({"A": "x", "B": 1}));
            }
        }
    }
}
