//! Rules against mails, and the page of rules.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod good;
mod mails;

use std::{collections::BTreeSet, fmt::Write as _};

use proptest::prelude::*;
use trapline_model::{SpamReport, Time};

use super::{VERSION, check, rules};
use crate::pages;
use mails::Mail;

/// When the mails of these tests came: a minute after their Date.
const RECEIVED: &str = "2026-03-02T09:01:00Z";

fn judge(raw: &[u8]) -> SpamReport {
    let at: Time = RECEIVED.parse().unwrap();
    check(raw, at, 5.0, at)
}

fn names(mail: &Mail) -> Vec<String> {
    judge(&mail.bytes()).rules.into_iter().map(|rule| rule.name).collect()
}

#[test]
fn each_rule_is_met_alone_and_spares_what_is_just_beyond_its_bound() {
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (rule, met, spared) in cases::all() {
        seen.insert(rule);
        // A name with two ends has the one of a program.
        let beside = (rule == "FILE_TWO_EXTENSIONS").then_some("FILE_EXECUTABLE");
        let found = names(&met);
        let wanted: Vec<_> = beside.into_iter().chain([rule]).collect();
        if found != wanted {
            wrong.push(format!("{rule}: {found:?}\n{}", String::from_utf8_lossy(&met.bytes())));
        }
        if names(&spared).iter().any(|name| name == rule) {
            wrong.push(format!("{rule}, spared:\n{}", String::from_utf8_lossy(&spared.bytes())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let all: BTreeSet<_> = rules::all().map(|rule| rule.name).collect();
    let rest: Vec<_> = all.difference(&seen).collect();
    assert!(rest.is_empty(), "rules without a case: {rest:?}");
}

#[test]
fn mail_of_good_applications_stays_under_one_point() {
    let mails = good::all();
    assert_eq!(mails.len(), 20);
    for mail in mails {
        let report = judge(&mail.bytes());
        assert!(report.score < 1.0, "{report:?}\n{}", String::from_utf8_lossy(&mail.bytes()));
    }
}

#[test]
fn points_are_added_and_the_score_decides() {
    let mail = Mail::good().without("Message-ID").without("Subject");
    let report = judge(&mail.bytes());
    assert_eq!((report.score, report.is_spam, report.truncated), (1.8, false, false));
    let rules: Vec<_> = report.rules.iter().map(|rule| (rule.name.as_str(), rule.score)).collect();
    assert_eq!(rules, [("SUBJECT_MISSING", 1.0), ("MESSAGE_ID_MISSING", 0.8)]);
    let at = RECEIVED.parse().unwrap();
    assert!(check(&mail.bytes(), at, 1.8, at).is_spam);
    assert!(!check(&mail.bytes(), at, 1.9, at).is_spam);
    assert_eq!((report.engine.as_str(), report.engine_version.as_str()), ("builtin", VERSION));
}

#[test]
fn what_is_beyond_the_bounds_is_left_out_and_said() {
    let script = "<script></script>";
    let page = format!("{}{script}", "<p>a b</p>".repeat(1 << 18));
    let report = judge(&Mail::good().html(&page).bytes());
    assert!(report.truncated);
    assert!(!report.rules.iter().any(|rule| rule.name == "SCRIPT"));
}

/// The page is written from the table: `UPDATE_DOCS=1 cargo test -p trapline-checks`.
#[test]
fn the_page_of_rules_is_what_the_code_says() {
    let mut table = String::from("| rule | points | matches when |\n|---|--:|---|\n");
    for rule in rules::all() {
        writeln!(table, "| `{}` | {} | {} |", rule.name, rule.told(), rule.description).unwrap();
    }
    pages::holds("spam.md", "rules", &table);
}

proptest! {
    #[test]
    fn any_bytes_get_the_same_score_each_time(raw in proptest::collection::vec(any::<u8>(), 0..600)) {
        let report = judge(&raw);
        prop_assert!(report.score >= 0.0);
        prop_assert_eq!(report, judge(&raw));
    }

    #[test]
    fn any_html_is_judged(html in "([<>/='\"a-c ;:!-]|style|<div|</div>|font-size:1px|<!--){0,60}") {
        judge(&Mail::good().html(&html).bytes());
    }
}
