//! Whether a message would pass SPF, DKIM and DMARC.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::timeout;
use trapline_model::{AuthReport, DkimVerdict, DnsSource, FindingSeverity, MessageId, Principal};

use super::{AuthDns, AuthMail, Authenticator, Checks, zones::is_name};
use crate::{Error, Result, metrics};

/// Checks of a process at the same time: each may hash a message of 25 MiB.
pub(super) const AT_ONCE: usize = 16;
/// How long one waits for its turn.
const TURN: Duration = Duration::from_secs(10);
/// Time for all questions of one check.
const DEADLINE: Duration = Duration::from_secs(10);
/// Signatures that are looked at: each may want a hash of the whole body.
const SIGNATURES: usize = 20;

/// How the sender's server is taken to be, where the inbox's zone does not say it.
#[derive(Debug, Clone, Default)]
pub struct AuthQuery {
    /// The address that mail comes from.
    pub client_ip: Option<IpAddr>,
    /// The name by which the server greets.
    pub helo: Option<String>,
    /// Whether name servers may be asked where the inbox has no zone.
    pub dns: bool,
}

impl Checks {
    /// Sets who checks authentication, once; a later one is ignored.
    pub fn set_authenticator(&self, authenticator: Arc<dyn Authenticator>) {
        drop(self.authenticator.set(authenticator));
    }

    /// Whether a message would pass SPF, DKIM and DMARC by the zone of its inbox, or by DNS if `query` wants it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such message, [`Error::Invalid`] for a greeting that is no name,
    /// [`Error::ChecksDisabled`] for DNS where nobody may be asked, [`Error::TooMany`] for DNS after 30 calls in
    /// a minute, [`Error::Damaged`] when the message's bytes are gone or not those that were stored, and
    /// [`Error::Unavailable`] when too many are checked.
    pub async fn auth(
        &self,
        by: &Principal,
        id: MessageId,
        query: AuthQuery,
    ) -> Result<AuthReport> {
        let record = self.messages.record(by.team, id).await?;
        if query.helo.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(Error::invalid("helo", "bad_name", "must be a host name"));
        }
        let zone = self.zone_of(id.inbox).await?;
        if zone.is_none() && query.dns {
            self.may_ask(by).await?;
        }
        let raw = self.messages.source(&record).await?;
        let count = |raw: &[u8]| trapline_checks::signatures(raw);
        let signatures = self.messages.run_parser(raw.clone(), count).await?;
        let given = zone.as_ref();
        let mail = AuthMail {
            raw,
            sender: record.envelope.from,
            client_ip: query.client_ip.or_else(|| given?.client_ip.as_deref()?.parse().ok()),
            helo: query.helo.or_else(|| given?.helo.clone()),
            now: self.clock.now(),
        };
        let dns = match zone {
            Some(zone) => AuthDns::Zone(zone),
            None if query.dns => AuthDns::System,
            None => AuthDns::None,
        };
        if signatures > SIGNATURES {
            return Ok(too_many_signatures(&mail, dns.source()));
        }
        let began = Instant::now();
        let turn = timeout(TURN, self.authentications.acquire()).await;
        let _turn = turn.map_err(|_| Error::Unavailable)?;
        let authenticator = self.authenticator.get().ok_or(Error::Unavailable)?;
        let report = authenticator.authenticate(mail, dns, DEADLINE).await;
        let outcome = if report.is_ok() { "ok" } else { "failed" };
        metrics::check_done("auth", outcome, began.elapsed());
        report.map_err(|_| Error::Unavailable)
    }
}

/// What is said of a message whose signatures nobody looks at.
fn too_many_signatures(mail: &AuthMail, source: DnsSource) -> AuthReport {
    let reason = Some("too_many_signatures".to_owned());
    let signature = DkimVerdict {
        result: Some("permerror".to_owned()),
        reason: reason.clone(),
        ..DkimVerdict::default()
    };
    let mut report = AuthReport::unknown(mail.now, source, "too_many_signatures");
    report.client_ip = mail.client_ip.map(|ip| ip.to_string());
    report.helo.clone_from(&mail.helo);
    report.dkim = vec![signature];
    report.find(
        "too_many_signatures",
        FindingSeverity::Error,
        "There are more than 20 DKIM-Signature fields, and none was looked at.",
    );
    report
}
