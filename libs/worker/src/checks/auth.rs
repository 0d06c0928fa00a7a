//! SPF, DKIM and DMARC by the `mail-auth` library, over a zone or the system's name servers.

mod findings;
#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use mail_auth::{
    AuthenticatedMessage, DkimOutput, DkimResult, DmarcOutput, DmarcResult, MessageAuthenticator,
    SpfOutput, SpfResult, common::crypto::Algorithm, dmarc::verify::DmarcParameters,
    spf::verify::SpfParameters,
};
use tokio::{runtime::Handle, time::timeout};
use trapline_app::{AuthDns, AuthMail, AuthUnreadable, Authenticator};
use trapline_model::{AuthReport, DkimVerdict, DmarcVerdict, DnsSource, SpfVerdict};

use super::{
    spf,
    zone::{Seen, ZoneServer},
};
use crate::outbound::Dns;

/// How this server is called in macros of SPF records (RFC 7208, section 7.3): it has no name that matters.
const RECEIVER: &str = "unknown";

/// Checks authentication of messages.
pub struct MailAuthenticator {
    dns: Dns,
}

impl MailAuthenticator {
    /// Asks `dns` where that is wanted.
    #[must_use]
    pub fn new(dns: Dns) -> Self {
        Self { dns }
    }
}

#[async_trait]
impl Authenticator for MailAuthenticator {
    async fn authenticate(
        &self,
        mail: AuthMail,
        dns: AuthDns,
        deadline: Duration,
    ) -> Result<AuthReport, AuthUnreadable> {
        let source = dns.source();
        let server = match &dns {
            AuthDns::Zone(zone) => Some(ZoneServer::start(Some(zone)).await),
            AuthDns::None => Some(ZoneServer::start(None).await),
            AuthDns::System => None,
        };
        let server = server.transpose().map_err(|_| AuthUnreadable)?;
        let resolver = match &server {
            Some(server) => server.resolver(),
            None => self.dns.resolver(),
        };
        let resolver = resolver.ok_or(AuthUnreadable)?;
        let evaluation = Evaluation { resolver, server, source, mail };
        let (runtime, now) = (Handle::current(), evaluation.mail.now);
        // Hashes of a large body and signatures keep a thread busy, and a panic ends in its task.
        let work = tokio::task::spawn_blocking(move || {
            runtime.block_on(async { timeout(deadline, evaluation.run()).await })
        });
        let report = work.await.map_err(|error| {
            tracing::error!(%error, "a message could not be authenticated");
            AuthUnreadable
        })?;
        Ok(report.unwrap_or_else(|_| AuthReport::unknown(now, source, "timeout")))
    }
}

/// One check.
struct Evaluation {
    resolver: TokioResolver,
    /// What the resolver asks, but for the system's name servers.
    server: Option<ZoneServer>,
    source: DnsSource,
    mail: AuthMail,
}

impl Evaluation {
    async fn run(self) -> AuthReport {
        let mut report = AuthReport::unknown(self.mail.now, self.source, "no_dns");
        report.client_ip = self.mail.client_ip.map(|ip| ip.to_string());
        report.helo.clone_from(&self.mail.helo);
        let authenticator = MessageAuthenticator(self.resolver.clone());
        // A signature of a part of the body holds by RFC 6376; that it does is a finding.
        let message = AuthenticatedMessage::parse_with_opts(&self.mail.raw, None, false);
        let Some(message) = message else { return report };
        let outputs = authenticator.verify_dkim(&message).await;
        let has_dns = self.source != DnsSource::None;
        let (spf, spf_output) = if has_dns {
            self.spf(&authenticator, &mut report).await
        } else {
            (report.spf.clone(), None)
        };
        let by_spf = spf_output.unwrap_or_default();
        let parameters =
            |outputs| DmarcParameters::new(&message, outputs, domain(&self.mail.sender), &by_spf);
        report.spf = spf;
        for output in &outputs {
            let of_one = std::slice::from_ref(output);
            let nobody = SpfOutput::default();
            let alone = DmarcParameters::new(&message, of_one, "", &nobody);
            let alone = if has_dns { Some(authenticator.verify_dmarc(alone).await) } else { None };
            let mut verdict = dkim_verdict(output, has_dns, alone.as_ref());
            findings::of_signature(&mut report, &mut verdict, output, &self.resolver, &self.mail)
                .await;
            report.dkim.push(verdict);
        }
        if has_dns {
            let output = authenticator.verify_dmarc(parameters(&outputs)).await;
            report.dmarc = dmarc_verdict(&output, &report.spf);
            findings::of_policy(&mut report, &output, &self.resolver).await;
        }
        report
    }

