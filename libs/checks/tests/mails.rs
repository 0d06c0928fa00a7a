//! Every check over the mails that the parser is tested with.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use trapline_checks::{html, spam, unsubscribe};
use trapline_model::Time;

#[test]
fn every_known_mail_is_checked_and_has_the_same_reports_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mime-cases");
    let (at, clients) = (
        Time::from_millis(1_772_442_060_000),
        html::clients(html::Dataset::builtin(), &[]).unwrap(),
    );
    let mut mails = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "eml") {
            continue;
        }
        mails += 1;
        let raw = fs::read(&path).unwrap();
        let check = || {
            let score = spam::check(&raw, at, 5.0, at);
            (score, html::check(&raw, &clients, html::Dataset::builtin()), unsubscribe::check(&raw))
        };
        let (score, report, unsubscribing) = check();
        assert!(report.score.is_none_or(|score| (0.0..=100.0).contains(&score)), "{path:?}");
        assert_eq!((score, report, unsubscribing), check(), "{path:?}");
    }
    assert!(mails > 40, "{mails}");
}
