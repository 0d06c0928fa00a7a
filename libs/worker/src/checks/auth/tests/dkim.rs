//! Mail that dkimpy and mailauth signed, whole and changed: our verdict is theirs. `tests/clients/dkim/make.py` wrote it.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;
use trapline_model::{AuthReport, DnsZone};

use super::{authenticate, text};

/// Signatures that the library takes for broken: it counts `l=` before blanks are folded, and not after.
const CUT_EARLY: &str = "/relaxed, l=";

#[derive(Deserialize)]
struct Signed {
    records: BTreeMap<String, String>,
    /// What is replaced, and by what; an empty first one stands for the end.
    changes: BTreeMap<String, (String, String)>,
    mails: Vec<SignedMail>,
}

#[derive(Deserialize)]
struct SignedMail {
    about: String,
    message: String,
    verdicts: Vec<Said>,
}

/// What others say of each signature, by its selector.
#[derive(Deserialize)]
struct Said {
    change: String,
    dkimpy: BTreeMap<String, bool>,
    mailauth: BTreeMap<String, String>,
}

impl Said {
    fn agree(&self) -> bool {
        let passes =
            self.mailauth.iter().map(|(selector, word)| (selector.clone(), word == "pass"));
        passes.collect::<BTreeMap<_, _>>() == self.dkimpy
    }
}

fn signed() -> Signed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/dkim/mails.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The keys, and a policy that only a signature can meet.
fn zone(records: &BTreeMap<String, String>) -> DnsZone {
    let policy = text("_dmarc.example.com", "v=DMARC1; p=reject; adkim=s");
    let records = records.iter().map(|(name, value)| text(name, value)).chain([policy]);
    DnsZone { records: records.collect(), ..DnsZone::default() }
}

fn words(report: &AuthReport) -> BTreeMap<String, String> {
    let word = |verdict: &trapline_model::DkimVerdict| {
        Some((verdict.selector.clone()?, verdict.result.clone()?))
    };
    report.dkim.iter().filter_map(word).collect()
}

#[tokio::test]
async fn verdicts_on_signatures_are_those_of_dkimpy_and_mailauth() {
    let signed = signed();
    let (mut verdicts, mut wrong) = (0, Vec::new());
    for mail in &signed.mails {
        for said in &mail.verdicts {
            let (before, after) = &signed.changes[&said.change];
            let raw = if before.is_empty() {
                mail.message.clone() + after
            } else {
                mail.message.replacen(before, after, 1)
            };
            let report = authenticate(super::mail(&raw), zone(&signed.records)).await;
            let ours = words(&report);
            let theirs = if mail.about.contains(CUT_EARLY) {
                ours.keys().map(|selector| (selector.clone(), "neutral".to_owned())).collect()
            } else {
                assert!(said.agree(), "{}, {}", mail.about, said.change);
                said.mailauth.clone()
            };
            let passes = theirs.values().any(|word| word == "pass");
            if ours != theirs || report.dmarc.dkim_aligned != Some(passes) {
                wrong.push(format!("{}, {}: {ours:?}, {theirs:?}", mail.about, said.change));
            }
            verdicts += ours.len();
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    // Four kinds of key alone and two together, by two signers, four canonicalizations, with and without l=.
    assert_eq!(verdicts, (4 + 2) * 2 * 4 * 2 * signed.changes.len());
}
