//! What verdicts of SPF, DKIM and DMARC do not say.

use hickory_resolver::{
    TokioResolver,
    proto::rr::{Name, RData},
};
use mail_auth::{
    DkimOutput, DkimResult, DmarcOutput, Error, SpfOutput, SpfResult, dkim::DkimError,
};
use trapline_app::AuthMail;
use trapline_model::{AuthReport, DkimVerdict, FindingSeverity};
use x509_parser::{prelude::FromDer as _, public_key::PublicKey, x509::SubjectPublicKeyInfo};

use super::{Seen, spf};

use FindingSeverity::{Error as Bad, Notice, Warning};

/// The shortest RSA key that is taken for safe (RFC 8301, section 3.2).
const SAFE_BITS: usize = 2_048;
/// Bits of an Ed25519 key (RFC 8463).
const ED25519_BITS: usize = 256;
/// Look-ups, and such without an answer, that an SPF record may cost (RFC 7208, section 4.6.4).
const LOOKUPS: usize = 10;
const VOID_LOOKUPS: usize = 2;
/// Fields that a signature has to cover for its message to mean what its author wrote.
const SIGNED: [(&str, &str); 3] = [
    ("from", "A signature does not cover From."),
    ("subject", "A signature does not cover Subject."),
    ("date", "A signature does not cover Date."),
];

/// What is to be said of a signature and its key; the length of the key goes into the verdict.
pub(super) async fn of_signature(
    report: &mut AuthReport,
    verdict: &mut DkimVerdict,
    output: &DkimOutput<'_>,
    resolver: &TokioResolver,
    mail: &AuthMail,
) {
    let Some(signature) = output.signature() else { return };
    let now = u64::try_from(mail.now.millis() / 1_000).unwrap_or_default();
    for (field, message) in SIGNED {
        if !signature.h.iter().any(|signed| signed.eq_ignore_ascii_case(field)) {
            report.find(&format!("dkim_{field}_unsigned"), Warning, message);
        }
    }
    let is_broken =
        *output.result() == DkimResult::Neutral(Error::Dkim(DkimError::FailedBodyHashMatch));
    for (holds, code, severity, message) in [
        (
            signature.l > 0,
            "dkim_length",
            Warning,
            "A signature covers only a part of the body (l=).",
        ),
        (
            signature.x > 0 && signature.x <= now,
            "dkim_expired",
            Bad,
            "A signature has expired (x=).",
        ),
        (signature.t > now, "dkim_future", Warning, "A signature is of a time to come (t=)."),
        (
            verdict.algorithm.as_deref() == Some("rsa-sha1"),
            "dkim_sha1",
            Bad,
            "A signature uses SHA-1, which nobody takes any more (RFC 8301).",
        ),
        (
            is_broken && has_bare_lf(&mail.raw),
            "bare_lf",
            Bad,
            "The body has line feeds without a carriage return, which its hash does not survive.",
        ),
    ] {
        if holds {
            report.find(code, severity, message);
        }
    }
    let name = format!("{}._domainkey.{}", signature.s, signature.d);
    let Some(key) = texts(resolver, &name).await.into_iter().next() else { return };
    verdict.key_bits = key_bits(&key);
    if tag(&key, "t").is_some_and(|flags| flags.split(':').any(|flag| flag.trim() == "y")) {
        report.find("dkim_testing", Warning, "A key says that its domain only tries DKIM (t=y).");
    }
    if tag(&key, "k").is_none_or(|kind| kind == "rsa")
        && verdict.key_bits.is_some_and(|bits| bits < SAFE_BITS)
    {
        report.find("dkim_short_key", Warning, "A key has fewer than 2,048 bits (RFC 8301).");
    }
}

