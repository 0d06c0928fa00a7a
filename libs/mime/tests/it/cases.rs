use std::fmt::Write as _;

use trapline_mime::{attachment, digest, parse};
use trapline_model::Attachment;

use crate::corpus::{Case, cases, variations};

#[test]
fn every_case_reads_as_a_person_would() {
    let cases = cases();
    assert_eq!(cases.len(), 42);
    assert_read(&cases);
}

#[test]
fn every_variation_reads_as_its_rule_says() {
    let cases = variations();
    assert!(cases.len() >= 200, "only {}", cases.len());
    assert_read(&cases);
}

fn assert_read(cases: &[(Case, Vec<u8>)]) {
    let mut wrong = String::new();
    for (case, raw) in cases {
        let parsed = parse(raw);
        let mut check = |field: &str, expected: Option<&str>, found: Option<&str>| {
            if !is_expected(expected, found) {
                writeln!(wrong, "{} {field}: {expected:?} but {found:?}", case.id).unwrap();
            }
        };
        check("subject", Some(&case.subject), Some(&parsed.digest.subject));
        check("text", case.text.as_deref(), parsed.text.as_deref());
        check("html", case.html.as_deref(), parsed.html.as_deref());
        let from = parsed.digest.from.as_ref().map(|from| from.address.as_str());
        check("from", case.frm.as_deref().or(Some("*")), from.or(Some("")));
        for (field, expected, found) in
            [("att", &case.att, &parsed.attachments), ("alt", &case.alt, &parsed.alternatives)]
        {
            if !are_expected(expected, found) {
                writeln!(wrong, "{} {field}: {expected:?} but {found:?}", case.id).unwrap();
            }
        }
        assert_eq!(parsed.digest, digest(raw), "{}", case.id);
        assert_eq!(usize::try_from(parsed.digest.attachment_count).unwrap(), case.att.len());
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn are_expected(expected: &[(String, String)], found: &[Attachment]) -> bool {
    expected.len() == found.len()
        && found.iter().zip(expected).all(|(found, (name, hash))| {
            is_expected(Some(name), Some(&found.filename))
                && is_expected(Some(hash), Some(&found.sha256[..12]))
        })
}

/// `*` accepts anything, `*rest` is "contains", `start*` is "starts with".
fn is_expected(expected: Option<&str>, found: Option<&str>) -> bool {
    if expected == Some("*") {
        return true;
    }
    let (Some(expected), Some(found)) = (expected, found) else { return expected == found };
    let plain = |text: &str| text.replace("\r\n", "\n").trim_end_matches(['\r', '\n']).to_owned();
    let (expected, found) = (plain(expected), plain(found));
    if let Some(rest) = expected.strip_prefix('*') {
        found.contains(rest)
    } else if let Some(start) = expected.strip_suffix('*') {
        found.starts_with(start)
    } else {
        found == expected
    }
}

#[test]
fn embedded_messages_are_kept_byte_for_byte() {
    let (_, raw) = cases().into_iter().find(|(case, _)| case.id == "24").unwrap();
    let raw_text = String::from_utf8(raw.clone()).unwrap();
    let start = raw_text.find("From: n@").unwrap();
    let end = raw_text.rfind("\r\n--BB--").unwrap();
    let body = attachment(&raw, "1").unwrap();
    assert_eq!(body.bytes, &raw[start..end]);
    assert_eq!(body.meta.content_type, "message/rfc822");
}

#[test]
fn faults_of_the_cases_are_reported() {
    let expected = [
        ("01", "eight_bit_without_charset"),
        ("06", "eight_bit_header"),
        ("06", "missing_date"),
        ("08", "bare_cr"),
        ("09", "bare_lf"),
        ("13", "line_too_long"),
        ("14", "missing_closing_boundary"),
        ("16", "missing_boundary"),
        ("30", "repeated_header"),
        ("31", "missing_date"),
        ("32", "malformed_header"),
        ("34", "unknown_charset"),
        ("35", "bad_quoted_printable"),
        ("36", "bad_base64"),
        ("37", "bad_encoding"),
        ("44", "nul_byte"),
    ];
    let cases = cases();
    for (id, code) in expected {
        let (_, raw) = cases.iter().find(|(case, _)| case.id == id).unwrap();
        let warnings = digest(raw).warnings;
        let has = warnings.iter().any(|w| w.code == code && !w.message.is_empty());
        assert!(has, "{id} {code}: {warnings:?}");
    }
    for (case, raw) in &cases {
        let is_clean = ["02", "05b", "17", "18", "20", "24", "27", "29", "42", "46", "48"];
        if is_clean.contains(&case.id.as_str()) {
            assert_eq!(digest(raw).warnings, [], "{}", case.id);
        }
    }
}
