//! DNS of inboxes, which their messages are checked by before anything is published.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use trapline_model::{DnsRecord, DnsRecordType, DnsZone, InboxId, Principal};
use trapline_store::{Op, When, load, records::InboxDnsZone};

use super::Checks;
use crate::{
    Error, Issue, Result,
    audit::{AuditAction, Target},
};

/// Bytes of names and values of all records of a zone.
const ZONE_BYTES: usize = 64 << 10;
/// The longest name, and the longest label of one (RFC 1035, section 2.3.4).
const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

impl Checks {
    /// An inbox's zone; an empty one where none was set.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and when the store does not answer.
    pub async fn zone(&self, by: &Principal, inbox: InboxId) -> Result<DnsZone> {
        self.inboxes.record(by.team, inbox).await?;
        Ok(self.zone_of(inbox).await?.unwrap_or_default())
    }

    pub(super) async fn zone_of(&self, inbox: InboxId) -> Result<Option<DnsZone>> {
        let found = load::<InboxDnsZone>(&*self.store, &InboxDnsZone::row(inbox)).await?;
        Ok(found.map(|(record, _)| record.zone))
    }

    /// Replaces an inbox's zone.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, [`Error::Invalid`] for what DNS would not take, and
    /// when the store does not answer.
    pub async fn set_zone(&self, by: &Principal, inbox: InboxId, zone: DnsZone) -> Result<DnsZone> {
        let target = Target::inbox(&self.inboxes.record(by.team, inbox).await?);
        check(&zone)?;
        let record = InboxDnsZone { inbox, zone };
        self.audit.put(by, AuditAction::DnsZoneUpdated, target, &record, When::Always).await?;
        Ok(record.zone)
    }

    /// Removes an inbox's zone.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when the team has no such inbox, and when the store does not answer.
    pub async fn remove_zone(&self, by: &Principal, inbox: InboxId) -> Result<()> {
        let target = Target::inbox(&self.inboxes.record(by.team, inbox).await?);
        let entry = self.audit.entry(by, AuditAction::DnsZoneUpdated, target).await;
        let removal = Op::Delete { key: InboxDnsZone::row(inbox), when: When::Always };
        Ok(self.audit.write(&entry, vec![removal]).await?)
    }
}

fn check(zone: &DnsZone) -> Result<()> {
    let bytes = zone.records.iter().map(|record| record.name.len() + record.value.len());
    if bytes.sum::<usize>() > ZONE_BYTES {
        return Err(Error::invalid("records", "too_large", "may have 64 KiB in all"));
    }
    let mut issues = Vec::new();
    for (index, record) in zone.records.iter().enumerate() {
        if let Err((field, message)) = check_record(record) {
            let path = format!("records[{index}].{field}");
            issues.push(Issue { path, code: "bad_record", message: message.to_owned() });
        }
    }
    if zone.client_ip.as_deref().is_some_and(|ip| ip.parse::<IpAddr>().is_err()) {
        let message = "must be an IP address".to_owned();
        issues.push(Issue { path: "clientIp".to_owned(), code: "bad_address", message });
    }
    if zone.helo.as_deref().is_some_and(|name| !is_name(name)) {
        let message = "must be a host name".to_owned();
        issues.push(Issue { path: "helo".to_owned(), code: "bad_name", message });
    }
    if issues.is_empty() { Ok(()) } else { Err(Error::Invalid(issues)) }
}

fn check_record(record: &DnsRecord) -> Result<(), (&'static str, &'static str)> {
    if !is_name(&record.name) {
        return Err(("name", "must be a name of ASCII labels, of at most 253 characters"));
    }
    let value = record.value.as_str();
    let (holds, message) = match record.kind {
        DnsRecordType::Txt => (true, ""),
        DnsRecordType::A => (value.parse::<Ipv4Addr>().is_ok(), "must be an IPv4 address"),
        DnsRecordType::Aaaa => (value.parse::<Ipv6Addr>().is_ok(), "must be an IPv6 address"),
        DnsRecordType::Mx => (is_mx(value), "must be a preference and a name"),
        DnsRecordType::Ptr | DnsRecordType::Cname => (is_name(value), "must be a name"),
    };
    if holds { Ok(()) } else { Err(("value", message)) }
}

fn is_mx(value: &str) -> bool {
    let parts = value.split_once(' ');
    // The name of a null MX is the root (RFC 7505).
    parts.is_some_and(|(preference, name)| {
        preference.parse::<u16>().is_ok() && (name == "." || is_name(name))
    })
}

pub(super) fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=LABEL_BYTES).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_graphic())
    };
    name.len() <= NAME_BYTES && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, kind: DnsRecordType, value: &str) -> DnsRecord {
        DnsRecord { name: name.to_owned(), kind, value: value.to_owned() }
    }

    #[test]
    fn each_kind_of_record_has_its_values() {
        for (kind, good, bad) in [
            (DnsRecordType::A, "192.0.2.1", "2001:db8::1"),
            (DnsRecordType::Aaaa, "2001:db8::1", "192.0.2.1"),
            (DnsRecordType::Mx, "10 mail.example.com", "mail.example.com"),
            (DnsRecordType::Mx, "0 .", "70000 mail.example.com"),
            (DnsRecordType::Ptr, "mail.example.com.", ""),
            (DnsRecordType::Cname, "a.example.com", "a..example.com"),
        ] {
            assert_eq!(check_record(&record("a.example.com", kind, good)), Ok(()), "{good}");
            assert!(check_record(&record("a.example.com", kind, bad)).is_err(), "{bad}");
        }
        let long = "a".repeat(64);
        for name in ["", ".", "a b.example", "é.example", &long] {
            assert!(check_record(&record(name, DnsRecordType::Txt, "")).is_err(), "{name}");
        }
    }

    #[test]
    fn a_zone_has_64_kib_and_says_all_that_is_wrong() {
        let large = record("a.example", DnsRecordType::Txt, &"x".repeat(4_000));
        let zone = DnsZone { records: vec![large; 17], ..DnsZone::default() };
        assert!(
            matches!(check(&zone), Err(Error::Invalid(issues)) if issues[0].code == "too_large")
        );
        let zone = DnsZone {
            records: vec![record("a.example", DnsRecordType::A, "b")],
            client_ip: Some("c".to_owned()),
            helo: Some("d e".to_owned()),
        };
        let Err(Error::Invalid(issues)) = check(&zone) else { panic!("a zone was taken") };
        let paths: Vec<_> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(paths, ["records[0].value", "clientIp", "helo"]);
    }
}