    /// What SPF says, with the library's own word for DMARC.
    async fn spf(
        &self,
        authenticator: &MessageAuthenticator,
        report: &mut AuthReport,
    ) -> (SpfVerdict, Option<SpfOutput>) {
        let unknown =
            |reason: &str| SpfVerdict { reason: Some(reason.to_owned()), ..SpfVerdict::default() };
        let Some(ip) = self.mail.client_ip else { return (unknown("no_client_ip"), None) };
        // An IPv4 address in the form of IPv6 is one of IPv4 (RFC 7208, section 5).
        let ip = ip.to_canonical();
        let (sender, helo) = (self.mail.sender.as_str(), self.mail.helo.as_deref());
        let parameters = match (sender, helo) {
            ("", None) => return (unknown("no_sender"), None),
            ("", Some(helo)) => SpfParameters::verify_ehlo(ip, helo, RECEIVER),
            (sender, helo) => {
                SpfParameters::verify_mail_from(ip, helo.unwrap_or(RECEIVER), RECEIVER, sender)
            }
        };
        let checked = if sender.is_empty() { helo.unwrap_or_default() } else { domain(sender) };
        if !spf::is_checked(checked) {
            let result = Some(spf_word(SpfResult::None).to_owned());
            let domain = Some(checked.to_owned());
            return (SpfVerdict { result, domain, ..SpfVerdict::default() }, None);
        }
        drop(self.seen());
        let output = authenticator.verify_spf(parameters).await;
        let stands = findings::of_spf(report, &output, &self.seen(), &self.resolver).await;
        let verdict = SpfVerdict {
            result: Some(if stands { spf_word(output.result()) } else { "permerror" }.to_owned()),
            reason: None,
            domain: Some(output.domain().to_owned()),
            explanation: output.explanation().map(str::to_owned),
        };
        (verdict, stands.then_some(output))
    }

    /// What was asked for since the last call, where it is this process that answers.
    fn seen(&self) -> Seen {
        self.server.as_ref().map(ZoneServer::seen).unwrap_or_default()
    }
}

fn domain(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

fn spf_word(result: SpfResult) -> &'static str {
    match result {
        SpfResult::Pass => "pass",
        SpfResult::Fail => "fail",
        SpfResult::SoftFail => "softfail",
        SpfResult::Neutral => "neutral",
        SpfResult::TempError => "temperror",
        SpfResult::PermError => "permerror",
        SpfResult::None => "none",
    }
}

/// The word for a result, and why it is no pass.
fn dkim_word(result: &DkimResult) -> (&'static str, Option<String>) {
    match result {
        DkimResult::Pass => ("pass", None),
        DkimResult::Neutral(why) => ("neutral", Some(why.to_string())),
        DkimResult::Fail(why) => ("fail", Some(why.to_string())),
        DkimResult::PermError(why) => ("permerror", Some(why.to_string())),
        DkimResult::TempError(why) => ("temperror", Some(why.to_string())),
        DkimResult::None => ("none", None),
    }
}

/// A verdict without what its key says. `alone` is what DMARC says of this signature by itself.
fn dkim_verdict(
    output: &DkimOutput<'_>,
    has_dns: bool,
    alone: Option<&DmarcOutput>,
) -> DkimVerdict {
    let (word, reason) = dkim_word(output.result());
    let is_unknown = !has_dns && word == "temperror";
    let signature = output.signature();
    let policy = alone.filter(|alone| alone.dmarc_record().is_some());
    DkimVerdict {
        domain: signature.map(|signature| signature.d.clone()),
        selector: signature.map(|signature| signature.s.clone()),
        algorithm: signature.map(|signature| algorithm(signature.a).to_owned()),
        key_bits: None,
        result: (!is_unknown).then(|| word.to_owned()),
        reason: if is_unknown { Some("no_dns".to_owned()) } else { reason },
        signed_headers: signature.map(|signature| signature.h.clone()).unwrap_or_default(),
        aligned: policy.map(|alone| *alone.dkim_result() == DmarcResult::Pass),
    }
}

fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::RsaSha1 => "rsa-sha1",
        Algorithm::RsaSha256 => "rsa-sha256",
        Algorithm::Ed25519Sha256 => "ed25519-sha256",
    }
}

/// Without SPF, only what signatures say is known: a pass, or that there is no policy.
fn dmarc_verdict(output: &DmarcOutput, spf: &SpfVerdict) -> DmarcVerdict {
    let has_policy = output.dmarc_record().is_some();
    let word = match output.result() {
        DmarcResult::Pass => "pass",
        DmarcResult::Fail(_) => "fail",
        DmarcResult::TempError(_) => "temperror",
        DmarcResult::PermError(_) => "permerror",
        DmarcResult::None => "none",
    };
    let is_unknown = has_policy && word == "fail" && spf.result.is_none();
    let aligned = |result: &DmarcResult| has_policy.then(|| *result == DmarcResult::Pass);
    DmarcVerdict {
        result: (!is_unknown).then(|| word.to_owned()),
        reason: spf.reason.clone().filter(|_| is_unknown),
        domain: Some(output.domain().to_owned()).filter(|domain| !domain.is_empty()),
        policy: has_policy.then(|| output.policy().to_string()),
        record: None,
        spf_aligned: aligned(output.spf_result()).filter(|_| spf.result.is_some()),
        dkim_aligned: aligned(output.dkim_result()),
    }
}