/// What is to be said of SPF, and whether its verdict stands: not where its record or one that it leads to is none, nor
/// where too many look-ups find nothing. `seen` is what it cost, where that is known.
pub(super) async fn of_spf(
    report: &mut AuthReport,
    output: &SpfOutput,
    seen: &Seen,
    resolver: &TokioResolver,
) -> bool {
    let own = texts(resolver, output.domain()).await;
    let is_all = |term: &str| matches!(term, "all" | "+all");
    let mut records = own.iter().filter(|text| spf::is_spf(text));
    let answers = || seen.answers.iter().chain([&own]);
    let count = |answer: &[String]| answer.iter().filter(|text| spf::is_spf(text)).count();
    let mut reached = answers().flatten().filter(|text| spf::is_spf(text));
    let (is_many, is_void) = (answers().any(|answer| count(answer) > 1), seen.void > VOID_LOOKUPS);
    let is_broken = reached.any(|text| !spf::is_well_formed(text));
    for (holds, code, message) in [
        (
            records.any(|text| text.split(' ').any(is_all)),
            "spf_all",
            "The SPF record lets everybody send (+all).",
        ),
        (is_many, "spf_many", "There is more than one SPF record (RFC 7208, section 3.2)."),
        (
            output.result() == SpfResult::PermError && seen.asked > LOOKUPS,
            "spf_lookups",
            "The SPF record costs more than 10 look-ups (RFC 7208, section 4.6.4).",
        ),
        (
            is_void,
            "spf_void_lookups",
            "More than 2 look-ups of the SPF record find nothing (RFC 7208, section 4.6.4).",
        ),
        (
            is_broken,
            "spf_syntax",
            "The SPF record, or one that it leads to, is none (RFC 7208, section 4.6).",
        ),
    ] {
        if holds {
            report.find(code, Bad, message);
        }
    }
    !(is_many || is_void || is_broken)
}

/// What is to be said of the policy; the domain's own record goes into the verdict.
pub(super) async fn of_policy(
    report: &mut AuthReport,
    output: &DmarcOutput,
    resolver: &TokioResolver,
) {
    let Some(record) = output.dmarc_record() else {
        let message =
            "The author's domain has no DMARC record, which large mailbox providers want.";
        report.find("dmarc_missing", Warning, message);
        return;
    };
    let texts = texts(resolver, &format!("_dmarc.{}", output.domain())).await;
    report.dmarc.record =
        texts.into_iter().find(|text| text.to_ascii_uppercase().starts_with("V=DMARC1"));
    if report.dmarc.policy.as_deref() == Some("none") {
        report.find("dmarc_none", Notice, "The DMARC policy lets mail pass that fails (p=none).");
    }
    if record.rua.is_empty() {
        report.find("dmarc_no_rua", Notice, "The DMARC record asks for no reports (rua).");
    }
    if record.t {
        report.find("dmarc_testing", Notice, "The DMARC policy is only tried (t=y).");
    }
}

/// The texts of a name; none where it has none or nobody answers.
async fn texts(resolver: &TokioResolver, name: &str) -> Vec<String> {
    let Ok(mut name) = Name::from_ascii(name) else { return Vec::new() };
    name.set_fqdn(true);
    let Ok(found) = resolver.txt_lookup(name).await else { return Vec::new() };
    let texts = found.answers().iter().filter_map(|record| match &record.data {
        RData::TXT(text) => Some(text.txt_data.concat()),
        _ => None,
    });
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// The value of a tag of a list of them (RFC 6376, section 3.2).
fn tag<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let mut tags = list.split(';').filter_map(|tag| tag.split_once('='));
    tags.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim())
}

/// How long a published key is.
fn key_bits(key: &str) -> Option<usize> {
    if tag(key, "k") == Some("ed25519") {
        return Some(ED25519_BITS);
    }
    let public: String = tag(key, "p")?.split_whitespace().collect();
    let der = data_encoding::BASE64.decode(public.as_bytes()).ok()?;
    let (_, info) = SubjectPublicKeyInfo::from_der(&der).ok()?;
    match info.parsed().ok()? {
        PublicKey::RSA(key) => Some(key.key_size()),
        _ => None,
    }
}

fn has_bare_lf(raw: &[u8]) -> bool {
    raw.iter().enumerate().any(|(at, byte)| *byte == b'\n' && (at == 0 || raw[at - 1] != b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_and_bare_line_feeds_found() {
        let key = "v=DKIM1; k=rsa; t=y:s; p=AB CD";
        assert_eq!(
            (tag(key, "t"), tag(key, "p"), tag(key, "g")),
            (Some("y:s"), Some("AB CD"), None)
        );
        assert_eq!(key_bits("v=DKIM1; k=ed25519; p=AA=="), Some(ED25519_BITS));
        assert_eq!(key_bits("v=DKIM1; p=AA=="), None);
        assert!(has_bare_lf(b"a\nb") && has_bare_lf(b"\n") && !has_bare_lf(b"a\r\nb\r\n"));
    }
}
