//! Many mutated messages through SPF, DKIM and DMARC over random zones: none panics, hangs or grows, verdicts are of the
//! words that the API names, and come within the time of a check. Arguments: how many, and a seed number.

#[path = "../../../tests/fuzz/campaign.rs"]
mod campaign;
#[path = "../../../tests/fuzz/cases.rs"]
mod cases;
#[path = "../../../tests/fuzz/mutation.rs"]
mod mutation;
#[path = "mutate_auth/zones.rs"]
mod zones;

use std::{process::ExitCode, time::Duration};

use mutation::{Mutator, Random};
use tokio::runtime::Runtime;
use trapline_app::{AuthDns, AuthMail, Authenticator as _};
use trapline_model::{AuthReport, Time};
use trapline_worker::{MailAuthenticator, outbound::Dns};
use zones::RecordPool;

/// After the signatures of the mails that are seeds, in milliseconds since 1970.
const NOW: i64 = 1_800_000_000_000;
/// More than any input may take.
const DEADLINE: Duration = Duration::from_secs(20);

const SIGNATURE: &[u8] = b"DKIM-Signature";
/// Signatures that a message may have to be looked at.
const SIGNATURES: usize = 20;

const SPF: &[&str] = &["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"];
const DKIM: &[&str] = &["pass", "fail", "neutral", "none", "temperror", "permerror"];
const DMARC: &[&str] = &["pass", "fail", "none", "temperror", "permerror"];

/// Who sends: domains of the zones, and what is none.
const SENDERS: &[&str] = &[
    "",
    "a@example.com",
    "\"a b\"@example.com",
    "a@e1.example.com",
    "a@mail.example.com",
    "@example.com",
    "a@",
    "a@-.com",
    "%{i}@example.com",
];
const GREETINGS: &[&str] =
    &["mail.example.com", "example.com", "[192.0.2.1]", "-", "a..b", "OEMCOMPUTER"];
const ADDRESSES: &[&str] =
    &["192.0.2.1", "1.2.3.4", "::1", "2001:db8::1", "::ffff:192.0.2.1", "0.0.0.0"];

/// What signatures and their readers are made of.
#[rustfmt::skip]
const TOKENS: &[&[u8]] = &[
    b"\r\n", b"\r\n\r\n", b"\r\n\t", b"\n", b"\0", b"\xFF", b"=", b";", b":", b"v=1;", b"a=rsa-sha256;", b"a=ed25519-sha256;", b"a=rsa-sha1;",
    b"c=relaxed/simple;", b"c=simple;", b"d=example.com;", b"d=.;", b"s=s1;", b"i=@example.com;", b"l=0;", b"l=18446744073709551616;", b"t=0;", b"x=1;",
    b"h=from:from:subject;", b"h=;", b"bh=;", b"b=;", b"bh=AA==;", b"q=dns/txt;", b"z=from:a;", b"From: a@example.com\r\n", b"From: a@example.com, b@example.net\r\n",
    b"From: <>\r\n", b"From: a@[192.0.2.1]\r\n", b"Sender: a@example.com\r\n",
    b"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=s; h=from; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AA==\r\n",
];

fn main() -> ExitCode {
    let seeds = [cases::seeds(), zones::signed_mails()].concat();
    let (pool, world) = (RecordPool::read(), World::new());
    let check = |raw: &[u8], random: &mut Random| world.check(raw, &pool, random);
    campaign::run("authentication", &Mutator::new(seeds, TOKENS), check)
}

/// What checks, and where that runs.
struct World {
    runtime: Runtime,
    authenticator: MailAuthenticator,
}

impl World {
    #[expect(clippy::expect_used, reason = "without threads nothing is checked")]
    fn new() -> Self {
        let runtime = Runtime::new().expect("threads can be started");
        let authenticator = MailAuthenticator::new(Dns::system());
        Self { runtime, authenticator }
    }

    #[expect(clippy::expect_used, reason = "a check fails by panicking")]
    fn check(&self, raw: &[u8], pool: &RecordPool, random: &mut Random) {
        // The service looks at no message with more.
        if signatures(raw) > SIGNATURES {
            return;
        }
        let maybe = |values: &'static [&'static str], random: &mut Random| {
            (random.below(4) > 0).then(|| *random.pick(values))
        };
        let mail = AuthMail {
            raw: raw.to_vec().into(),
            sender: (*random.pick(SENDERS)).to_owned(),
            client_ip: maybe(ADDRESSES, random).and_then(|ip| ip.parse().ok()),
            helo: maybe(GREETINGS, random).map(str::to_owned),
            now: Time::from_millis(NOW),
        };
        let dns = AuthDns::Zone(pool.zone(random));
        let report = self.runtime.block_on(self.authenticator.authenticate(mail, dns, DEADLINE));
        judge(&report.expect("a report"));
    }
}

/// Lines that begin as a signature does.
fn signatures(raw: &[u8]) -> usize {
    let begins = |line: &&[u8]| {
        line.get(..SIGNATURE.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(SIGNATURE))
    };
    raw.split(|byte| *byte == b'\n').filter(begins).count()
}

fn judge(report: &AuthReport) {
    let holds = |word: Option<&String>, words: &[&str]| {
        word.is_none_or(|word| words.contains(&word.as_str()))
    };
    assert!(holds(report.spf.result.as_ref(), SPF), "{report:?}");
    assert!(holds(report.dmarc.result.as_ref(), DMARC), "{report:?}");
    for verdict in &report.dkim {
        assert!(holds(verdict.result.as_ref(), DKIM), "{report:?}");
    }
    let reasons = [&report.spf.reason, &report.dmarc.reason];
    assert!(reasons.iter().all(|reason| reason.as_deref() != Some("timeout")), "{report:?}");
}
