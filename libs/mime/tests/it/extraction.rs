//! How good the search for one-time codes is, over the mails of `tests/corpus`.

mod page;
mod score;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use data_encoding::{BASE64_MIME, HEXLOWER};
use regex::Regex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use trapline_mime::{codes, visible_text};

use score::Score;

/// Of `codes.jsonl`: who changes a label says so here too.
const FROZEN: &str = "254812ce3e694a768be435f73e645680bb3b05cd402d46c47034a938f7890433";

/// A mail, and what a person would type from it; see the folder's README.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    id: String,
    language: String,
    kind: String,
    codes: Vec<String>,
    subject: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    html: Option<String>,
}

impl Labelled {
    /// As it is sent: both bodies in base64 and UTF-8.
    fn raw(&self) -> Vec<u8> {
        let subject =
            BASE64_MIME.encode(self.subject.as_bytes()).replace("\r\n", "?=\r\n =?utf-8?B?");
        let subject = subject.trim_end_matches("?=\r\n =?utf-8?B?");
        let mut raw = format!(
            "From: a@example.com\r\nTo: b@example.com\r\nSubject: =?utf-8?B?{subject}?=\r\nMIME-Version: 1.0\r\n\
            Content-Type: multipart/alternative; boundary=BB\r\n"
        );
        for (kind, body) in [("plain", &self.text), ("html", &self.html)] {
            let Some(body) = body else { continue };
            let body = BASE64_MIME.encode(body.as_bytes());
            write!(
                raw,
                "\r\n--BB\r\nContent-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{body}"
            )
            .unwrap();
        }
        (raw + "\r\n--BB--\r\n").into_bytes()
    }

    /// What the pattern that test suites use finds in it.
    fn by_pattern(&self, pattern: &Regex) -> Vec<String> {
        let html = self.html.as_deref().map(visible_text);
        let text = [Some(self.subject.clone()), self.text.clone(), html];
        let text = text.into_iter().flatten().collect::<Vec<_>>().join("\n");
        pattern.find_iter(&text).map(|found| found.as_str().to_owned()).collect()
    }
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name))
        .unwrap()
}

fn mails(name: &str) -> Vec<Labelled> {
    let text = String::from_utf8(bytes(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The score of one set, with a line for each mail that is not as its label says.
fn judge(mails: &[Labelled]) -> (Score, Vec<String>) {
    let (mut score, mut wrong) = (Score::default(), Vec::new());
    for mail in mails {
        let found = codes(&mail.raw());
        score.add(&mail.codes, &found);
        if found != mail.codes {
            wrong.push(format!(
                "{} ({}): {:?} instead of {:?}",
                mail.id, mail.kind, found, mail.codes
            ));
        }
    }
    (score, wrong)
}

/// `make corpus` prints what is wrong and writes the page.
#[test]
fn codes_of_the_frozen_mails_are_found_as_the_page_says() {
    let frozen = HEXLOWER.encode(&Sha256::digest(bytes("codes.jsonl")));
    assert_eq!(frozen, FROZEN, "the frozen mails were changed");
    let mails = mails("codes.jsonl");
    let (score, wrong) = judge(&mails);
    println!("frozen: {score}\n{}", wrong.join("\n"));
    assert!(score.recall() >= 0.95 && score.precision() >= 0.98, "{score}\n{}", wrong.join("\n"));
    assert!(score.first() >= 0.97 && score.empty() >= 0.98, "{score}\n{}", wrong.join("\n"));
    page::holds("whole", &page::whole(&mails));
    page::holds("languages", &page::groups(&mails, "language", |mail| &mail.language));
    page::holds("kinds", &page::groups(&mails, "kind", |mail| &mail.kind));
    page::holds("wrong", &page::list(&wrong));
}

#[test]
fn codes_of_the_mails_to_tune_on_are_all_found() {
    let (score, wrong) = judge(&mails("codes-tuning.jsonl"));
    println!("tuning: {score}\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{score}\n{}", wrong.join("\n"));
}

#[test]
fn sets_are_apart_and_have_each_language() {
    let (frozen, tuning) = (mails("codes.jsonl"), mails("codes-tuning.jsonl"));
    for mail in &frozen {
        let same = |other: &&Labelled| other.text == mail.text && other.html == mail.html;
        assert!(tuning.iter().find(same).is_none(), "{} is in both sets", mail.id);
        assert!(tuning.iter().any(|other| other.language == mail.language), "{}", mail.language);
    }
    let without = frozen.iter().filter(|mail| mail.codes.is_empty()).count();
    assert_eq!((frozen.len(), without), (400, 200));
}
