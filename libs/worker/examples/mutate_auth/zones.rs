//! Zones of records that suites of SPF and DKIM have, put together and changed by chance.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde::Deserialize;
use serde_json::Value;
use trapline_model::{DnsRecord, DnsRecordType, DnsZone};

use crate::mutation::Random;

/// The most records that are drawn; the API takes 200.
const DRAWN: usize = 60;

/// What is put into values: terms, tags, and what their readers stumble over.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "v=spf1 ", "v=DMARC1; ", "v=DKIM1; ", "k=rsa; ", "k=ed25519; ", "p=", "t=y:s; ", "h=sha256; ", "include:example.com ", "redirect=example.com ", "exp=exp.example.com ",
    "exists:%{ir}.%{v}._spf.%{d2} ", "a:%{h}/24//64 ", "mx ", "ptr ", "+all", "-all", "?all", "~all", "ip4:192.0.2.0/33 ", "ip6:::/129 ", "ip4:1.2.3.4/0 ", "%", "%{", "%{S99R-}",
    "p=reject; ", "p=none; ", "sp=quarantine; ", "np=reject; ", "adkim=s; ", "aspf=s; ", "rua=mailto:a@example.com!10m; ", "pct=101; ", "psd=y; ", "t=y; ", ";", "=", " ", "\t", "\u{0}",
    "é", "\u{feff}", "99999999999999999999", ".", "..",
];
const NAMES: &[&str] = &[
    "example.com",
    "_dmarc.example.com",
    "_dmarc.com",
    "_dmarc.example.net",
    "_spf.example.com",
    "mail.example.com",
    "s._domainkey.example.com",
    "1.2.0.192.in-addr.arpa",
    "1.2.0.192.in-addr._spf.example.com",
    "*.example.com",
];

#[derive(Deserialize)]
struct SpfCase {
    zone: Vec<Value>,
}

#[derive(Deserialize)]
struct SignedMails {
    records: BTreeMap<String, String>,
    mails: Vec<SignedMail>,
}

#[derive(Deserialize)]
struct SignedMail {
    message: String,
}

#[expect(clippy::expect_used, reason = "without its seeds, a run says nothing")]
fn read<T: serde::de::DeserializeOwned>(path: &str) -> T {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path);
    let bytes = fs::read(path).expect("a suite can be read");
    serde_json::from_slice(&bytes).expect("a suite is JSON")
}

fn signatures() -> SignedMails {
    read("dkim/mails.json")
}

/// Mails that others signed with keys of the zones.
pub(crate) fn signed_mails() -> Vec<Vec<u8>> {
    signatures().mails.into_iter().map(|mail| mail.message.into_bytes()).collect()
}

/// The records that zones are made of.
pub(crate) struct RecordPool {
    keys: Vec<DnsRecord>,
    others: Vec<DnsRecord>,
}

impl RecordPool {
    /// Those of the suites.
    pub(crate) fn read() -> Self {
        let keys = signatures().records.into_iter().map(|(name, value)| {
            let kind = DnsRecordType::Txt;
            DnsRecord { name, kind, value }
        });
        let suite: Vec<SpfCase> = read("spf/rfc7208.json");
        let others = suite.into_iter().flat_map(|case| case.zone);
        // What never answers is no record.
        let others = others.filter_map(|record| DnsRecord::deserialize(record).ok());
        Self { keys: keys.collect(), others: others.collect() }
    }

    /// The keys, most of the time, and some of the others, as they are or changed.
    pub(crate) fn zone(&self, random: &mut Random) -> DnsZone {
        let mut records: Vec<_> =
            self.keys.iter().filter(|_| random.below(8) > 0).cloned().collect();
        for _ in 0..random.below(DRAWN) {
            let mut record = random.pick::<DnsRecord>(&self.others).clone();
            if random.below(2) == 0 {
                (*random.pick(NAMES)).clone_into(&mut record.name);
            }
            for _ in 0..random.below(4) {
                change(&mut record.value, random);
            }
            records.push(record);
        }
        for record in &mut records {
            if random.below(32) == 0 {
                change(&mut record.value, random);
            }
        }
        DnsZone { records, ..DnsZone::default() }
    }
}

/// Puts a word in, cuts letters out, or begins anew.
fn change(value: &mut String, random: &mut Random) {
    let places: Vec<_> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
    let at = *random.pick::<usize>(&places);
    match random.below(4) {
        0 => value.truncate(at),
        1 => (*random.pick(WORDS)).clone_into(value),
        _ => value.insert_str(at, random.pick::<&str>(WORDS)),
    }
}
