//! What SPF, DKIM and DMARC say of a message, and the DNS that they are asked of.

use serde::{Deserialize, Serialize};

use crate::{FindingSeverity, Time};

/// DNS of an inbox's own: the sender's as it will be, before anything is published.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DnsZone {
    /// All the records that there are.
    #[schema(max_items = 200)]
    pub records: Vec<DnsRecord>,
    /// The address that mail will come from, which SPF is about.
    #[serde(default)]
    #[schema(max_length = 45, example = "192.0.2.1")]
    pub client_ip: Option<String>,
    /// The name by which that server greets.
    #[serde(default)]
    #[schema(max_length = 253, example = "mail.example.com")]
    pub helo: Option<String>,
}

/// A record of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DnsRecord {
    /// Whose record it is, as in `_dmarc.example.com`; a dot at the end makes no difference.
    #[schema(min_length = 1, max_length = 254, example = "_dmarc.example.com")]
    pub name: String,
    /// What kind of record it is.
    #[serde(rename = "type")]
    pub kind: DnsRecordType,
    /// What it says: for MX a preference and a name, as in `10 mail.example.com`.
    #[schema(max_length = 4_000, example = "v=DMARC1; p=reject; rua=mailto:dmarc@example.com")]
    pub value: String,
}

/// The kinds of records that a zone has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum DnsRecordType {
    /// Text.
    Txt,
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// A mail server, with its preference.
    Mx,
    /// The name of an address, of which the name ends in `in-addr.arpa` or `ip6.arpa`.
    Ptr,
    /// Another name.
    Cname,
}

/// Where DNS came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DnsSource {
    /// The inbox's own zone.
    Zone,
    /// The name servers of this server's system.
    Dns,
    /// Nowhere: only what needs no DNS was checked.
    None,
}

/// Whether a message would pass SPF, DKIM and DMARC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthReport {
    /// When it was checked.
    pub checked_at: Time,
    /// Where DNS came from.
    pub source: DnsSource,
    /// The address that the mail is taken to come from; null where nobody said one.
    #[schema(required, example = "192.0.2.1")]
    pub client_ip: Option<String>,
    /// The name by which its server is taken to greet.
    #[schema(required, example = "mail.example.com")]
    pub helo: Option<String>,
    /// The address that the mail comes from, and the sender of its envelope.
    pub spf: SpfVerdict,
    /// Each signature, in the order of the message.
    pub dkim: Vec<DkimVerdict>,
    /// The author's domain.
    pub dmarc: DmarcVerdict,
    /// What a verdict does not say.
    pub findings: Vec<AuthFinding>,
}

/// What SPF says (RFC 7208).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SpfVerdict {
    /// `pass`, `fail`, `softfail`, `neutral`, `none`, `temperror` or `permerror`; null where it is unknown.
    #[schema(required, example = "pass")]
    pub result: Option<String>,
    /// Why it is unknown: `no_dns`, `no_client_ip`, `no_sender` or `timeout`.
    #[schema(required, example = json!(null))]
    pub reason: Option<String>,
    /// Whose record it is about: of the envelope's sender, or of the greeting where there is none.
    #[schema(required, example = "example.com")]
    pub domain: Option<String>,
    /// What the domain says of a failure.
    #[schema(required, example = json!(null))]
    pub explanation: Option<String>,
}

/// What DKIM says of a signature (RFC 6376).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DkimVerdict {
    /// Who signed; null where the signature cannot be read.
    #[schema(required, example = "example.com")]
    pub domain: Option<String>,
    /// Which of the domain's keys it is.
    #[schema(required, example = "s1")]
    pub selector: Option<String>,
    /// `rsa-sha256`, `ed25519-sha256` or `rsa-sha1`.
    #[schema(required, example = "rsa-sha256")]
    pub algorithm: Option<String>,
    /// How long the published key is.
    #[schema(required, example = 2048)]
    pub key_bits: Option<usize>,
    /// `pass`, `fail`, `neutral`, `temperror` or `permerror`; null where it is unknown.
    #[schema(required, example = "pass")]
    pub result: Option<String>,
    /// Why it is no pass: `no_dns`, `timeout`, or what is wrong, for people.
    #[schema(required, example = json!(null))]
    pub reason: Option<String>,
    /// The fields that it covers.
    #[schema(example = json!(["from", "subject", "date"]))]
    pub signed_headers: Vec<String>,
    /// Whether its domain is the author's, or of the same organisation where the policy allows that; null where
    /// no policy is known.
    #[schema(required, example = true)]
    pub aligned: Option<bool>,
}

/// What DMARC says (RFC 9989).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DmarcVerdict {
    /// `pass`, `fail`, `none` (there is no policy), `temperror` or `permerror`; null where it is unknown.
    #[schema(required, example = "pass")]
    pub result: Option<String>,
    /// Why it is unknown: `no_dns` or `timeout`.
    #[schema(required, example = json!(null))]
    pub reason: Option<String>,
    /// The author's domain; null where there is not one alone.
    #[schema(required, example = "example.com")]
    pub domain: Option<String>,
    /// What is to be done with mail that fails: `none`, `quarantine` or `reject`.
    #[schema(required, example = "reject")]
    pub policy: Option<String>,
    /// The domain's own record; null where it has none, or an organisation's holds for it.
    #[schema(required, example = "v=DMARC1; p=reject; rua=mailto:dmarc@example.com")]
    pub record: Option<String>,
    /// Whether SPF passes for a domain that is the author's; null where no policy is known.
    #[schema(required, example = true)]
    pub spf_aligned: Option<bool>,
    /// Whether a signature passes for a domain that is the author's; null where no policy is known.
    #[schema(required, example = true)]
    pub dkim_aligned: Option<bool>,
}

/// Something about SPF, DKIM or DMARC that verdicts do not say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuthFinding {
    /// A stable word.
    #[schema(example = "dmarc_no_rua")]
    pub code: String,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// For people.
    #[schema(example = "The DMARC record asks for no reports (rua).")]
    pub message: String,
}

impl AuthReport {
    /// A report in which everything is unknown for one reason.
    #[must_use]
    pub fn unknown(checked_at: Time, source: DnsSource, reason: &str) -> Self {
        let reason = Some(reason.to_owned());
        Self {
            checked_at,
            source,
            client_ip: None,
            helo: None,
            spf: SpfVerdict { reason: reason.clone(), ..SpfVerdict::default() },
            dkim: Vec::new(),
            dmarc: DmarcVerdict { reason, ..DmarcVerdict::default() },
            findings: Vec::new(),
        }
    }

    /// Adds a finding, once.
    pub fn find(&mut self, code: &str, severity: FindingSeverity, message: &str) {
        if self.findings.iter().all(|finding| finding.code != code) {
            let (code, message) = (code.to_owned(), message.to_owned());
            self.findings.push(AuthFinding { code, severity, message });
        }
    }
}
