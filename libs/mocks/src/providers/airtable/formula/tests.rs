//! Formulas that hold, that do not, and that are refused.

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
