//! The certificate that SAML clients know a key by.

use jiff::{Timestamp, tz::TimeZone};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};
use trapline_model::Time;

use crate::{Error, Result};

/// Characters of a common name at most (X.520, `ub-common-name`).
const MAX_NAME: usize = 64;
/// Years that a certificate holds: longer than any test.
const YEARS: i16 = 10;

/// A self-signed certificate in PEM for a private key in PKCS #8.
pub(in crate::idps) fn self_signed(private: &[u8], slug: &str, now: Time) -> Result<String> {
    let today = Timestamp::from_millisecond(now.millis()).map_err(|_| Error::Crypto)?;
    let today = TimeZone::UTC.to_datetime(today);
    let month = u8::try_from(today.month()).map_err(|_| Error::Crypto)?;
    // Every month has 28 days.
    let day = u8::try_from(today.day()).map_err(|_| Error::Crypto)?.min(28);
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    let common_name: String = format!("Trapline {slug}").chars().take(MAX_NAME).collect();
    name.push(DnType::CommonName, common_name);
    params.distinguished_name = name;
    params.not_before = date_time_ymd(today.year().into(), month, day);
    params.not_after = date_time_ymd((today.year() + YEARS).into(), month, day);
    let pair = KeyPair::try_from(private).map_err(|_| Error::Crypto)?;
    Ok(params.self_signed(&pair).map_err(|_| Error::Crypto)?.pem())
}
