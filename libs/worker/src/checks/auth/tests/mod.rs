//! Verdicts against those of others.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dkim;
mod dmarc;
mod spf;

use std::{sync::LazyLock, time::Duration};

use trapline_app::{AuthDns, AuthMail, Authenticator as _};
use trapline_model::{AuthReport, DnsRecord, DnsRecordType, DnsZone, Time};

use super::MailAuthenticator;
use crate::outbound::Dns;

/// More than a verdict takes on a machine with other work.
const DEADLINE: Duration = Duration::from_mins(2);

/// A bounce that says nothing of where it comes from.
fn mail(raw: &str) -> AuthMail {
    AuthMail {
        raw: raw.to_owned().into(),
        sender: String::new(),
        client_ip: None,
        helo: None,
        // After the signatures of the mails that are stored.
        now: Time::from_millis(1_800_000_000_000),
    }
}

fn text(name: &str, value: &str) -> DnsRecord {
    DnsRecord { name: name.to_owned(), kind: DnsRecordType::Txt, value: value.to_owned() }
}

static AUTHENTICATOR: LazyLock<MailAuthenticator> =
    LazyLock::new(|| MailAuthenticator::new(Dns::system()));

async fn authenticate(mail: AuthMail, zone: DnsZone) -> AuthReport {
    AUTHENTICATOR.authenticate(mail, AuthDns::Zone(zone), DEADLINE).await.unwrap()
}
